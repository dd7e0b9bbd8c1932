//! What is counted, and when the watching ends.

use super::queue::{Queue, both, on_postgres};
use crate::support::cli::is_valid;
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

fn counts(document: &Value) -> Vec<(&str, u64)> {
    let verified = document["verified"].as_object().unwrap();
    let names = ["waiting", "picked_up", "not_in_flight", "finished", "failed", "stuck_again", "gone"];
    let counts = names.map(|name| (name, verified[name].as_u64().unwrap()));
    assert_eq!(counts.iter().map(|(_, n)| n).sum::<u64>(), verified["watched"].as_u64().unwrap(), "{verified:?}");
    counts.into_iter().filter(|(_, n)| *n > 0).collect()
}

#[test]
fn each_end_is_told() {
    for queue in both(7) {
        let running = queue.doctor.start(&["reclaim", "--db", &queue.db, "--apply", "--verify", "4s", "--json"]);
        queue.until_queued(7);
        queue.claim(1, 600);
        queue.end(1, "SUCCEEDED");
        queue.end(2, "FAILED");
        queue.end(3, "CANCELLED");
        queue.claim(4, 600);
        queue.claim(5, -3000);
        queue.run("DELETE FROM jobs WHERE id = 6");
        let ran = running.wait().exits(3);
        let document = ran.json();
        is_valid("reclaim", &document);
        assert_eq!(
            counts(&document),
            [("waiting", 1), ("picked_up", 1), ("finished", 1), ("failed", 2), ("stuck_again", 1), ("gone", 1)]
        );
        assert_eq!(document["verified"]["stuck_again_ids"], serde_json::json!(["5"]));
        assert!(document["verified"]["waited_seconds"].as_f64().unwrap() >= 4.0, "{document}");
        assert_eq!(document["summary"]["outcomes"]["moved"], 7);
        assert!(ran.stderr.contains("warning: stuck again: 5; "), "{}", ran.stderr);
    }
}

#[test]
fn when_all_have_ended_there_is_nothing_to_wait_for() {
    for queue in both(3) {
        let begun = Instant::now();
        let running = queue.doctor.start(&["sweep", "--db", &queue.db, "--apply", "--verify", "5m"]);
        queue.until_queued(3);
        (1..=2).for_each(|id| queue.end(id, "SUCCEEDED"));
        queue.run("DELETE FROM jobs WHERE id = 3");
        let ran = running.wait().exits(0);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        assert!(ran.stderr.contains("of 3 requeued, after ") && ran.stderr.contains("2 finished, 1 gone"), "{ran:#?}");
        assert!(!ran.stderr.contains("watching"), "redrawn on terminals only: {ran:#?}");
        assert!(ran.stdout.contains("moved"), "{ran:#?}");
    }
}

/// A dead worker's job that is claimed by another one: in flight, and not stuck.
#[test]
fn a_new_claim_is_no_old_one() {
    for queue in both(1) {
        let running = queue.doctor.start(&["reclaim", "--db", &queue.db, "--apply", "--verify", "1s", "--json"]);
        queue.until_queued(1);
        queue.claim(1, 600);
        let document = running.wait().exits(0).json();
        assert_eq!(counts(&document), [("picked_up", 1)]);
    }
}

/// What was failed or cancelled has nowhere to go.
#[test]
fn only_what_was_requeued_is_watched() {
    for queue in both(2) {
        let arguments = ["reclaim", "--db", &queue.db, "--apply", "--to", "fail", "--verify", "5m", "--json"];
        let document = queue.doctor.run(&arguments).exits(0).json();
        assert_eq!(
            (&document["verified"]["watched"], &document["summary"]["outcomes"]["moved"]),
            (&0.into(), &2.into())
        );
    }
}

