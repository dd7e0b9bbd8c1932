//! What `stale` prints, in every format.

use super::scene::{calm, incident, orphans};
use insta::assert_snapshot;

#[test]
fn table() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db"]).whole());
}

#[test]
fn wide() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "-o", "wide"]).whole());
}

#[test]
fn json() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "-o", "json"]).whole());
}

#[test]
fn jsonl() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "-o", "jsonl"]).whole());
}

#[test]
fn csv() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "-o", "csv"]).whole());
}

#[test]
fn name() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "-o", "name"]).whole());
}

#[test]
fn none() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "-o", "none"]).whole());
}

#[test]
fn verbose() {
    assert_snapshot!(calm().run(&["stale", "--db", "queue.db", "--verbose"]).whole());
}

#[test]
fn nothing_is_stuck() {
    assert_snapshot!(calm().run(&["stale", "--db", "queue.db"]).whole());
}

#[test]
fn nothing_is_stuck_in_csv() {
    assert_snapshot!(calm().run(&["stale", "--db", "queue.db", "-o", "csv"]).whole());
}

#[test]
fn narrow() {
    let doctor = incident().env("COLUMNS", "60");
    assert_snapshot!(doctor.run(&["stale", "--db", "queue.db", "--state", "CLAIMED", "--state", "RUNNING"]).whole());
}

#[test]
fn fifty_rows_and_how_many_more() {
    let ran = orphans(60).run(&["stale", "--db", "queue.db"]).exits(0);
    // One line above, a blank one and the header.
    assert_eq!(ran.stdout.lines().count(), 53);
    assert_snapshot!(ran.stderr, @r"
60 jobs stuck, of 60 in flight; the 50 longest silent are shown, --limit N shows more
to see what would be done: jobdoctor reclaim --db queue.db
");
}

#[test]
fn as_many_rows_as_asked_for() {
    let ran = orphans(60).run(&["stale", "--db", "queue.db", "--limit", "55"]).exits(0);
    assert_eq!(ran.stdout.lines().count(), 58);
    assert_snapshot!(ran.stderr, @r"
60 jobs stuck, of 60 in flight; the 55 longest silent are shown
to see what would be done: jobdoctor reclaim --db queue.db
");
}

#[test]
fn exit_code_says_whether_something_was_found() {
    incident().run(&["stale", "--db", "queue.db", "--exit-code"]).exits(1);
    incident().run(&["stale", "--db", "queue.db", "--exit-code", "-o", "none"]).exits(1);
    calm().run(&["stale", "--db", "queue.db", "--exit-code"]).exits(0);
}

#[test]
fn exit_code_counts_claims_that_nobody_can_judge() {
    let doctor = incident();
    doctor.sql("queue.db", "DELETE FROM jobs WHERE id <> 7");
    doctor.run(&["stale", "--db", "queue.db", "--exit-code"]).exits(1);
}

#[test]
fn a_longer_threshold_leaves_younger_ones_out() {
    let doctor = incident();
    let ran = doctor.run(&["stale", "--db", "queue.db", "-o", "name", "--older", "4h"]).exits(0);
    // A passed deadline is trouble at any age.
    assert_eq!(ran.stdout, "5\n1\n8\n");
}

#[test]
fn other_addresses_of_the_same_file() {
    let doctor = incident();
    let same = doctor.run(&["stale", "--db", "queue.db", "-o", "name"]).exits(0).stdout;
    let absolute = doctor.path("queue.db").display().to_string();
    for address in [&format!("sqlite:{absolute}"), "sqlite:queue.db", &absolute, "sqlite://queue.db"] {
        assert_eq!(doctor.run(&["stale", "--db", address, "-o", "name"]).exits(0).stdout, same, "{address}");
    }
}
