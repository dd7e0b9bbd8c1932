//! `init` and `demo` alone make files.

use crate::support::cli::Doctor;
use std::collections::BTreeSet;

fn commands() -> BTreeSet<String> {
    let help = Doctor::new().run(&["--help"]).exits(0).stdout;
    let list = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    list.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn arguments(command: &str) -> &'static [&'static str] {
    match command {
        "adopt" => &["jobs"],
        "show" => &["1"],
        "undo" => &["20260101000000-000000"],
        "completions" => &["bash"],
        "schema" => &["stale"],
        _ => &[],
    }
}

#[test]
fn by_no_other_command() {
    let commands = commands();
    assert!(commands.len() >= 12 && commands.contains("stale") && commands.contains("demo"), "{commands:?}");
    for command in &commands {
        let arguments = arguments(command);
        let takes_db = Doctor::new().run(&[command, "--help"]).stdout.contains("--db <");
        let applies = Doctor::new().run(&[command, "--help"]).stdout.contains("--apply");
        for db in ["queue.db", "file:queue.db", "none/queue.db", "sqlite:queue.db"] {
            let doctor = Doctor::new();
            let mut line = vec![command.as_str()];
            line.extend(arguments);
            if takes_db {
                line.extend(["--db", db]);
            }
            if applies {
                line.push("--apply");
            }
            let ran = doctor.run(&line);
            let made = doctor.files();
            match command.as_str() {
                "demo" => assert_eq!(made, ["demo.db"], "{ran:#?}"),
                "init" if db == "none/queue.db" => assert_eq!(made, [""; 0], "{ran:#?}"),
                "init" => assert_eq!(made.len(), 1, "{ran:#?}"),
                _ => assert_eq!(made, [""; 0], "{line:?}: {ran:#?}"),
            }
            let is_refused = takes_db && command != "env" && (command != "init" || db == "none/queue.db");
            // To a monitoring plugin, a database that is not there is critical.
            let missing = if command == "health" { 2 } else { 66 };
            assert_eq!(is_refused, ran.code == missing, "{line:?}: {ran:#?}");
        }
    }
}

#[test]
fn under_the_name_that_was_given() {
    for name in ["file:made.db?mode=memory", "sqlite::memory:", "file:made.db", "made.db"] {
        let path = name.trim_start_matches("sqlite:");
        let doctor = Doctor::new();
        doctor.run(&["init", "--db", name]).exits(0);
        assert_eq!(doctor.files(), [path]);
        doctor.run(&["stale", "--db", name]).exits(0);
        let doctor = Doctor::new();
        doctor.run(&["demo", path]).exits(0);
        assert_eq!(doctor.files(), [path]);
        // And again, in its own place.
        doctor.run(&["demo", path]).exits(0);
        assert_eq!(doctor.files(), [path]);
    }
    let doctor = Doctor::new();
    doctor.run(&["init", "--db", "none/made.db"]).exits(66).says("there is no directory none");
    doctor.run(&["demo", "none/made.db"]).exits(66).says("there is no directory none");
    assert_eq!(doctor.files(), [""; 0]);
}
