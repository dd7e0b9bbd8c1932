//! Where a delay or a budget would do nothing, or worse, nothing is done at all.

use crate::cli::scene::{STATE, incident, orphans, simple};
use crate::support::cli::{Doctor, fails};
use crate::support::postgres::fresh;
use insta::assert_snapshot;

#[test]
fn a_preset_without_a_column_for_it() {
    let doctor = simple();
    let sweep = ["sweep", "--restart", "--all-owners", "--db", "queue.db", "--preset", "simple", "--apply"];
    let before = doctor.rows("SELECT * FROM jobs");
    let said = |more: &[&str]| fails(&doctor, &[&sweep[..], more].concat(), 2).stderr;
    assert_snapshot!(said(&["--delay", "30s"]), @r"
error: --delay: a job of preset simple cannot be requeued for later: it has no column in main.jobs that says when a job may run
hint: leave --delay and --jitter out, in the config file too; --limit N requeues a few at a time
");
    assert!(said(&["--jitter", "30s"]).starts_with("error: --jitter: "));
    assert_eq!(doctor.rows("SELECT * FROM jobs"), before);
}

/// The preset has the column, and this table lacks it: the same as not having it, never a job that runs at once.
#[test]
fn a_table_without_the_optional_column() {
    let doctor = orphans(3);
    doctor.sql("ALTER TABLE jobs DROP COLUMN run_at");
    let before = doctor.rows(STATE);
    let said = fails(&doctor, &["reclaim", "--db", "queue.db", "--delay", "30s", "--apply"], 2).stderr;
    assert!(said.contains("preset lease") && said.contains("no column in main.jobs"), "{said}");
    // A dry run is no promise that an apply would break.
    fails(&doctor, &["reclaim", "--db", "queue.db", "--delay", "30s"], 2);
    assert_eq!(doctor.rows(STATE), before);
    doctor.on_queue(&["reclaim", "--apply"]).exits(0);
}

#[test]
fn a_queue_whose_workers_would_not_wait() {
    let (doctor, database) = (Doctor::new(), fresh());
    database.client().batch_execute(include_str!("../../fixtures/schemas/solid-queue/1.5.0.sql")).unwrap();
    let said = fails(&doctor, &["reclaim", "--db", &database.url(), "--delay", "30s"], 2).stderr;
    assert!(said.contains("preset solid-queue") && said.contains("what is ready runs at once"), "{said}");
    doctor.run(&["reclaim", "--db", &database.url()]).exits(0);
}

#[test]
fn flags_that_would_do_nothing() {
    let doctor = incident();
    for (flag, value) in [("--delay", "30s"), ("--jitter", "30s"), ("--max-stalls", "1")] {
        for to in ["fail", "cancel"] {
            let said = fails(&doctor, &["reclaim", "--db", "queue.db", "--to", to, flag, value, "--apply"], 2).stderr;
            assert!(said.contains(flag) && said.contains(&format!("--to {to}")), "{said}");
        }
        doctor.on_queue(&["reclaim", "--to", "requeue", flag, value]).exits(0);
    }
}
