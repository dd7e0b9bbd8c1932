//! What makes no sense with several targets is refused before any of them is asked.

use super::fleet::{mixed, two};
use crate::support::cli::{Doctor, fails};

#[test]
fn flags_for_one_target() {
    let fleet = two();
    let before = fleet.states();
    std::fs::write(fleet.doctor.path("list.txt"), "web1\n").unwrap();
    for (arguments, message) in [
        (vec!["stale", "--all-targets", "--db", "queue.db"], "--db makes no sense with several targets"),
        (vec!["stale", "--all-targets", "--watch", "2s"], "--watch makes no sense with several targets"),
        (
            vec!["stale", "--all-targets", "--password-file", "list.txt"],
            "each server would receive the password of another database",
        ),
        (vec!["stale", "--all-targets", "--target", "web"], "cannot be used with"),
        (vec!["stale", "--all-targets", "--alive-from", "-"], "--alive-from must be a file"),
        (
            vec!["stale", "--target", "web", "--target", "app", "--snapshot-file", "look.json"],
            "needs a file of its own",
        ),
        (vec!["sweep", "--all-targets", "--apply", "--expect", "12345678"], "--expect makes no sense"),
        (vec!["check", "--target", "web", "--target", "app"], "this command takes one --target"),
    ] {
        let ran = fails(&fleet.doctor, &arguments, 2);
        assert!(ran.stderr.contains(message), "{arguments:?}: {ran:#?}");
    }
    let ran = fleet.all(&["stale", "-o", "name"]).exits(2);
    assert_eq!(ran.stdout, "");
    ran.says("-o name has no place for the targets' names").says("-o csv");
    assert_eq!(fleet.states(), before);
    assert_eq!(fleet.doctor.files(), ["list.txt", "queue.db"]);
}

/// A pipe that several read gives each a part of the list, and everyone in the other parts would be dead.
#[test]
fn a_list_from_a_named_pipe() {
    let fleet = two();
    let made = std::process::Command::new("mkfifo").arg(fleet.doctor.path("pipe")).status().unwrap();
    assert!(made.success());
    let ran = fails(&fleet.doctor, &["sweep", "--all-targets", "--restart", "--alive-from", "pipe", "--apply"], 2);
    ran.says("a pipe can be read only once");
}

#[test]
fn targets_that_are_not_there() {
    let fleet = mixed();
    let ran = fails(&fleet.doctor, &["sweep", "--target", "web", "--target", "stagin", "--apply"], 2);
    ran.says("there is no target `stagin`").says("`staging`");
    assert!(fleet.states().1.iter().all(|row| row.contains("RUNNING")), "none was swept");
    let nowhere = Doctor::new();
    fails(&nowhere, &["sweep", "--all-targets", "--apply"], 2).says("there is none").says("--config");
    fleet.configure("");
    fails(&fleet.doctor, &["sweep", "--all-targets", "--apply"], 2).says("has no targets").says("[target.NAME]");
    fleet.configure("[target.\"../up\"]\ndb = \"queue.db\"\n");
    let ran = fails(&fleet.doctor, &["stale", "--all-targets", "--snapshot-file", "{target}.json"], 2);
    ran.says("cannot be part of a path");
}
