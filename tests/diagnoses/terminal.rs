//! What a terminal shows: a few jobs of each cause.

use super::fleet::{At, at, put};
use crate::support::cli::Doctor;
use crate::support::pty::{On, OnTerminal, plain};
use crate::support::shop::{Shop, on_both};

/// What stands on a terminal of that size, without colours.
#[track_caller]
pub fn shown(doctor: &Doctor, arguments: &[&str], size: (u16, u16)) -> Vec<String> {
    let (_, written) = OnTerminal::start(doctor, arguments, size, On::Both).end();
    written.replace('\r', "").lines().map(plain).collect()
}

/// One dead host of 60 jobs, of which three are on their last attempt.
fn one_host(queue: &Shop) {
    let host = "billing-worker-7f9c5d6b8-x2x4z";
    let jobs = (0..60).map(|n| {
        let (of, kind) = [("mail", "SendInvoice"), ("media", "ResizeVideo"), ("reports", "Statement")][n % 3];
        at(of, kind, &format!("{host}:{}", 4100 + n % 4), 11_130, 7830)
    });
    put(queue, &jobs.collect::<Vec<_>>());
    put(queue, &[at("mail", "SendInvoice", "alive:1", 30, 2)]);
    queue.sql("UPDATE jobs SET attempts = 4, max_attempts = 5 WHERE id IN (20, 40, 60)");
}

#[test]
fn a_dead_host_of_sixty_jobs_fits_a_screen() {
    on_both(|queue| {
        one_host(queue);
        for command in ["stale", "reclaim"] {
            let lines = shown(&queue.doctor, &queue.with_db(&[command]), (80, 24));
            assert!(
                lines.len() < 24 && lines[0].starts_with("host billing-worker-7f9c5d6b8-x2x4z vanished 2h 10m ago")
            );
            // Where the first line breaks depends on whether its clock says the day.
            let text = lines.join("\n").replace("\n    ", " ");
            assert!(
                text.contains("jobs (mail 20, media 20, reports 20); no heartbeat, allowed 5m\nID  QUEUE "),
                "{text}"
            );
            let rows: Vec<&String> = lines.iter().filter(|line| line.contains(":410")).collect();
            // Those that fail come first, in full; the host stands in the line above.
            assert!(rows[..3].iter().all(|row| row.contains("4/5  fail")), "{text}");
            assert!(rows[3..].iter().all(|row| row.contains("requeue") && !row.contains("billing")), "{text}");
            assert_eq!(rows.len(), 6, "{text}");
            assert!(lines.contains(&"54 more, requeue".to_owned()), "{text}");
        }
    });
}

/// A pipe, a limit, an order and the wide table show every job.
#[test]
fn all_rows_are_elsewhere() {
    on_both(|queue| {
        one_host(queue);
        let rows = |lines: &[String]| lines.iter().filter(|line| line.contains(":410")).count();
        for words in [&["stale"][..], &["reclaim"], &["stale", "-o", "wide"], &["reclaim", "-o", "wide"]] {
            let piped = queue.run(words).exits(0).stdout;
            assert_eq!(rows(&piped.lines().map(str::to_owned).collect::<Vec<_>>()), 60, "{words:?}: {piped}");
        }
        for (words, most) in [
            (&["stale", "-o", "wide"][..], 60),
            (&["stale", "--limit", "7"], 7),
            (&["reclaim", "--limit", "7"], 7),
            (&["stale", "--sort", "id"], 60),
        ] {
            let lines = shown(&queue.doctor, &queue.with_db(words), (120, 24));
            assert_eq!(rows(&lines), most, "{words:?}: {lines:#?}");
        }
    });
}