#[test]
fn a_job_that_was_not_moved_is_not_watched() {
    let queue = on_postgres(2);
    queue.run("CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
    let arguments = ["reclaim", "--db", &queue.db, "--apply", "--verify", "1s", "--json"];
    let document = queue.doctor.run(&arguments).exits(3).json();
    assert_eq!(counts(&document), [("waiting", 1)]);
    assert_eq!(document["summary"]["outcomes"]["refused"], 1);
}

#[test]
fn a_signal_ends_it_at_once_and_what_was_moved_is_told() {
    for queue in both(2) {
        let running = queue.doctor.start(&["reclaim", "--db", &queue.db, "--apply", "--verify", "10m", "--json"]);
        queue.until_queued(2);
        let begun = Instant::now();
        running.signal(Signal::INT);
        let ran = running.wait();
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
        assert_eq!(ran.signal, Some(2), "{ran:#?}");
        let document = ran.json();
        is_valid("reclaim", &document);
        // The signal may have come before the answer of the commit was heard; not before the commit.
        assert_eq!(document["summary"]["outcomes"]["moved"], 2);
        assert_eq!(document["verified"]["watched"], 2);
    }
}

/// The database goes away while the jobs are watched: what was written is told, and that nobody could look.
#[test]
fn a_database_that_goes_away_is_no_answer() {
    let queue = super::queue::on_sqlite(1);
    let running = queue.doctor.start(&["reclaim", "--db", &queue.db, "--apply", "--verify", "2s", "--json"]);
    queue.until_queued(1);
    std::fs::remove_file(queue.doctor.path("queue.db")).unwrap();
    let ran = running.wait().exits(66);
    let document = ran.json();
    is_valid("reclaim", &document);
    assert_eq!((&document["verified"], &document["summary"]["outcomes"]["moved"]), (&Value::Null, &1.into()));
    assert!(ran.stderr.contains("could not be watched to the end"), "{}", ran.stderr);
}

/// A snapshot that fails on the way is made again.
#[test]
fn a_look_that_fails_in_between_is_no_end() {
    let queue = super::queue::on_sqlite(1);
    let running = queue.doctor.start(&["reclaim", "--db", &queue.db, "--apply", "--verify", "1m", "--json"]);
    queue.until_queued(1);
    let (there, away) = (queue.doctor.path("queue.db"), queue.doctor.path("away.db"));
    std::fs::rename(&there, &away).unwrap();
    std::thread::sleep(Duration::from_millis(800));
    std::fs::rename(&away, &there).unwrap();
    queue.end(1, "SUCCEEDED");
    assert_eq!(counts(&running.wait().exits(0).json()), [("finished", 1)]);
}

#[test]
fn many_jobs_are_looked_up_in_parts() {
    let queue = on_postgres(0);
    queue.run(
        "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
        SELECT n, 'mail', 'Send', 'RUNNING', 'web1', now() - interval '2h', now() - interval '1h'
        FROM generate_series(1, 2500) AS n",
    );
    let running = queue.doctor.start(&[
        "reclaim",
        "--db",
        &queue.db,
        "--max-jobs",
        "2500",
        "--apply",
        "--verify",
        "5m",
        "--json",
    ]);
    queue.until_queued(2500);
    queue.run("UPDATE jobs SET status = 'SUCCEEDED' WHERE id > 3; UPDATE jobs SET status = 'FAILED' WHERE id <= 3");
    assert_eq!(counts(&running.wait().exits(0).json()), [("finished", 2497), ("failed", 3)]);
}

/// On a terminal one line is drawn again and again, and gone at the end.
#[test]
fn a_terminal_sees_it_move() {
    let queue: Queue = super::queue::on_sqlite(1);
    let python = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let command =
        queue.doctor.command(&["reclaim", "--db", &queue.db, "--apply", "--verify", "1s", "--color", "never"]);
    let ran = std::process::Command::new("python3")
        .args(["-c", python])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(queue.doctor.path(""))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(said.contains("\r\u{1b}[2Kwatching: of 1 requeued, after 0s: 1 still waiting"), "{said:?}");
    assert!(said.contains("\r\u{1b}[2Kof 1 requeued, after 1s: 1 still waiting"), "{said:?}");
}
