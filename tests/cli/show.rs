//! What `show` explains.

use super::scene::{incident, simple};
use insta::assert_snapshot;

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
