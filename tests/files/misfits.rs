//! Columns that hold what they were not declared for, as SQLite lets them: told with the row, counted, never guessed at
//! and never acted on.

use crate::support::cli::{Doctor, is_valid};
use serde_json::Value;

/// Values that are no epoch seconds, and what each is called. The column makes integers of digits, so none is digits only.
const NO_SECONDS: [(&str, &str); 9] = [
    ("'soon'", "`soon` is text"),
    ("''", "`` is text"),
    ("'2026-11-20T10:00:00Z'", "`2026-11-20T10:00:00Z` is text"),
    ("unixepoch() - 9000.5", "is real"),
    ("1e300", "`1e300` is real"),
    ("9e999", "`inf` is real"),
    ("x'00ff'", "`00ff` is blob"),
    ("CAST(x'ff61' AS TEXT)", "`\u{fffd}a` is text that is not UTF-8"),
    ("'a' || char(0) || 'b'", "`a\0b` is text"),
];

/// A queue in which job 1 is dead, job 2 is alive, and the heartbeats of the others from 10 on are these.
fn queue(declared: &str, heartbeats: &[(&str, &str)]) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql(&format!(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT NOT NULL, owner_id TEXT, heartbeat_at {declared},
                attempts INTEGER NOT NULL DEFAULT 0);
             INSERT INTO jobs VALUES (1, 'RUNNING', 'w', unixepoch() - 9000, 0), (2, 'RUNNING', 'w', unixepoch(), 0);"
    ));
    for (n, (value, _)) in heartbeats.iter().enumerate() {
        doctor.sql(&format!("INSERT INTO jobs VALUES ({}, 'RUNNING', 'w', {value}, 0)", 10 + n));
    }
    doctor
}

fn others(doctor: &Doctor) -> Vec<String> {
    let image =
        "SELECT id, status, typeof(heartbeat_at), hex(heartbeat_at), attempts FROM jobs WHERE id <> 1 ORDER BY id";
    doctor.rows(image)
}

fn are_told(doctor: &Doctor, heartbeats: &[(&str, &str)]) {
    let run = |arguments: &[&str]| doctor.on_queue(arguments);
    let before = others(doctor);
    let stale = run(&["stale", "-o", "json"]).exits(0).json();
    is_valid("stale", &stale);
    let summary = &stale["summary"];
    assert_eq!(
        (&summary["stuck"], &summary["unknown"], &summary["in_flight"]),
        (&1.into(), &heartbeats.len().into(), &(heartbeats.len() + 2).into()),
        "{stale:#}"
    );
    let unknown = stale["unknown"].as_array().unwrap();
    for (n, (value, called)) in heartbeats.iter().enumerate() {
        let id = (10 + n).to_string();
        let job = unknown.iter().find(|job| job["id"] == id.as_str()).unwrap_or_else(|| panic!("{value}: {stale:#}"));
        let reasons = job["reasons"].to_string();
        let said: Vec<&str> =
            job["reasons"].as_array().unwrap().iter().filter_map(|why| why["detail"].as_str()).collect();
        assert!(said.iter().any(|said| said.contains("heartbeat_at") && said.contains(called)), "{value}: {reasons}");
        assert_eq!(
            (&job["verdict"], &job["action"], &job["last_seen_at"]),
            (&"unknown".into(), &Value::Null, &Value::Null)
        );
        let shown = run(&["show", &id, "-o", "json"]).exits(0).json();
        is_valid("show", &shown);
        assert_eq!(shown["jobs"][0]["verdict"], "unknown", "{value}");
    }
    let ran = run(&["stale"]).exits(0);
    assert!(ran.stdout.contains("Unknown, cannot be judged"), "{ran:#?}");
    assert!(ran.stderr.contains(&format!("1 job stuck, {} unknown", heartbeats.len())), "{ran:#?}");
    run(&["check"]).exits(0).shows(&format!("claims that cannot be judged: {}", heartbeats.len()));
    for apply in [&["reclaim", "--apply"][..], &["sweep", "--apply"], &["reclaim", "--apply", "--older", "1m"]] {
        let done = run(&[apply, &["-o", "json"]].concat()).exits(0).json();
        is_valid(apply[0], &done);
        assert_eq!(done["summary"]["skipped"], heartbeats.len(), "{done:#}");
        assert_eq!(others(doctor), before, "{apply:?}");
    }
    assert_eq!(doctor.rows("SELECT status FROM jobs WHERE id = 1"), ["QUEUED"]);
    // Not even when they are named.
    let done = run(&["reclaim", "--apply", "--id", "10", "--id", "11", "-o", "json"]).exits(0).json();
    assert_eq!(done["skipped"].as_array().map(Vec::len), Some(2), "{done:#}");
    assert_eq!(others(doctor), before);
}

#[test]
fn no_number_where_numbers_are_declared() {
    are_told(&queue("INTEGER", &NO_SECONDS), &NO_SECONDS);
    // A column without a type makes nothing of anything: digits stay text.
    let digits = [("CAST(unixepoch() - 9000 AS TEXT)", "is text")];
    let all = [&NO_SECONDS[..], &digits].concat();
    are_told(&queue("", &all), &all);
}
