//! S6: whatever looks leaves a SQLite file and its directory byte for byte as they were, in every plight that a file can be in;
//! on Postgres it takes no number for a transaction, changes no row and keeps no worker waiting.

use super::server::Watched;
use crate::cli::scene::incident;
use crate::support::cli::Doctor;
use crate::support::files::{Frozen, HALF_A_TRANSACTION, Writer, kill_a_writer};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Every way of looking. `RUN` is the last run.
const LOOKS: [&[&str]; 17] = [
    &["adopt", "jobs"],
    &["stale"],
    &["stale", "--summary"],
    &["show", "1"],
    &["owners"],
    &["stats"],
    &["stats", "--runtimes"],
    &["status"],
    &["health"],
    &["check"],
    &["reclaim"],
    &["sweep"],
    &["sweep", "--restart", "--all-owners"],
    &["history", "RUN"],
    &["undo", "RUN"],
    &["env"],
    &["init", "--print"],
];

/// Commands that are given no database.
const WITHOUT: [&str; 8] = ["completions", "config", "demo", "generate", "help", "man", "presets", "schema"];

#[test]
fn every_command_that_looks_is_tried() {
    let command = jobdoctor::cli::command();
    let commands: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let tried: BTreeSet<&str> = LOOKS.iter().map(|look| look[0]).chain(WITHOUT).collect();
    assert_eq!(tried, commands.into_iter().chain(["help"]).collect());
}

/// What an operator may find a file like.
const LAYOUTS: [&str; 16] = [
    "missing",
    "empty",
    "a directory",
    "no database",
    "cut off",
    "a page overwritten",
    "rollback journal",
    "rollback journal, a writer in its transaction",
    "rollback journal, its writer killed",
    "WAL, put away",
    "WAL, a writer at work",
    "WAL, a writer in its transaction",
    "WAL, its writer killed",
    "WAL, put away, and a journal of a killed writer",
    "read-only",
    "in a directory that is read-only",
];

const IN_A_TRANSACTION: &str = "BEGIN IMMEDIATE; UPDATE jobs SET attempts = 4;";

/// A file like that, and who keeps it so.
fn stage(layout: &str) -> (Doctor, Option<Writer>) {
    let doctor = incident();
    let path = doctor.path("queue.db");
    let patched = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
    };
    let wal = || doctor.sql("PRAGMA journal_mode = wal");
    let mut writer = None;
    match layout {
        "missing" => fs::remove_file(&path).unwrap(),
        "empty" => fs::write(&path, "").unwrap(),
        "a directory" => {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        }
        "no database" => fs::write(&path, "this is a text of more than a hundred bytes, ".repeat(9)).unwrap(),
        "cut off" => patched(&|bytes| bytes.truncate(bytes.len() - 4096)),
        "a page overwritten" => patched(&|bytes| bytes[4096..4200].fill(0xa5)),
        "rollback journal" => {}
        "rollback journal, a writer in its transaction" => writer = Some(Writer::at(&path, IN_A_TRANSACTION)),
        "rollback journal, its writer killed" => kill_a_writer(&path, HALF_A_TRANSACTION),
        "WAL, put away" => wal(),
        "WAL, a writer at work" => {
            wal();
            writer = Some(Writer::at(&path, "PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET attempts = 4;"));
        }
        "WAL, a writer in its transaction" => {
            wal();
            writer = Some(Writer::at(&path, IN_A_TRANSACTION));
        }
        "WAL, its writer killed" => {
            wal();
            kill_a_writer(&path, "PRAGMA wal_autocheckpoint = 0; UPDATE jobs SET attempts = 4;");
        }
        // The mode is written in bytes 18 and 19.
        "WAL, put away, and a journal of a killed writer" => {
            kill_a_writer(&path, HALF_A_TRANSACTION);
            patched(&|bytes| bytes[18..20].fill(2));
        }
        "read-only" => fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap(),
        "in a directory that is read-only" => {
            fs::set_permissions(doctor.path(""), fs::Permissions::from_mode(0o555)).unwrap();
        }
        other => panic!("nobody knows how to make `{other}`"),
    }
    (doctor, writer)
}

