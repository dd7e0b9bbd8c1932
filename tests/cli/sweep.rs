//! `sweep` from cron: no terminal anywhere.

use super::scene::{STATE, calm, incident};
use insta::assert_snapshot;

#[test]
fn table() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db"]).whole());
}

#[test]
fn applied_table() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "table"]).whole());
}

#[test]
fn applied_wide() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "wide"]).whole());
}

#[test]
fn applied_jsonl() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "jsonl"]).whole());
}

#[test]
fn applied_name() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "name"]).whole());
}

#[test]
fn applied_csv() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "csv"]).whole());
}

#[test]
fn applied_none() {
    assert_snapshot!(incident().run(&["sweep", "--db", "queue.db", "--apply", "-o", "none"]).whole());
}

#[test]
fn says_nothing_when_nothing_was_done() {
    for format in ["table", "wide", "name", "none"] {
        let ran = calm().run(&["sweep", "--db", "queue.db", "--apply", "-o", format]).exits(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{format}");
    }
}

#[test]
fn says_nothing_the_second_time() {
    let doctor = incident();
    doctor.run(&["sweep", "--db", "queue.db", "--apply"]).exits(0);
    let after = doctor.rows("queue.db", STATE);
    let ran = doctor.run(&["sweep", "--db", "queue.db", "--apply"]).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert_eq!(doctor.rows("queue.db", STATE), after);
}

#[test]
fn machines_get_their_document_all_the_same() {
    for format in ["json", "jsonl", "csv"] {
        let ran = calm().run(&["sweep", "--db", "queue.db", "--apply", "-o", format]).exits(0);
        assert!(!ran.stdout.is_empty(), "{format}");
        // Cron mails what is on stderr.
        assert_eq!(ran.stderr, "", "{format}");
    }
}
