//! Nothing is written without `--apply`: not a byte of the database, and nothing beside it.

use super::scene::{INCIDENT, JOBS, incident};
use crate::support::cli::{Doctor, fails};
use std::collections::BTreeMap;

const LOOKS: [&[&str]; 9] = [
    &["stale", "--db", "queue.db"],
    &["show", "1", "7", "10", "--db", "queue.db"],
    &["owners", "--db", "queue.db"],
    &["reclaim", "--db", "queue.db"],
    &["reclaim", "--db", "queue.db", "--to", "fail", "--id", "1", "-o", "json"],
    &["sweep", "--db", "queue.db"],
    &["sweep", "--restart", "--all-owners", "--db", "queue.db"],
    &["check", "--db", "queue.db"],
    &["init", "--print", "--db", "queue.db"],
];

/// The files of the working directory, byte by byte.
fn bytes(doctor: &Doctor) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| (name.clone(), std::fs::read(doctor.path(&name)).unwrap_or_default());
    doctor.files().into_iter().map(read).collect()
}

fn leaves_alone(doctor: &Doctor) {
    let before = bytes(doctor);
    for look in LOOKS {
        doctor.run(look).exits(0);
        let after = bytes(doctor);
        assert!(after == before, "{look:?} left {:?} of {:?}", after.keys(), before.keys());
    }
}

#[test]
fn a_rollback_journal() {
    leaves_alone(&incident());
}

#[test]
fn a_wal_that_was_put_away() {
    let doctor = incident();
    doctor.sql("queue.db", "PRAGMA journal_mode = wal");
    assert_eq!(doctor.files(), ["queue.db"]);
    leaves_alone(&doctor);
}

#[test]
fn a_wal_that_a_killed_writer_left() {
    let writer = Doctor::new();
    let connection = writer.connect("queue.db");
    connection.execute_batch(&format!("PRAGMA journal_mode = wal; {JOBS} {INCIDENT}")).unwrap();
    // What is on disk at this instant is what a kill leaves.
    let doctor = Doctor::new();
    for name in writer.files() {
        std::fs::copy(writer.path(&name), doctor.path(&name)).unwrap();
    }
    assert_eq!(doctor.files(), ["queue.db", "queue.db-shm", "queue.db-wal"]);
    let before = bytes(&doctor);
    for look in LOOKS {
        let ran = doctor.run(look).exits(0);
        assert!(!ran.stdout.is_empty(), "{look:?}");
        let after = bytes(&doctor);
        // The index of the log is SQLite's own scratch paper; the database and the log are not.
        for name in ["queue.db", "queue.db-wal"] {
            assert!(after.get(name) == before.get(name), "{look:?} changed {name}");
        }
        assert_eq!(doctor.files(), ["queue.db", "queue.db-shm", "queue.db-wal"], "{look:?}");
    }
    drop(connection);
}

#[test]
fn a_refusal() {
    let doctor = incident();
    let before = bytes(&doctor);
    doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--max-jobs", "1"]).exits(4);
    fails(&doctor, &["reclaim", "--db", "queue.db", "--apply", "--state", "bogus"], 2);
    fails(&doctor, &["reclaim", "--db", "queue.db", "--apply", "--preset", "leese"], 78);
    doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--id", "6", "--id", "99"]).exits(3);
    assert!(bytes(&doctor) == before);
}
