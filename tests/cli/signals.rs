//! 130 and 143: ended by a signal. The process dies of it, what was committed stays, and what was done is said.

use super::scene::{incident, orphans};
use crate::support::cli::{Doctor, Ran, is_valid, rows, until};
use rustix::process::Signal;
use serde_json::Value;

/// A mapping that takes for ever to read.
pub const SLOW_MAPPING: &str = r#"[mapping.slow]
states   = { waiting = ["QUEUED"], in_flight = ["RUNNING"] }
time     = { default = "epoch s" }
attempts = { counted = "not in the table" }
[mapping.slow.claim]
table    = "jobs"
key      = "id"
state    = "status"
where    = """(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)
    SELECT max(i) FROM n) > j.id"""
liveness = [{ by = "age", column = "claimed_at", silent_after = "1h" }]
[mapping.slow.action]
requeue = { to = "QUEUED" }
"#;

const MANY: u32 = 5_000;

/// Sends the signal after the first batch; makes sure of what is left behind; gives back how many jobs were moved.
fn interrupted(signal: Signal, format: &str) -> (Doctor, Ran, u64) {
    // Once in a while the machine turns to us only when everything is done.
    for _ in 0..5 {
        let doctor = orphans(MANY);
        let watch = doctor.connect("queue.db");
        let count = |query| rows(&watch, query)[0].parse::<u64>().unwrap();
        let running = doctor.start(&["reclaim", "--db", "queue.db", "--max-jobs", "20000", "--apply", "-o", format]);
        until("there is a first batch", || count("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'QUEUED')") == 1);
        running.signal(signal);
        let ran = running.wait();
        let moved = count("SELECT count(*) FROM jobs WHERE status = 'QUEUED'");
        if moved == u64::from(MANY) {
            continue;
        }
        // Each moved one has one attempt more, each other one is as it was.
        let states = rows(&watch, "SELECT DISTINCT status, attempts, owner_id IS NULL FROM jobs ORDER BY 1");
        assert_eq!(states, ["QUEUED 1 1", "RUNNING 0 0"]);
        assert_eq!(rows(&watch, "PRAGMA integrity_check"), ["ok"]);
        return (doctor, ran, moved);
    }
    panic!("never in the middle of it");
}

#[test]
fn interrupt_while_applying() {
    let (doctor, ran, moved) = interrupted(Signal::INT, "table");
    assert_eq!(ran.signal, Some(2), "{}", ran.stderr);
    let grouped = jobdoctor::output::format::grouped;
    assert!(ran.stderr.contains(&format!("requeued {} jobs", grouped(moved))), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{} not tried", grouped(u64::from(MANY) - moved))), "{}", ran.stderr);
    assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
    // The rest is still there for the next run.
    doctor.run(&["reclaim", "--db", "queue.db", "--max-jobs", "20000", "--apply", "--fast", "-o", "none"]).exits(0);
    assert_eq!(doctor.rows("queue.db", "SELECT DISTINCT status, attempts FROM jobs"), ["QUEUED 1"]);
}

#[test]
fn terminate_while_applying() {
    let (_doctor, ran, moved) = interrupted(Signal::TERM, "json");
    assert_eq!(ran.signal, Some(15), "it dies of the signal it was sent: {}", ran.stderr);
    let document = ran.json();
    is_valid("reclaim", &document);
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!(outcomes["moved"], moved);
    assert_eq!(outcomes["not_tried"], u64::from(MANY) - moved);
    let steps = document["steps"].as_array().unwrap();
    assert_eq!(steps.iter().filter(|step| step["outcome"] == "moved").count() as u64, moved);
    assert_eq!(steps.len() as u64, u64::from(MANY));
}

/// While it is reading, however the file is kept.
#[test]
fn while_looking() {
    for (journal, format) in [("delete", "json"), ("wal", "table")] {
        let doctor = incident();
        std::fs::write(doctor.path("config.toml"), SLOW_MAPPING).unwrap();
        doctor.sql("queue.db", &format!("PRAGMA journal_mode = {journal}"));
        let place = ["--db", "queue.db", "--config", "config.toml", "--preset", "slow", "--timeout", "10s"];
        for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
            let running = doctor.start(&[&["reclaim", "--apply", "-o", format], &place[..]].concat());
            until("it reads", || running.has_open(&doctor.path("queue.db")));
            running.signal(signal);
            let ran = running.wait();
            assert_eq!((ran.signal, ran.stdout.as_str()), (Some(number), ""), "{journal}: {ran:#?}");
            match journal {
                "wal" => assert!(ran.stderr.contains("interrupted; nothing was written"), "{ran:#?}"),
                _ => {
                    let document: Value = serde_json::from_str(&ran.stderr).unwrap();
                    is_valid("error", &document);
                    assert_eq!(document["code"], 128 + number);
                }
            }
        }
    }
}

/// While it waits for somebody else's lock, which it does for five seconds at most.
#[test]
fn while_waiting_for_the_write_lock() {
    let doctor = incident();
    let holder = doctor.connect("queue.db");
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let running = doctor.start(&["reclaim", "--db", "queue.db", "--apply", "--timeout", "1m"]);
    until("it reads", || running.has_open(&doctor.path("queue.db")));
    std::thread::sleep(std::time::Duration::from_millis(200));
    running.signal(Signal::TERM);
    let ran = running.wait();
    assert_eq!((ran.signal, ran.stdout.as_str()), (Some(15), ""), "{ran:#?}");
}
