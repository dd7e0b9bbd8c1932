//! A reader that goes away has seen what it wanted.

use super::scene::{incident, orphans};
use insta::assert_snapshot;

#[test]
fn the_first_line_of_many() {
    let doctor = orphans(3000);
    for (command, code) in [("stale", 0), ("reclaim --max-jobs 3000", 0), ("sweep --max-jobs 3000", 0)] {
        let command: Vec<&str> = command.split(' ').chain(["--db", "queue.db", "-o", "jsonl"]).collect();
        let mut running = doctor.start(&command);
        let line = running.first_line();
        assert!(line.starts_with("{\"type\":\"head\",\"schema\":\"jobdoctor."), "{line}");
        let ran = running.wait().exits(code);
        assert_eq!(ran.stderr, "", "{command:?}");
    }
}

#[test]
fn the_exit_code_is_its_own() {
    let doctor = orphans(3000);
    for format in ["table", "wide", "csv", "name", "json"] {
        let mut running = doctor.start(&["stale", "--db", "queue.db", "--exit-code", "-o", format]);
        running.first_line();
        running.wait().exits(1);
    }
}

#[test]
fn what_was_to_be_done_is_done() {
    let doctor = orphans(3000);
    let mut running = doctor.start(&["reclaim", "--db", "queue.db", "--max-jobs", "3000", "--apply", "-o", "csv"]);
    running.first_line();
    let ran = running.wait().exits(0);
    assert_snapshot!(ran.stderr, @"requeued 3,000 jobs");
    assert_eq!(doctor.rows("SELECT status, attempts, count(*) FROM jobs GROUP BY 1, 2"), ["QUEUED 1 3000"]);
}

#[test]
fn texts_that_come_from_no_database() {
    for arguments in [
        &["--help"][..],
        &["completions", "zsh"],
        &["man", "reclaim"],
        &["schema", "reclaim"],
        &["presets", "show", "lease"],
    ] {
        let mut running = incident().start(arguments);
        running.first_line();
        let ran = running.wait().exits(0);
        assert_eq!(ran.stderr, "", "{arguments:?}");
    }
}