/// What some job of a cause has otherwise is not said of all.
#[test]
fn only_what_all_have_stands_in_the_line() {
    on_both(|queue| {
        let late = At { deadline: Some(4230), ..at("web", "A", "web1:2", 11_130, 7830) };
        let dead = |n: i64| at("web", "A", "web1:1", 11_130 + n, 7830 + n);
        put(queue, &(0..30).map(dead).chain([late]).collect::<Vec<_>>());
        put(queue, &[at("web", "A", "web2:1", 30, 2)]);
        let lines = shown(&queue.doctor, &queue.with_db(&["stale"]), (100, 24));
        assert!(lines[0].contains("31 jobs of kind A; queue web") && !lines[0].contains("heartbeat"), "{lines:#?}");
        // The odd one comes with the examples.
        assert!(lines.iter().any(|line| line.contains("deadline passed 1h 10m ago")), "{lines:#?}");
        assert!(lines.contains(&"27 more, requeue".to_owned()), "{lines:#?}");
        // What the examples have in common may be otherwise in the other rows.
        let hung = |n: i64| {
            let (beat, late) = if n < 10 { (5, 4230) } else { (2, 9000) };
            At { deadline: Some(late), ..at("media", "B", "web3:1", 11_130, beat) }
        };
        put(queue, &(0..30).map(hung).collect::<Vec<_>>());
        let lines = shown(&queue.doctor, &queue.with_db(&["stale"]), (120, 40));
        let rows =
            lines.iter().filter(|line| line.contains("skip ") && line.contains("deadline passed 1h 10m ago")).count();
        assert_eq!(rows, 3, "{lines:#?}");
    });
}

#[test]
fn a_result_begins_with_what_was_not_moved() {
    let queue = Shop::empty_on_postgres();
    one_host(&queue);
    let mut client = queue.client();
    let mut held = client.transaction().unwrap();
    held.execute("SELECT id FROM jobs WHERE id IN (5, 6) FOR UPDATE", &[]).unwrap();
    let apply = ["reclaim", "--apply", "--max-jobs", "60"];
    let lines = shown(&queue.doctor, &queue.with_db(&apply), (80, 24));
    assert_eq!(lines[0], "Not moved:", "{lines:#?}");
    let ids: Vec<&str> = lines[2..4].iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!((ids, lines[4].as_str()), (vec!["5", "6"], ""), "{lines:#?}");
    let text = lines.join("\n").replace("\n    ", " ");
    assert!(text.contains("x2x4z vanished: requeued 55, failed 3, not moved 2"), "{text}");
    assert!(text.contains("requeued 55 jobs, failed 3 jobs, 2 locked by another session"), "{text}");
    assert!(text.contains("warning: locked: 5, 6 by pid "), "{text}");
    drop(held);
    // The record names the cause and begins with the same two.
    let run = queue.json(&["history"], 0)["runs"][0].clone();
    assert_eq!((&run["causes"][0]["diagnosis"], &run["causes"][0]["jobs"]), (&"vanished".into(), &60.into()));
    let one = queue.run(&["history", run["run_id"].as_str().unwrap()]).exits(0).stdout;
    assert!(one.contains("moved:        58 of 60: requeued 55, failed 3\ncauses:       host billing-worker"), "{one}");
    let rows: Vec<&str> = one.lines().skip_while(|line| !line.starts_with("ID ")).skip(1).take(2).collect();
    assert!(rows[0].starts_with("5 ") && rows[1].starts_with("6 "), "{one}");
}

/// A text from the database is no line of its own, under a cause neither.
#[test]
fn text_from_the_database_stays_in_its_row() {
    let queue = Shop::empty_on_sqlite();
    let owner = "we\u{1b}[2Jb1\nhost FAKE vanished:1";
    put(&queue, &[at("mail", "A\n\u{1b}]0;x\u{7}", owner, 11_130, 7830), at("we\u{202e}b", "A", owner, 11_130, 7830)]);
    let (_, written) = OnTerminal::start(&queue.doctor, &queue.with_db(&["stale"]), (80, 24), On::Both).end();
    let text = written.replace("\r\n", "\n");
    let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    let lines: Vec<String> = text.lines().map(plain).collect();
    assert!(!lines.concat().contains(acts) && !text.contains("\u{1b}[2J"), "{text:?}");
    assert!(!lines.iter().any(|line| line.starts_with("host FAKE")), "{text}");
}
