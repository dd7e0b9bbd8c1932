//! What `owners` prints, in every format.

use super::scene::{calm, incident};
use insta::assert_snapshot;

#[test]
fn table() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db"]).whole());
}

#[test]
fn wide() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "-o", "wide"]).whole());
}

#[test]
fn json() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "-o", "json"]).whole());
}

#[test]
fn jsonl() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "-o", "jsonl"]).whole());
}

#[test]
fn csv() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "-o", "csv"]).whole());
}

#[test]
fn name() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "-o", "name"]).whole());
}

#[test]
fn none() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "-o", "none"]).whole());
}

#[test]
fn all_is_well() {
    assert_snapshot!(calm().run(&["owners", "--db", "queue.db"]).whole());
}

#[test]
fn nobody_holds_anything() {
    let doctor = calm();
    doctor.sql("queue.db", "DELETE FROM jobs WHERE id = 6");
    assert_snapshot!(doctor.run(&["owners", "--db", "queue.db"]).whole());
}

#[test]
fn of_one_host() {
    let ran = incident().run(&["owners", "--db", "queue.db", "--host", "web1", "-o", "name"]).exits(0);
    assert_eq!(ran.stdout, "web1:4211\nweb1:4212\n");
}

#[test]
fn an_owner_in_trouble_is_not_dead() {
    let owners = incident().run(&["owners", "--db", "queue.db", "--json"]).exits(0).json();
    let owner = owners["owners"].as_array().unwrap().iter().find(|owner| owner["owner"] == "web10:7").unwrap();
    // Its deadline has passed, but its lease runs.
    assert_eq!((&owner["status"], &owner["stuck"]), (&"alive".into(), &1.into()));
    assert_eq!(owners["summary"]["dead"], 4);
}
