//! What goes with it and what does not, and where there can be no script.

use super::postgres::queue;
use crate::cli::scene::incident;
use crate::support::cli::fails;
use crate::support::shells::psql;
use crate::support::shop::states;
use std::fs;

#[test]
fn with_apply_or_a_format_it_makes_no_sense() {
    let doctor = incident();
    for other in [&["--apply"][..], &["-o", "json"], &["--json"], &["-o", "none"]] {
        for command in ["reclaim", "sweep"] {
            let ran = doctor.on_queue(&[&[command, "--emit-sql"], other].concat()).exits(2);
            assert_eq!(ran.stdout, "");
            ran.says("--emit-sql");
        }
    }
}

/// Whoever holds the file has jobdoctor beside it: a plan in a file is reviewed and carried out.
#[test]
fn there_is_none_for_a_file() {
    let ran = incident().on_queue(&["reclaim", "--emit-sql"]).exits(2);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("only for psql"), "{ran:#?}");
    ran.says("--save-plan");
}

#[test]
fn more_than_allowed_is_refused() {
    let (doctor, _database, url) = queue();
    let ran = doctor.run(&["reclaim", "--db", &url, "--emit-sql", "--max-jobs", "2"]).exits(4);
    assert_eq!(ran.stdout, "");
    ran.says("the plan has 3 steps and --max-jobs allows 2");
    doctor.run(&["reclaim", "--db", &url, "--emit-sql", "--max-jobs", "3"]).exits(0);
}

#[test]
fn nothing_to_do_is_a_script_that_does_nothing() {
    let (doctor, database, url) = queue();
    let ran = doctor.run(&["reclaim", "--db", &url, "--emit-sql", "--older", "9h"]).exits(0);
    ran.shows("-- what: nothing to move").says("a script of 0 batches for 0 jobs");
    let before = states(&mut database.client());
    psql(&database, &ran.stdout).exits(0);
    assert_eq!(states(&mut database.client()), before);
}

#[test]
fn a_job_that_is_not_there_is_said() {
    let (doctor, database, url) = queue();
    let ran = doctor.run(&["reclaim", "--db", &url, "--emit-sql", "--id", "1", "--id", "4711"]).exits(3);
    ran.says("no such job in public.jobs: 4711");
    psql(&database, &ran.stdout).exits(0);
    assert_eq!(states(&mut database.client()), ["1 QUEUED 1", "2 RUNNING 0", "3 RUNNING 4"]);
}

/// A target that only others may write to is what tickets are for.
#[test]
fn a_read_only_target_has_scripts() {
    let (doctor, _database, url) = queue();
    fs::write(doctor.path("config.toml"), format!("[target.prod]\ndb = \"{url}\"\nread_only = true\n")).unwrap();
    let ran = doctor.run(&["reclaim", "--target", "prod", "--config", "config.toml", "--emit-sql"]).exits(0);
    ran.shows("BEGIN TRANSACTION");
}

/// The name of a table may hold anything; a script may not.
#[test]
fn a_name_that_would_move_the_cursor() {
    let (doctor, database, url) = queue();
    database.client().batch_execute("ALTER TABLE jobs RENAME TO \"jobs\u{1b}[2J\"").unwrap();
    let arguments = ["reclaim", "--db", &url, "--preset", "lease", "--table", "jobs\u{1b}[2J", "--emit-sql"];
    let ran = doctor.run(&arguments).exits(78);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("U+001B"), "{ran:#?}");
    fails(&doctor, &["reclaim", "--db", &url, "--preset", "lease", "--table", "none"], 78).says("none");
}
