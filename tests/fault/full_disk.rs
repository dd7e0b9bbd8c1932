//! A disk that is full (F28): on SQLite at the first write of a run, at the second, at the third, until one comes through, as
//! SQLite tests itself. What was being written is taken back, the file is whole, the end is not 0, and the next run finishes it.
//! The same where only the disk of the journals is full.

use super::many::{Many, RECLAIM};
use super::random_kills::file;
use crate::cli::scene::orphans;
use crate::support::cli::{Ran, rows};
use crate::support::figures;
use crate::support::shim::Shim;
use crate::support::shop::Shop;
use crate::support::tmpfs::SmallDisk;
use std::fs;
use std::path::Path;

/// A full batch and the beginning of another one, and one of each other kind.
const DEAD: u32 = 510;

/// Every write of a run is tried up to this one; from there on one in so many, and the last. By night they are many more.
const EACH: usize = 5;
const STEP: usize = 127;

/// Runs the program with no room in a directory from that write on; the answer tells whether it was short of it.
fn short_of_room(many: &Many, shim: &Shim, directory: &Path, at: usize) -> (Ran, bool) {
    let log = many.shop.doctor.home("refused");
    let _ = fs::remove_file(&log);
    let mut command = many.shop.doctor.command(&many.shop.with_db(&RECLAIM));
    command.env("LD_PRELOAD", shim.library()).env("FULL_DISK", directory).env("FULL_AT", at.to_string());
    let ran = Ran::of(command.env("FULL_LOG", &log).output().expect("run the program"));
    (ran, log.exists())
}

pub(super) fn at_every_write(mode: &str, step: usize) {
    let many = Many::in_queue(file(mode), DEAD);
    let shim = Shim::of(include_str!("full_disk.c"));
    let directory = fs::canonicalize(many.shop.doctor.path("")).expect("the directory");
    let (mut at, mut faults, mut middle) = (1, 0, 0);
    loop {
        many.again();
        // What the last run and this have left in a WAL is not to be in the way.
        many.shop.connect()("PRAGMA wal_checkpoint(TRUNCATE)");
        let (ran, was_short) = short_of_room(&many, &shim, &directory, at);
        let standing = many.standing().unwrap_or_else(|wrong| panic!("{mode}, {at}: {wrong}: {ran:#?}"));
        many.is_honest(&ran, standing);
        if !was_short {
            assert_eq!((ran.code, standing.moved), (0, standing.of), "{mode}, {at}: {ran:#?}");
            break;
        }
        // Where all that it had to write was written, only what is tidied up behind it can have failed.
        let excused = standing.moved == standing.of;
        assert!(ran.signal.is_none() && (ran.code != 0 || excused), "{mode}, {at}: {ran:#?}");
        assert!(ran.code == 69 || excused, "{mode}, {at}: {ran:#?}");
        let whole = rows(&many.shop.doctor.connect("queue.db"), "PRAGMA integrity_check");
        assert_eq!(whole, ["ok"], "{mode}, {at}");
        many.converges();
        faults += 1;
        middle += usize::from(standing.is_in_the_middle());
        at += if at < EACH { 1 } else { step };
    }
    assert!(faults > 6 && middle > 0, "{mode}: {faults} faults, {middle} in the middle");
    figures::add(faults, "faults survived");
}

#[test]
fn with_a_wal() {
    at_every_write("wal", STEP);
}

#[test]
fn with_a_rollback_journal() {
    at_every_write("delete", STEP);
}

/// The journal of a run is not what its safety rests on. Without it nothing is undone later, which is told.
#[test]
fn of_the_journals() {
    let many = Many::on(Shop::on_sqlite(), DEAD);
    let shim = Shim::of(include_str!("full_disk.c"));
    let home = fs::canonicalize(many.shop.doctor.home("")).expect("the home directory");
    let mut faults = 0;
    for at in (1..).step_by(3) {
        many.again();
        let (ran, was_short) = short_of_room(&many, &shim, &home, at);
        let standing = many.standing().unwrap_or_else(|wrong| panic!("{at}: {wrong}: {ran:#?}"));
        many.is_honest(&ran, standing);
        if !was_short {
            break;
        }
        assert!(ran.signal.is_none(), "{at}: {ran:#?}");
        assert!(ran.code != 0 || !ran.stderr.is_empty(), "{at}: it says nothing of the journal: {ran:#?}");
        many.converges();
        faults += 1;
    }
    assert!(faults > 1, "{faults} faults");
    figures::add(faults, "faults survived");
}

/// TMPDIR is full while a long list is written there: nothing of it is printed. An apply keeps no list there, but SQLite may keep
/// some 300 kB.
#[test]
fn of_the_temporary_files() {
    const JOBS: u32 = 6_000;
    let Some(disk) = SmallDisk::of(16, "that a list survives a temporary disk that fills up") else { return };
    let doctor = orphans(JOBS).env("TMPDIR", disk.path().display().to_string());
    for (format, room) in [("jsonl", 300_000), ("json", 1_500_000), ("jsonl", 8_000_000)] {
        disk.fill(room);
        let ran = doctor.on_queue(&["stale", "-o", format]);
        disk.empty();
        let is_full = room < 8_000_000;
        assert_eq!((ran.code, ran.stdout.is_empty()), if is_full { (70, true) } else { (0, false) }, "{}", ran.stderr);
        assert!(!is_full || ran.stderr.contains("the temporary file of a long list"), "{}", ran.stderr);
        assert!(is_full || ran.stdout.lines().count() > JOBS as usize);
    }
    disk.fill(3_000_000);
    let apply = ["reclaim", "--apply", "--fast", "--max-jobs", "9999", "-o", "json", "--db", "queue.db"];
    let document = doctor.run(&apply).exits(0).json();
    disk.empty();
    assert_eq!(document["summary"]["outcomes"]["moved"], JOBS);
    figures::add(3, "faults survived");
}

/// On Postgres it is told like that too, and not as a fault of the program's own.
#[test]
fn of_the_server() {
    let shop = Shop::empty_on_postgres();
    shop.in_flight(1, 3, "'lost:1'", 600);
    shop.sql(
        "CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER disk_is_full BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION disk_is_full()",
    );
    shop.run(&["reclaim", "--apply"]).exits(69).says("the write was rolled back");
    assert_eq!(shop.states(), ["1 RUNNING 0", "2 RUNNING 0", "3 RUNNING 0"]);
}
