//! 130 and 143: ended by a signal. The process dies of it, what was committed stays, and what was done is said.

use super::scene::{incident, orphans};
use crate::support::cli::{is_valid, rows, until};
use rustix::process::Signal;
use serde_json::Value;

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

#[test]
fn interrupt_while_applying() {
    let words = ["reclaim", "--db", "queue.db", "--max-jobs", "20000", "--apply"];
    // Once in a while the machine turns to us only when everything is done.
    for _ in 0..5 {
        let doctor = orphans(MANY);
        let watch = doctor.connect("queue.db");
        let count = |query| rows(&watch, query)[0].parse::<u64>().unwrap();
        let running = doctor.start(&words);
        until("there is a first batch", || count("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'QUEUED')") == 1);
        running.signal(Signal::INT);
        let ran = running.wait();
        let moved = count("SELECT count(*) FROM jobs WHERE status = 'QUEUED'");
        if moved == u64::from(MANY) {
            continue;
        }
        // Each moved one has one attempt more, each other one is as it was.
        let states = rows(&watch, "SELECT DISTINCT status, attempts, owner_id IS NULL FROM jobs ORDER BY 1");
        assert_eq!(states, ["QUEUED 1 1", "RUNNING 0 0"]);
        assert_eq!(ran.signal, Some(2), "it dies of the signal it was sent: {ran:#?}");
        let [done, left] = [moved, u64::from(MANY) - moved].map(jobdoctor::output::format::grouped);
        ran.says(&format!("requeued {done} jobs")).says(&format!("{left} not tried")).says("interrupted");
        // The rest is still there for the next run.
        doctor.run(&[&words[..], &["--fast", "-o", "none"]].concat()).exits(0);
        assert_eq!(doctor.rows("SELECT DISTINCT status, attempts FROM jobs"), ["QUEUED 1"]);
        return;
    }
    panic!("never in the middle of it");
}

/// While it is reading, however the file is kept.
#[test]
fn while_looking() {
    for (journal, format) in [("delete", "json"), ("wal", "table")] {
        let doctor = incident();
        std::fs::write(doctor.path("config.toml"), SLOW_MAPPING).unwrap();
        doctor.sql(&format!("PRAGMA journal_mode = {journal}"));
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
