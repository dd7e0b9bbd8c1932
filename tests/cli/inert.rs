//! Text from a database is for reading, not for a terminal to act on. Machines get it exactly.

use super::scene::JOBS;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

const QUEUE: &str = "mail\u{1b}[2J\r\u{1b}]0;owned\u{7}";
const KIND: &str = "gpj.\u{202e}exe\u{200b}\nFAKE  ROW";
const OWNER: &str = "web1\u{9b}31m:1\u{85}\t\u{feff}";

fn hostile() -> Doctor {
    let doctor = Doctor::new();
    let connection = doctor.connect("queue.db");
    connection.execute_batch(JOBS).unwrap();
    let insert = "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
        VALUES (1, ?1, ?2, 'RUNNING', ?3, unixepoch() - 8130, unixepoch() - 7830)";
    connection.execute(insert, [QUEUE, KIND, OWNER]).unwrap();
    let insert = "INSERT INTO jobs (id, queue, status, owner_id, claimed_at, heartbeat_at)
        VALUES (2, ?1, 'RUNNING', ?2, unixepoch() - 8130, ?3)";
    connection.execute(insert, [QUEUE, OWNER, "late\u{1b}[31m"]).unwrap();
    doctor
}

fn acts(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && *c != '\n') || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
    })
}

#[test]
fn for_people() {
    let doctor = hostile();
    let mut seen = String::new();
    for arguments in [
        &["stale", "--db", "queue.db"][..],
        &["stale", "--db", "queue.db", "-o", "wide"],
        &["show", "1", "--db", "queue.db"],
        &["owners", "--db", "queue.db"],
        &["check", "--db", "queue.db"],
        &["reclaim", "--db", "queue.db"],
        &["sweep", "--restart", "--all-owners", "--db", "queue.db"],
    ] {
        let ran = doctor.run(arguments).exits(0);
        assert_eq!(acts(&ran.stdout).or(acts(&ran.stderr)), None, "{arguments:?}: {ran:#?}");
        assert!(!ran.stdout.lines().any(|line| line.starts_with("FAKE")), "{ran:#?}");
        seen.push_str(&format!("$ {}\n{}\n", arguments.join(" "), ran.whole()));
    }
    assert_snapshot!(seen);
}

#[test]
fn in_errors() {
    let doctor = hostile();
    // The states in use are listed when they are not known, and this one wants to clear the screen.
    doctor.connect("queue.db").execute("UPDATE jobs SET status = ?1 WHERE id = 2", ["\u{1b}[2Jgone"]).unwrap();
    let ran = fails(&doctor, &["stale", "--db", "queue.db"], 78);
    assert_eq!(acts(&ran.stderr), None, "{ran:#?}");
    let ran = fails(&doctor, &["show", "\u{1b}[31m", "--preset", "lease", "--db", "queue.db"], 66);
    assert_eq!(acts(&ran.stderr), None, "{ran:#?}");
    // A restart sweep that covers two hosts lists them.
    doctor
        .connect("queue.db")
        .execute("UPDATE jobs SET status = 'RUNNING', owner_id = ?1 WHERE id = 2", ["web1\u{1b}[2J"])
        .unwrap();
    let ran = fails(&doctor, &["sweep", "--restart", "--owner", "web1*", "--db", "queue.db"], 2);
    assert_eq!(acts(&ran.stderr), None, "{ran:#?}");
}

#[test]
fn in_the_words_of_the_database() {
    let doctor = hostile();
    let trigger = "CREATE TRIGGER no BEFORE UPDATE ON jobs BEGIN SELECT raise(ABORT, 'no' || char(27) || '[31m'); END";
    // SQLite wants a literal there before 3.47.
    if doctor.connect("queue.db").execute_batch(trigger).is_err() {
        let trigger = "CREATE TRIGGER no BEFORE UPDATE ON jobs BEGIN SELECT raise(ABORT, 'no\u{1b}[31m'); END";
        doctor.sql(trigger);
    }
    let ran = doctor.on_queue(&["reclaim", "--apply", "-o", "wide"]).exits(3);
    assert_eq!(acts(&ran.stdout).or(acts(&ran.stderr)), None, "{ran:#?}");
    ran.shows("no\\x1b[31m");
}

#[test]
fn for_machines() {
    let doctor = hostile();
    for format in ["json", "jsonl"] {
        let ran = doctor.on_queue(&["stale", "-o", format]).exits(0);
        // The escapes mean the same text, and a terminal that shows the JSON acts on none of it.
        assert!(acts(&ran.stdout).is_none() && ran.stdout.contains("\\u009b"), "{ran:#?}");
        let job: serde_json::Value = match format {
            "json" => ran.json()["jobs"][0].clone(),
            _ => {
                let job = ran.stdout.lines().find(|line| line.starts_with("{\"type\":\"job\"")).unwrap();
                serde_json::from_str(job).unwrap()
            }
        };
        assert_eq!(
            (job["queue"].as_str(), job["kind"].as_str(), job["owner"].as_str()),
            (Some(QUEUE), Some(KIND), Some(OWNER))
        );
    }
    let csv = doctor.on_queue(&["stale", "-o", "csv"]).exits(0).stdout;
    assert!(csv.contains(QUEUE) && csv.contains(KIND) && csv.contains(OWNER), "{csv:?}");
    let ran = doctor.run(&["stale", "--db", "gpj.\u{202e}\u{9b}exe", "-o", "json"]).exits(66);
    assert_eq!(acts(&ran.stderr), None, "{ran:#?}");
}
