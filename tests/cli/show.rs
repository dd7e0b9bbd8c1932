//! What `show` explains.

use super::scene::{incident, simple};
use crate::support::cli::{Doctor, fails};
use crate::support::postgres::fresh;
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn a_dead_one() {
    assert_snapshot!(incident().run(&["show", "2", "--db", "queue.db"]).whole());
}

#[test]
fn one_without_an_owner() {
    assert_snapshot!(incident().run(&["show", "5", "--db", "queue.db"]).whole());
}

#[test]
fn a_live_one_and_one_in_trouble() {
    assert_snapshot!(incident().run(&["show", "6", "8", "--db", "queue.db"]).whole());
}

#[test]
fn one_that_nobody_can_judge() {
    assert_snapshot!(incident().run(&["show", "7", "--db", "queue.db"]).whole());
}

#[test]
fn one_that_nobody_holds() {
    assert_snapshot!(incident().run(&["show", "10", "--db", "queue.db"]).whole());
}

#[test]
fn json() {
    assert_snapshot!(incident().run(&["show", "4", "9", "--db", "queue.db", "--json"]).whole());
}

#[test]
fn none() {
    assert_snapshot!(incident().run(&["show", "4", "--db", "queue.db", "-o", "none"]).whole());
}

#[test]
fn in_the_order_asked_for() {
    let shown = incident().run(&["show", "9", "1", "4", "--db", "queue.db", "--json"]).exits(0).json();
    let ids: Vec<&str> = shown["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["9", "1", "4"]);
}

#[test]
fn a_table_without_owners() {
    assert_snapshot!(simple().run(&["show", "1", "--db", "queue.db", "--preset", "simple"]).whole());
}

/// The reference schema with a job whose payload and last error are hostile and long, on either engine.
fn hostile(doctor: &Doctor, url: &str, sql: &dyn Fn(&str)) {
    doctor.run(&["init", "--db", url]).exits(0);
    let (esc, bidi, line) =
        if url == "queue.db" { ("char(27)", "char(8238)", "char(10)") } else { ("chr(27)", "chr(8238)", "chr(10)") };
    sql(&format!(
        "INSERT INTO jobs (queue, kind, status, payload, error_detail)
        VALUES ('mail', 'A', 'FAILED', '{{\"to\": \"' || {esc} || '[2J' || {bidi} || '\"}}', 'timed' || {line} || 'verdict: healthy')"
    ));
    // Two bytes a character, so that the limit cuts one in the middle.
    sql(&format!(
        "INSERT INTO jobs (queue, kind, status, payload) VALUES ('mail', 'B', 'FAILED', 'x{}')",
        "é".repeat(3000)
    ));
}

fn on_both(test: impl Fn(&Doctor, &str)) {
    let doctor = Doctor::new();
    hostile(&doctor, "queue.db", &|sql| doctor.sql("queue.db", sql));
    test(&doctor, "queue.db");
    let database = fresh();
    hostile(&doctor, &database.url(), &|sql| database.client().batch_execute(sql).unwrap());
    test(&doctor, &database.url());
}

#[test]
fn a_payload_does_nothing_to_a_terminal_on_sqlite_or_postgres() {
    on_both(|doctor, url| {
        let plain = doctor.run(&["show", "1", "--db", url]).exits(0).stdout;
        // The mutant that reads payloads without the flag.
        assert!(!plain.contains("payload") && !plain.contains("[2J"), "{plain}");
        assert!(plain.contains("timed\\nverdict: healthy"), "{plain}");
        let asked = doctor.run(&["show", "1", "--db", url, "--payload"]).exits(0).stdout;
        assert!(asked.contains(r#"{"to": "\x1b[2J\u{202e}"}"#), "{asked}");
        assert!(!asked.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{asked:?}");
        let job = |more: &[&str]| {
            doctor.run(&[&["show", "1", "2", "--db", url, "--json"], more].concat()).exits(0).json()["jobs"].clone()
        };
        let jobs = job(&[]);
        assert_eq!((&jobs[0]["payload"], &jobs[0]["payload_left_out_bytes"]), (&Value::Null, &Value::Null));
        assert_eq!((&jobs[0]["last_error"], &jobs[1]["last_error"]), (&"timed\nverdict: healthy".into(), &Value::Null));
        assert_eq!(job(&["--payload"])[0]["payload"], "{\"to\": \"\u{1b}[2J\u{202e}\"}");
        for (flag, kept) in [("--payload", 4095), ("--payload=10", 9), ("--payload=1", 1), ("--payload=9999", 6001)] {
            let job = job(&[flag])[1].clone();
            assert_eq!(
                (job["payload"].as_str().unwrap().len(), &job["payload_left_out_bytes"]),
                (kept, &json!(6001 - kept))
            );
        }
        let long = doctor.run(&["show", "2", "--db", url, "--payload=10"]).exits(0).stdout;
        assert!(long.contains("xéééé ... (5,992 bytes left out)"), "{long}");
    });
}

#[test]
fn a_payload_that_the_table_does_not_have() {
    let ran = fails(&simple(), &["show", "1", "--db", "queue.db", "--preset", "simple", "--payload"], 2);
    assert!(ran.stderr.contains("--payload: preset simple does not tell payloads"), "{ran:#?}");
    let shown = simple().run(&["show", "2", "--db", "queue.db", "--preset", "simple", "--json"]).exits(0).json();
    assert_eq!(shown["jobs"][0]["last_error"], "timed out");
}

/// What this role may not read is not shown, and does not keep it from the rest.
#[test]
fn a_role_that_may_not_read_payloads_on_postgres() {
    let (doctor, database) = (Doctor::new(), fresh());
    hostile(&doctor, &database.url(), &|sql| database.client().batch_execute(sql).unwrap());
    let role = format!("reader_{}", database.name());
    database
        .client()
        .batch_execute(&format!(
            "CREATE ROLE {role} LOGIN; GRANT SELECT (id, queue, kind, run_at, status, owner_id, lease_token, claimed_at, \
             heartbeat_at, lease_expires_at, attempts, max_attempts, stalls, deadline_at, max_runtime_seconds, \
             cancel_requested_at, error_code, finished_at) ON jobs TO {role}"
        ))
        .unwrap();
    let url = database.url().replace("user=doctor", &format!("user={role}"));
    let shown = doctor.run(&["show", "1", "--db", &url, "--json"]).exits(0).json();
    assert_eq!((&shown["jobs"][0]["kind"], &shown["jobs"][0]["last_error"]), (&"A".into(), &Value::Null), "{shown:#}");
    fails(&doctor, &["show", "1", "--db", &url, "--payload"], 2);
}