#[test]
fn a_file_stays_as_it_is_whatever_it_is_like() {
    for layout in LAYOUTS {
        let (doctor, writer) = stage(layout);
        let before = Frozen::of(&doctor.path(""));
        for look in LOOKS {
            let mut words: Vec<&str> =
                look.iter().map(|word| if *word == "RUN" { "20260101000000-000000" } else { *word }).collect();
            words.extend(["--db", "queue.db"]);
            let ran = doctor.run(&words);
            assert!(ran.signal.is_none() && ran.code != 70, "{layout}: {look:?}: {ran:#?}");
            // Says which layout it was, where it panics.
            let named = std::panic::catch_unwind(|| before.must_be_unchanged());
            assert!(named.is_ok(), "{layout}: {look:?} left something else: {ran:#?}");
        }
        drop(writer);
        fs::set_permissions(doctor.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The journal is SQLite's to open, and of a pipe it would wait for a writer, whom no time limit can hurry.
#[test]
fn a_pipe_beside_the_file_is_not_opened() {
    for suffix in ["journal", "wal", "shm"] {
        let doctor = incident();
        let pipe = doctor.path(&format!("queue.db-{suffix}"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for command in [&["stale"][..], &["check"], &["reclaim"], &["reclaim", "--apply"], &["init", "--ledger"]] {
            let ran = doctor.run(&[command, &["--db", "queue.db"]].concat()).exits(66);
            ran.says(&format!("queue.db-{suffix} is not a regular file"));
        }
    }
}

const DEAD: &str =
    "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
    SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, 'token', now() - interval '2h', now() - interval '2h',
           now() - interval '1h'
    FROM generate_series(1, 8) AS n";

/// The number that the next transaction which writes would get, and everything that is in the table.
const STATE: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text || ' ' || (SELECT string_agg(j::text, ';' ORDER BY id) FROM jobs AS j)";

#[test]
fn no_look_writes_anything_on_a_server() {
    let (watched, doctor) = (Watched::database("purity"), Doctor::new());
    let url = watched.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    doctor.run(&["init", "--ledger", "--db", &url]).exits(0);
    let mut client = watched.client();
    client.batch_execute(DEAD).unwrap();
    let moved = doctor.run(&["reclaim", "--apply", "--id", "8", "-o", "json", "--db", &url]).exits(0).json();
    let id = moved["run_id"].as_str().unwrap().to_owned();
    let mut state = || -> String { client.query_one(STATE, &[]).unwrap().get(0) };
    let before = state();
    for look in LOOKS {
        let mut words: Vec<&str> = look.iter().map(|word| if *word == "RUN" { id.as_str() } else { *word }).collect();
        words.extend(["--db", &url]);
        let ran = doctor.run(&words);
        let code = match look[0] {
            // It has questions.
            "adopt" => 78,
            "health" => 1,
            _ => 0,
        };
        assert_eq!(ran.code, code, "{look:?}: {ran:#?}");
        assert_eq!(state(), before, "{look:?}");
    }
    // The counterpart: one that writes is seen, even where it changes no row.
    let mut other = watched.client();
    other.batch_execute("NOTIFY news").unwrap();
    assert_ne!(state(), before);
}

/// A worker that waits for no lock longer than 50 ms, for as long as looks go on: not one heartbeat is refused.
#[test]
fn no_worker_waits_for_a_look() {
    let (watched, doctor) = (Watched::database("waiting"), Doctor::new());
    let url = watched.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    watched.client().batch_execute(DEAD).unwrap();
    let (done, beats, refused) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    let beat = || {
        let mut worker = watched.client();
        worker.batch_execute("SET lock_timeout = '50ms'").unwrap();
        while !done.load(Ordering::SeqCst) {
            let sql = "UPDATE jobs SET heartbeat_at = heartbeat_at WHERE id = 1; DELETE FROM jobs WHERE id = 99;
                INSERT INTO jobs (id) VALUES (99); SELECT * FROM jobs FOR UPDATE";
            let counter = if worker.batch_execute(sql).is_ok() { &beats } else { &refused };
            counter.fetch_add(1, Ordering::SeqCst);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(beat);
        for look in LOOKS.iter().filter(|look| !look.contains(&"RUN")) {
            doctor.run(&[look, &["--db", &url][..]].concat());
        }
        assert_eq!(refused.load(Ordering::SeqCst), 0);
        assert!(beats.load(Ordering::SeqCst) > 10);
        // The counterpart: who does stand in the way is noticed.
        let mut rude = watched.client();
        rude.batch_execute("BEGIN; LOCK TABLE jobs IN SHARE MODE").unwrap();
        crate::support::cli::until("a heartbeat is refused", || refused.load(Ordering::SeqCst) > 0);
        done.store(true, Ordering::SeqCst);
    });
}
