//! What goes with it and what does not, and where there can be no script.

use crate::cli::scene::{calm, incident};
use crate::support::cli::{Doctor, fails};
use crate::support::shells::sqlite3;
use std::fs;

#[test]
fn with_apply_or_a_format_it_makes_no_sense() {
    let doctor = incident();
    for other in [&["--apply"][..], &["-o", "json"], &["--json"], &["-o", "none"]] {
        for command in ["reclaim", "sweep"] {
            let ran = doctor.run(&[&[command, "--db", "queue.db", "--emit-sql"], other].concat()).exits(2);
            assert_eq!(ran.stdout, "");
            assert!(ran.stderr.contains("--emit-sql"), "{ran:#?}");
        }
    }
}

#[test]
fn more_than_allowed_is_refused() {
    let doctor = incident();
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql", "--max-jobs", "3"]).exits(4);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("the plan has 5 steps and --max-jobs allows 3"), "{ran:#?}");
    doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql", "--max-jobs", "5"]).exits(0);
}

#[test]
fn nothing_to_do_is_a_script_that_does_nothing() {
    let doctor = calm();
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql"]).exits(0);
    assert!(ran.stdout.contains("-- what: nothing to move"), "{}", ran.stdout);
    assert!(ran.stderr.contains("a script of 0 batches for 0 jobs"), "{}", ran.stderr);
    let before = doctor.rows("queue.db", "SELECT * FROM jobs");
    sqlite3(&doctor.path("queue.db"), &ran.stdout).exits(0);
    assert_eq!(doctor.rows("queue.db", "SELECT * FROM jobs"), before);
}

#[test]
fn a_job_that_is_not_there_is_said() {
    let doctor = incident();
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql", "--id", "1", "--id", "4711"]).exits(3);
    assert!(ran.stderr.contains("no such job in main.jobs: 4711"), "{}", ran.stderr);
    assert!(sqlite3(&doctor.path("queue.db"), &ran.stdout).exits(0).stdout.contains("1 of 1: 1 of 1 moved"));
}

/// A target that only others may write to is what tickets are for.
#[test]
fn a_read_only_target_has_scripts() {
    let doctor = incident();
    fs::write(doctor.path("config.toml"), "[target.prod]\ndb = \"queue.db\"\nread_only = true\n").unwrap();
    let ran = doctor.run(&["reclaim", "--target", "prod", "--config", "config.toml", "--emit-sql"]).exits(0);
    assert!(ran.stdout.contains("BEGIN IMMEDIATE"), "{ran:#?}");
}

#[test]
fn a_time_that_sqlite_cannot_tell() {
    let doctor = Doctor::new();
    doctor.sql(
        "jobs.db",
        "CREATE TABLE tasks (id INTEGER PRIMARY KEY, state TEXT, began INTEGER, at TEXT);
        INSERT INTO tasks VALUES (1, 'busy', unixepoch() - 5000, NULL)",
    );
    fs::write(doctor.path("config.toml"), TASKS).unwrap();
    let arguments = ["reclaim", "--db", "jobs.db", "--preset", "tasks", "--config", "config.toml"];
    let ran = doctor.run(&[&arguments[..], &["--emit-sql"]].concat()).exits(78);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("Europe/Paris") && ran.stderr.contains("--apply"), "{ran:#?}");
    doctor.run(&[&arguments[..], &["--apply"]].concat()).exits(0);
}

const TASKS: &str = "[mapping.tasks]
states = { waiting = ['free'], in_flight = ['busy'] }
time = { default = 'epoch s', at = 'text YYYY-MM-DD HH:MM:SS Europe/Paris' }
[mapping.tasks.claim]
table = 'tasks'
key = 'id'
state = 'state'
claimed_at = 'began'
liveness = [{ by = 'age', column = 'began', silent_after = '1m' }]
[mapping.tasks.action]
requeue = { to = 'free', stamp = ['at'] }
[mapping.tasks.attempts]
counted = 'not in the table'
";

/// The name of a table may hold anything; a script may not.
#[test]
fn a_name_that_would_move_the_cursor() {
    let doctor = incident();
    doctor.sql("queue.db", "ALTER TABLE jobs RENAME TO \"jobs\u{1b}[2J\"");
    let arguments = ["reclaim", "--db", "queue.db", "--preset", "lease", "--table", "jobs\u{1b}[2J", "--emit-sql"];
    let ran = doctor.run(&arguments).exits(78);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("U+001B"), "{ran:#?}");
    let error = fails(&doctor, &["reclaim", "--db", "queue.db", "--preset", "lease", "--table", "none"], 78);
    assert!(error.stderr.contains("none"), "{error:#?}");
}
