//! What is counted, and when the watching ends.

use crate::support::cli::{Running, until};
use crate::support::pty::{On, OnTerminal};
use crate::support::shop::{Shop, on_both};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Starts a reclaim of so many dead jobs that watches them for that long, and comes back once they wait again.
fn watching(shop: &Shop, jobs: u32, verify: &str) -> Running {
    shop.in_flight(1, jobs, "'web1:' || n", 6000);
    let words = ["reclaim", "--max-jobs", "2500", "--apply", "--verify", verify, "--json"];
    let running = shop.doctor.start(&shop.with_db(&words));
    let queued = "SELECT count(*) FROM jobs WHERE status = 'QUEUED'";
    until("the jobs are back", || shop.rows(queued) == [jobs.to_string()]);
    running
}

/// A worker takes a job, with a lease that runs out in so many seconds.
fn claim(shop: &Shop, id: u32, seconds: i64) {
    shop.sql(&format!(
        "UPDATE jobs SET status = 'RUNNING', owner_id = 'web2:{id}', lease_token = 'new', claimed_at = {{ago {}}},
            lease_expires_at = {{ago {}}} WHERE id = {id} AND status = 'QUEUED'",
        if seconds < 0 { -2 * seconds } else { 0 },
        -seconds
    ));
}

/// A job comes to a state and is let go.
fn end(shop: &Shop, id: u32, status: &str) {
    shop.sql(&format!(
        "UPDATE jobs SET status = '{status}', owner_id = NULL, lease_token = NULL, lease_expires_at = NULL WHERE id = {id}"
    ));
}

fn counts(document: &Value) -> Vec<(&str, u64)> {
    let verified = document["verified"].as_object().unwrap();
    let names = ["waiting", "picked_up", "not_in_flight", "finished", "failed", "stuck_again", "gone"];
    let counts = names.map(|name| (name, verified[name].as_u64().unwrap()));
    assert_eq!(counts.iter().map(|(_, n)| n).sum::<u64>(), verified["watched"].as_u64().unwrap(), "{verified:?}");
    counts.into_iter().filter(|(_, n)| *n > 0).collect()
}

#[test]
fn each_end_is_told() {
    on_both(|shop| {
        let running = watching(shop, 7, "4s");
        claim(shop, 1, 600);
        end(shop, 1, "SUCCEEDED");
        end(shop, 2, "FAILED");
        end(shop, 3, "CANCELLED");
        claim(shop, 4, 600);
        claim(shop, 5, -3000);
        shop.sql("DELETE FROM jobs WHERE id = 6");
        let ran = running.wait().exits(3);
        let document = ran.document("reclaim");
        assert_eq!(
            counts(&document),
            [("waiting", 1), ("picked_up", 1), ("finished", 1), ("failed", 2), ("stuck_again", 1), ("gone", 1)]
        );
        assert_eq!(document["verified"]["stuck_again_ids"], serde_json::json!(["5"]));
        assert!(document["verified"]["waited_seconds"].as_f64().unwrap() >= 4.0, "{document}");
        assert_eq!(document["summary"]["outcomes"]["moved"], 7);
        ran.says("warning: stuck again: 5; ");
    });
}

#[test]
fn when_all_have_ended_there_is_nothing_to_wait_for() {
    on_both(|shop| {
        let begun = Instant::now();
        let running = watching(shop, 3, "5m");
        (1..=2).for_each(|id| end(shop, id, "SUCCEEDED"));
        shop.sql("DELETE FROM jobs WHERE id = 3");
        let ran = running.wait().exits(0);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        ran.says("of 3 requeued, after ").says("2 finished, 1 gone");
        assert!(!ran.stderr.contains("watching"), "redrawn on terminals only: {ran:#?}");
    });
}

/// What was failed or cancelled has nowhere to go, and what was refused has not gone.
#[test]
fn only_what_was_requeued_is_watched() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:1'", 6000);
        let words = ["reclaim", "--apply", "--to", "fail", "--verify", "5m", "--json"];
        let document = shop.run(&words).exits(0).json();
        assert_eq!(json!([document["verified"]["watched"], document["summary"]["outcomes"]["moved"]]), json!([0, 2]));
        shop.in_flight(11, 12, "'web1:1'", 6000);
        shop.sql("CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
        let document = shop.run(&["reclaim", "--apply", "--verify", "1s", "--json"]).exits(3).json();
        assert_eq!((counts(&document), &document["summary"]["outcomes"]["refused"]), (vec![("waiting", 1)], &1.into()));
    });
}

#[test]
fn a_signal_ends_it_at_once_and_what_was_moved_is_told() {
    on_both(|shop| {
        let running = watching(shop, 2, "10m");
        let begun = Instant::now();
        running.signal(Signal::INT);
        let ran = running.wait();
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
        assert_eq!(ran.signal, Some(2), "{ran:#?}");
        let document = ran.document("reclaim");
        // The signal may have come before the answer of the commit was heard; not before the commit.
        assert_eq!(document["summary"]["outcomes"]["moved"], 2);
        assert_eq!(document["verified"]["watched"], 2);
    });
}

/// The database goes away while the jobs are watched: what was written is told, and that nobody could look.
#[test]
fn a_database_that_goes_away_is_no_answer() {
    let shop = Shop::empty_on_sqlite();
    let running = watching(&shop, 1, "2s");
    std::fs::remove_file(shop.doctor.path("queue.db")).unwrap();
    let ran = running.wait().exits(66);
    let document = ran.document("reclaim");
    assert_eq!((&document["verified"], &document["summary"]["outcomes"]["moved"]), (&Value::Null, &1.into()));
    ran.says("could not be watched to the end");
}

/// A snapshot that fails on the way is made again.
#[test]
fn a_look_that_fails_in_between_is_no_end() {
    let shop = Shop::empty_on_sqlite();
    let running = watching(&shop, 1, "1m");
    let (there, away) = (shop.doctor.path("queue.db"), shop.doctor.path("away.db"));
    std::fs::rename(&there, &away).unwrap();
    std::thread::sleep(Duration::from_millis(800));
    std::fs::rename(&away, &there).unwrap();
    end(&shop, 1, "SUCCEEDED");
    assert_eq!(counts(&running.wait().exits(0).json()), [("finished", 1)]);
}

#[test]
fn many_jobs_are_looked_up_in_parts() {
    let shop = Shop::empty_on_postgres();
    let running = watching(&shop, 2500, "5m");
    shop.sql("UPDATE jobs SET status = 'SUCCEEDED' WHERE id > 3; UPDATE jobs SET status = 'FAILED' WHERE id <= 3");
    assert_eq!(counts(&running.wait().exits(0).json()), [("finished", 2497), ("failed", 3)]);
}

/// On a terminal one line is drawn again and again, and gone at the end.
#[test]
fn a_terminal_sees_it_move() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 1, "'web1:1'", 6000);
    let words = ["reclaim", "--apply", "--verify", "1s", "--color", "never"];
    let (_, said) = OnTerminal::start(&shop.doctor, &shop.with_db(&words), (120, 40), On::Both).end();
    assert!(said.contains("\r\u{1b}[2Kwatching: of 1 requeued, after 0s: 1 still waiting"), "{said:?}");
    assert!(said.contains("\r\u{1b}[2Kof 1 requeued, after 1s: 1 still waiting"), "{said:?}");
}
