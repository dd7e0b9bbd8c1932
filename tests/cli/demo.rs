//! The demonstration.

use super::scene::incident;
use crate::support::ages::while_ages_go_on;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn demo() {
    let doctor = Doctor::new();
    while_ages_go_on(|| assert_snapshot!(doctor.run(&["demo"]).whole()));
    assert_eq!(doctor.files(), ["demo.db"]);
}

#[test]
fn what_it_recommends_works() {
    let doctor = Doctor::new();
    let said = doctor.run(&["demo", "here.db"]).exits(0).stdout;
    let commands: Vec<Vec<&str>> = said
        .lines()
        .filter_map(|line| line.trim_start_matches("$ ").trim_start().strip_prefix("jobdoctor "))
        .map(|line| line.split("   ").next().unwrap().split(' ').collect())
        .collect();
    assert_eq!(commands.len(), 6, "{commands:?}");
    for command in commands {
        doctor.run(&command).exits(0);
    }
}

#[test]
fn it_replaces_what_it_made() {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    doctor.run(&["reclaim", "--db", "demo.db", "--apply"]).exits(0);
    doctor.run(&["demo"]).exits(0);
    assert_eq!(doctor.run(&["stale", "--db", "demo.db", "-o", "name"]).exits(0).stdout.lines().count(), 5);
}

#[test]
fn it_replaces_nothing_else() {
    let doctor = incident();
    let before = std::fs::read(doctor.path("queue.db")).unwrap();
    let ran = doctor.run(&["demo", "queue.db"]).exits(77);
    assert_snapshot!(ran.whole(), @r"
[stderr]
error: queue.db exists and was not made by `jobdoctor demo`; it was not changed
hint: name another file: jobdoctor demo FILE
[exit 77]
[EOF]
");
    assert_eq!(std::fs::read(doctor.path("queue.db")).unwrap(), before);
    std::fs::write(doctor.path("notes.txt"), "mine").unwrap();
    doctor.run(&["demo", "notes.txt"]).exits(77);
    assert_eq!(std::fs::read(doctor.path("notes.txt")).unwrap(), b"mine");
    // An output format is not for a walk.
    fails(&doctor, &["demo", "queue.db", "--bogus"], 2);
}
