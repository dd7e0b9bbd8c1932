//! 75: another process holds the lock, and nothing was written.

use super::scene::{STATE, incident};
use crate::support::cli::fails;
use insta::assert_snapshot;

#[test]
fn the_write_lock_is_held() {
    let doctor = incident();
    let before = doctor.rows("queue.db", STATE);
    let holder = doctor.connect("queue.db");
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran = fails(&doctor, &["reclaim", "--db", "queue.db", "--apply", "--timeout", "1s"], 75);
    assert_snapshot!(ran.stderr, @r"
error: database is locked (SQLITE_BUSY)
hint: another process holds the write lock; try again
");
    // Looking is not in anybody's way, and nobody is in its way.
    doctor.run(&["stale", "--db", "queue.db"]).exits(0);
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(doctor.rows("queue.db", STATE), before);
    doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--timeout", "1s"]).exits(0);
}

#[test]
fn the_whole_file_is_locked() {
    let doctor = incident();
    let holder = doctor.connect("queue.db");
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let ran = fails(&doctor, &["stale", "--db", "queue.db", "--timeout", "1s"], 75);
    assert_snapshot!(ran.stderr, @r"
error: database is locked (SQLITE_BUSY)
hint: another process holds the write lock; try again
");
}

#[test]
fn a_look_that_takes_too_long() {
    let doctor = incident();
    std::fs::write(doctor.path("config.toml"), super::signals::SLOW_MAPPING).unwrap();
    let arguments = ["stale", "--db", "queue.db", "--config", "config.toml", "--preset", "slow", "--timeout", "1s"];
    assert_snapshot!(fails(&doctor, &arguments, 75).stderr, @r"
error: the time limit ran out
hint: give it longer with --timeout, or narrow what is asked
");
}
