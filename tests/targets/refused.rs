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
        (vec!["stale", "--all-targets", "--alive-from", "-"], "write the list to a file first"),
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
    assert_eq!(fleet.states(), before);
    assert_eq!(fleet.doctor.files(), ["list.txt", "queue.db"]);
}

/// Each format of a command but people's, `none`, `json` and `jsonl` shows one queue. It is refused before a database is
/// opened, with the way out.
#[test]
fn formats_for_one_target() {
    const OF_LISTS: [&str; 3] = ["wide", "csv", "name"];
    let fleet = mixed();
    // Each would end with 66: no file is there to be opened.
    fleet.configure("[target.a]\ndb = \"gone.db\"\n[target.b]\ndb = \"gone.db\"\n");
    for (command, more) in [
        ("status", None),
        ("stale", None),
        ("owners", None),
        ("stats", Some("prometheus")),
        ("sweep", Some("markdown")),
    ] {
        for format in OF_LISTS.into_iter().chain(more) {
            for targets in [&["--all-targets"] as &[&str], &["--target", "a", "--target", "b"]] {
                let ran = fleet.doctor.run(&[&[command, "-o", format], targets].concat()).exits(2);
                assert_eq!(ran.stdout, "");
                ran.says(&format!("-o {format} makes no sense with several targets"));
                ran.says("use -o json or -o jsonl, or run one target at a time, with --target NAME");
            }
        }
        for format in ["table", "none", "json", "jsonl"] {
            fleet.all(&[command, "-o", format]).exits(66);
        }
    }
    // The plugin has two formats, and all usage errors are UNKNOWN.
    for format in ["wide", "csv", "name", "prometheus", "markdown", "none"] {
        let ran = fleet.all(&["health", "-o", format]).exits(3);
        ran.shows(&format!("JOBDOCTOR UNKNOWN - invalid value '{format}'")).shows("see jobdoctor health --help\n");
    }
    assert_eq!(fleet.doctor.files(), ["queue.db"]);
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
