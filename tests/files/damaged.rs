//! 66: what is not there, is no database, or is one no more. It is named, advice is given, nothing is made and nothing
//! changed.

use crate::cli::scene::incident;
use crate::support::cli::{Doctor, fails};
use crate::support::files::{Frozen, kill_a_writer};
use std::fs;
use std::os::unix::fs::symlink;

/// Looks at it and tries to write to it, in every way there is.
fn is_refused(doctor: &Doctor, db: &str, code: i32, words: &[&str]) {
    const EVERY: [&[&str]; 8] = [
        &["stale"],
        &["show", "1"],
        &["owners"],
        &["check"],
        &["reclaim"],
        &["reclaim", "--apply"],
        &["sweep", "--apply"],
        &["sweep", "--restart", "--all-owners", "--apply"],
    ];
    let before = Frozen::of(&doctor.path(""));
    for arguments in EVERY {
        let ran = fails(doctor, &[arguments, &["--db", db]].concat(), code);
        for word in words {
            assert!(ran.stderr.contains(word), "{arguments:?} does not say {word}: {ran:#?}");
        }
        before.must_be_unchanged();
    }
}

fn big() -> Doctor {
    let doctor = incident();
    doctor.sql(
        "WITH RECURSIVE n(id) AS (SELECT 1000 UNION ALL SELECT id + 1 FROM n WHERE id < 1999)
         INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at)
         SELECT id, 'mail', 'SendInvoice', 'RUNNING', 'web1:1', unixepoch() - 8000, unixepoch() - 7000 FROM n",
    );
    doctor
}

#[test]
fn what_is_not_there() {
    let doctor = Doctor::new();
    let says = ["hint: nothing was created", "jobdoctor init"];
    is_refused(&doctor, "queue.db", 66, &[&["there is no file queue.db"], &says[..]].concat());
    is_refused(&doctor, "none/queue.db", 66, &[&["there is no file none/queue.db"], &says[..]].concat());
    is_refused(&doctor, "file:queue.db?mode=rwc", 66, &["there is no file file:queue.db?mode=rwc"]);
    is_refused(&doctor, "file::memory:?cache=shared", 66, &["there is no file file::memory:"]);
    is_refused(&doctor, "sqlite::memory:", 66, &["there is no file :memory:"]);
    is_refused(&doctor, "queue.db/", 66, &["queue.db/"]);
    is_refused(&doctor, ":memory:", 2, &["in memory", "name a file"]);
    symlink("gone.db", doctor.path("link.db")).unwrap();
    is_refused(&doctor, "link.db", 66, &["link.db is a link to gone.db, which is not there"]);
    symlink("loop.db", doctor.path("loop.db")).unwrap();
    is_refused(&doctor, "loop.db", 66, &["cannot read loop.db", "hint: "]);
    fs::write(doctor.path("file"), "").unwrap();
    is_refused(&doctor, "file/queue.db", 66, &["cannot read file/queue.db", "hint: "]);
    let long = "n".repeat(300);
    is_refused(&doctor, &long, 66, &["cannot read nnn", "hint: "]);
}

#[test]
fn what_is_something_else() {
    let doctor = Doctor::new();
    fs::create_dir(doctor.path("directory")).unwrap();
    is_refused(&doctor, "directory", 66, &["directory is a directory", "hint: name the database file itself"]);
    is_refused(&doctor, ".", 66, &[". is a directory"]);
    let made = std::process::Command::new("mkfifo").arg(doctor.path("pipe")).status().unwrap();
    assert!(made.success());
    is_refused(&doctor, "pipe", 66, &["pipe is not a regular file", "hint: "]);
    is_refused(&doctor, "/dev/null", 66, &["/dev/null is not a regular file"]);
    is_refused(&doctor, "/dev/zero", 66, &["/dev/zero is not a regular file"]);
    let text = "this is a text of more than a hundred bytes, ".repeat(9);
    for (name, bytes) in [("text", text.as_bytes()), ("short", b"SQLite"), ("noughts", &[0; 4096])] {
        fs::write(doctor.path(name), bytes).unwrap();
        let says = format!("{name} is not a SQLite database");
        is_refused(&doctor, name, 66, &[&says, "hint: nothing was changed", "encrypted"]);
    }
    // SQLite made it and nobody used it yet: a database, but no queue.
    fs::write(doctor.path("empty"), "").unwrap();
    is_refused(&doctor, "empty", 78, &["no known queue"]);
}

#[test]
fn a_file_that_was_cut_off_or_has_wrong_bytes() {
    let doctor = big();
    let whole = fs::read(doctor.path("queue.db")).unwrap();
    let (length, header) = (whole.len(), "queue.db: file is not a database");
    assert!(length > 40_000, "{length}");
    let leaf = (1..length / 4096).map(|page| page * 4096).find(|at| whole[*at] == 0x0d).unwrap();
    let cut = [20, 99, 100, 2000, 4096, 4097, 8192, 20_000, length - 4096].map(|to| (to, None, "queue.db is damaged"));
    // SQLite itself would read the missing bytes as zeros, and some of them may be somebody's heartbeat.
    let short = [1, 100, 4095].map(|by| (length - by, None, "queue.db is damaged: its last page is cut off"));
    let headers =
        [(16, 0xff), (18, 9), (20, 0xff), (21, 1)].map(|(at, byte)| (length, Some((at..at + 2, byte)), header));
    // The pointers to the cells of a leaf follow the eight bytes of its head.
    let pointers = (length, Some((leaf + 8..leaf + 40, 0xff)), "SQLITE_CORRUPT");
    for (to, wrong, words) in cut.into_iter().chain(short).chain(headers).chain([pointers]) {
        let mut bytes = whole[..to].to_vec();
        if let Some((place, byte)) = wrong {
            bytes[place].fill(byte);
        }
        fs::write(doctor.path("queue.db"), bytes).unwrap();
        is_refused(&doctor, "queue.db", 66, &[words, "hint: "]);
    }
}

/// Even one who only reads would have SQLite delete the log of a file that is empty, and with it all that is left.
#[test]
fn an_empty_file_with_a_log() {
    let doctor = incident();
    kill_a_writer(&doctor.path("queue.db"), "PRAGMA journal_mode = wal; UPDATE jobs SET attempts = 1;");
    fs::write(doctor.path("queue.db"), "").unwrap();
    is_refused(&doctor, "queue.db", 66, &["queue.db is damaged: it is empty, and there is a log", "hint: nothing was"]);
    fs::remove_file(doctor.path("queue.db-shm")).unwrap();
    is_refused(&doctor, "queue.db", 66, &["queue.db is damaged: it is empty, and there is a log", "hint: nothing was"]);
}
