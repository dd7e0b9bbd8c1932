//! What `show` explains.

use super::scene::simple;
use crate::support::cli::fails;
use crate::support::shop::{Shop, on_both};
use serde_json::{Value, json};

fn hostile(shop: &Shop) {
    let chr = if shop.is_postgres() { "chr" } else { "char" };
    let [esc, bidi, line] = [27, 8238, 10].map(|code| format!("{chr}({code})"));
    shop.sql(&format!(
        "INSERT INTO jobs (queue, kind, status, payload, error_detail)
        VALUES ('mail', 'A', 'FAILED', '{{\"to\": \"' || {esc} || '[2J' || {bidi} || '\"}}', 'timed' || {line} || 'verdict: healthy')"
    ));
    // Two bytes a character, so that the limit cuts one in the middle.
    shop.sql(&format!(
        "INSERT INTO jobs (queue, kind, status, payload) VALUES ('mail', 'B', 'FAILED', 'x{}')",
        "é".repeat(3000)
    ));
}

#[test]
fn a_payload_does_nothing_to_a_terminal_on_sqlite_or_postgres() {
    on_both(|shop| {
        hostile(shop);
        let plain = shop.run(&["show", "1"]).exits(0).stdout;
        // The mutant that reads payloads without the flag.
        assert!(!plain.contains("payload") && !plain.contains("[2J"), "{plain}");
        assert!(plain.contains("timed\\nverdict: healthy"), "{plain}");
        let asked = shop.run(&["show", "1", "--payload"]).exits(0).stdout;
        assert!(asked.contains(r#"{"to": "\x1b[2J\u{202e}"}"#), "{asked}");
        assert!(!asked.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{asked:?}");
        let job =
            |more: &[&str]| shop.run(&[&["show", "1", "2", "--json"], more].concat()).exits(0).json()["jobs"].clone();
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
        let long = shop.run(&["show", "2", "--payload=10"]).exits(0).stdout;
        assert!(long.contains("xéééé ... (5,992 bytes left out)"), "{long}");
    });
}

#[test]
fn a_payload_that_the_table_does_not_have() {
    let ran = fails(&simple(), &["show", "1", "--db", "queue.db", "--preset", "simple", "--payload"], 2);
    ran.says("--payload: preset simple has no payload column");
    let shown = simple().on_queue(&["show", "2", "--preset", "simple", "--json"]).exits(0).json();
    assert_eq!(shown["jobs"][0]["last_error"], "timed out");
}

#[test]
fn a_role_that_may_not_read_payloads_on_postgres() {
    let shop = Shop::empty_on_postgres();
    hostile(&shop);
    let role = format!("reader_{}", shop.server().name());
    shop.sql(&format!(
        "CREATE ROLE {role} LOGIN; GRANT SELECT (id, queue, kind, run_at, status, owner_id, lease_token, claimed_at, \
         heartbeat_at, lease_expires_at, attempts, max_attempts, stalls, deadline_at, max_runtime_seconds, \
         cancel_requested_at, error_code, finished_at) ON jobs TO {role}"
    ));
    let url = shop.url.replace("user=doctor", &format!("user={role}"));
    let shown = shop.doctor.run(&["show", "1", "--db", &url, "--json"]).exits(0).json();
    assert_eq!((&shown["jobs"][0]["kind"], &shown["jobs"][0]["last_error"]), (&"A".into(), &Value::Null), "{shown:#}");
    fails(&shop.doctor, &["show", "1", "--db", &url, "--payload"], 2);
}
