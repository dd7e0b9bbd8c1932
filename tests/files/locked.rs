//! 75: another process keeps us from the file for longer than we may wait. It is named, and nothing was changed.

use crate::cli::scene::{STATE, incident};
use crate::support::cli::{Doctor, fails};
use crate::support::files::{Frozen, Writer};
use std::path::Path;
use std::time::{Duration, Instant};

fn with_journal(mode: &str) -> Doctor {
    let doctor = incident();
    doctor.sql(&format!("PRAGMA journal_mode = {mode}"));
    doctor
}

/// Whether this system tells who holds a lock, and what that process is called.
fn can_see() -> bool {
    let sees = Path::new("/proc/locks").exists();
    if !sees {
        crate::support::users::say_what_is_missing("who holds a lock; there is no /proc/locks here");
    }
    sees
}

/// Ends in 75 after about a second, names the holder, and leaves everything as it was.
#[track_caller]
fn gives_up(doctor: &Doctor, arguments: &[&str], holder: &Writer, does: &str) {
    let before = Frozen::of(&doctor.path(""));
    let begun = Instant::now();
    let ran = fails(doctor, &[arguments, &["--db", "queue.db", "--timeout", "1s"]].concat(), 75);
    // `fails` asks for people and for programs.
    let took = begun.elapsed() / 2;
    assert!(took > Duration::from_millis(800) && took < Duration::from_secs(60), "{took:?}");
    assert!(ran.stderr.starts_with("error: queue.db is locked: waited "), "{ran:#?}");
    ran.says("(SQLITE_BUSY)\nhint: try again when");
    if can_see() {
        let named = format!("s for process {} (python3", holder.pid());
        ran.says(&named).says(&format!("which is {does} it"));
    }
    before.must_be_unchanged();
}

const APPLY: &[&str] = &["reclaim", "--apply"];

#[test]
fn by_a_writer() {
    for mode in ["delete", "wal"] {
        let doctor = with_journal(mode);
        let state = doctor.rows(STATE);
        let holder = Writer::at(&doctor.path("queue.db"), "BEGIN IMMEDIATE;");
        gives_up(&doctor, APPLY, &holder, "writing to");
        let other = if mode == "wal" { &["sweep", "--apply"][..] } else { &["init", "--table", "other"] };
        gives_up(&doctor, other, &holder, "writing to");
        // Looking is in nobody's way, and nobody is in its way.
        for look in [&["stale"][..], &["reclaim"], &["show", "1"], &["check"], &["owners"]] {
            doctor.on_queue(look).exits(0);
        }
        holder.end();
        assert_eq!(doctor.rows(STATE), state);
        doctor.on_queue(APPLY).exits(0);
    }
}

#[test]
fn by_one_who_wants_the_file_alone() {
    let doctor = with_journal("delete");
    let holder = Writer::at(&doctor.path("queue.db"), "BEGIN EXCLUSIVE;");
    for arguments in [&["stale"][..], &["show", "1"], APPLY] {
        gives_up(&doctor, arguments, &holder, "writing to");
    }
    holder.end();
    // With a WAL, that takes a connection that never lets go.
    let doctor = with_journal("wal");
    let holder = Writer::at(
        &doctor.path("queue.db"),
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET stalls = 0;",
    );
    gives_up(&doctor, &["stale"], &holder, "writing to");
    gives_up(&doctor, APPLY, &holder, "writing to");
    holder.end();
    doctor.on_queue(&["stale"]).exits(0);
}

/// With a rollback journal a reader lets nobody commit. We have our changes ready by then, and take them back.
#[test]
fn by_a_reader() {
    let doctor = with_journal("delete");
    let holder = Writer::at(&doctor.path("queue.db"), "BEGIN; SELECT * FROM jobs;");
    gives_up(&doctor, APPLY, &holder, "reading");
    holder.end();
    let doctor = with_journal("wal");
    let holder = Writer::at(&doctor.path("queue.db"), "BEGIN; SELECT * FROM jobs;");
    doctor.on_queue(APPLY).exits(0);
    holder.end();
}

/// The wait is as long as the lock timeout where the time limit is longer.
#[test]
fn for_as_long_as_a_lock_is_waited_for() {
    let doctor = with_journal("wal");
    let holder = Writer::at(&doctor.path("queue.db"), "BEGIN IMMEDIATE;");
    let begun = Instant::now();
    let ran = doctor.on_queue(&["reclaim", "--apply"]).exits(75);
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(120), "{took:?}");
    ran.says("is locked: waited ");
    holder.end();
}

/// A process may call itself anything; what it says must not look like ours.
#[test]
fn by_a_process_with_an_evil_name() {
    if !can_see() {
        return;
    }
    let doctor = with_journal("wal");
    let mut holder = Writer::at(&doctor.path("queue.db"), "BEGIN IMMEDIATE;");
    holder.run_python(r"open('/proc/self/comm', 'wb').write(b'x\nerror: \x1b[31m\xff')");
    let ran = fails(&doctor, &["reclaim", "--apply", "--db", "queue.db", "--timeout", "1s"], 75);
    assert_eq!(ran.stderr.lines().count(), 2, "{ran:#?}");
    ran.says(&format!("process {} (x?error: ?[31m\u{fffd})", holder.pid()));
}
