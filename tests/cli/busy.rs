//! 75: it takes too long, and nothing was written. Locks on files are in `files::locked`.

use super::scene::incident;
use crate::support::cli::fails;
use insta::assert_snapshot;

#[test]
fn a_look_that_takes_too_long() {
    let doctor = incident();
    std::fs::write(doctor.path("config.toml"), super::signals::SLOW_MAPPING).unwrap();
    let arguments = ["stale", "--db", "queue.db", "--config", "config.toml", "--preset", "slow", "--timeout", "1s"];
    assert_snapshot!(fails(&doctor, &arguments, 75).stderr, @r"
error: the time limit ran out
hint: allow more time with --timeout, or narrow the selection
");
}

/// A view takes no writes on SQLite, and `check` says so before an apply does. No right would help.
#[test]
fn a_view_cannot_be_reclaimed() {
    let doctor = incident();
    doctor.sql("ALTER TABLE jobs RENAME TO all_jobs; CREATE VIEW jobs AS SELECT * FROM all_jobs");
    doctor.on_queue(&["stale"]).exits(0);
    fails(&doctor, &["check", "--db", "queue.db"], 78).says("jobs is a view");
}
