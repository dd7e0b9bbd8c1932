//! It cannot look: what that is depends on why.

use super::line::said;
use crate::support::cli::{Doctor, Ran, until};
use crate::support::postgres::fresh;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::fs;
use std::process::Stdio;

const NOBODY: &str = "postgres://app:c4n4ry@127.0.0.1:1/app";

#[test]
fn out_of_reach() {
    let doctor = Doctor::new();
    for db in [NOBODY, "host=/nonexistent dbname=app user=app", "gone.db", "gone/queue.db"] {
        for (more, state) in [
            (&[][..], "CRITICAL"),
            (&["--unreachable", "critical"], "CRITICAL"),
            (&["--unreachable", "unknown"], "UNKNOWN"),
        ] {
            let found = said(doctor.run(&[&["health", "--db", db], more].concat()));
            assert_eq!(found.state, state, "{found:?}");
            assert!(found.data.is_empty() && !format!("{found:?}").contains("c4n4ry"), "{found:?}");
        }
    }
    assert!(doctor.files().is_empty());
}

/// A database that is not there has gone away; something else by its name never was one.
#[test]
fn no_database_at_all_is_a_mistake() {
    let shop = Shop::empty_on_sqlite();
    fs::write(shop.doctor.path("text"), "no database, ".repeat(99)).unwrap();
    fs::create_dir(shop.doctor.path("directory")).unwrap();
    for db in ["text", "directory"] {
        let found = said(shop.doctor.run(&["health", "--db", db]));
        assert_eq!((found.state.as_str(), found.data.len()), ("UNKNOWN", 0), "{found:?}");
        let document = shop.doctor.run(&["health", "--json", "--db", db]).exits(3).json();
        assert_eq!((&document["state"], &document["error"]["code"]), (&"unknown".into(), &66.into()));
    }
    // The counterpart: a database whose pages are damaged is one.
    let mut bytes = fs::read(shop.doctor.path("queue.db")).unwrap();
    bytes[16..].fill(0xff);
    fs::write(shop.doctor.path("damaged.db"), bytes).unwrap();
    assert_eq!(said(shop.doctor.run(&["health", "--db", "damaged.db"])).state, "CRITICAL");
}

/// By the guidelines, help ends with 3; and a word before the command does not make it another program.
#[test]
fn the_plugin_is_known_by_its_command() {
    let shop = Shop::empty_on_sqlite();
    for words in
        [&["health", "--help"][..], &["health", "-h"], &["health", "-V"], &["health", "--db", "x", "--version"]]
    {
        let ran = shop.doctor.run(words).exits(3);
        assert!(ran.stdout.contains("jobdoctor") && ran.stderr.is_empty(), "{ran:#?}");
    }
    assert_eq!(shop.doctor.run(&["help", "health"]).exits(0).stdout, shop.doctor.run(&["health", "--help"]).stdout);
    for words in [
        &["--older", "5m", "health"][..],
        &["--apply", "health"],
        &["-o", "json", "--apply", "health"],
        &["--no-such-thing", "health"],
    ] {
        let ran = shop.doctor.run(words).exits(3);
        if words[0] != "-o" {
            let found = said(ran);
            assert!(found.state == "UNKNOWN" && found.text.contains("unexpected argument"), "{found:?}");
        } else {
            assert_eq!(ran.json()["state"], "unknown");
        }
    }
    // Another command's mistakes stay its own.
    for words in [
        &["stale", "health"][..],
        &["--db", "health", "stale", "--no-such-thing"],
        &["-q", "stale", "health"],
        &["helth"],
    ] {
        assert_eq!(shop.doctor.run(words).exits(2).stdout, "");
    }
}

/// A database that does not answer in time is as good as away.
#[test]
fn too_slow() {
    let shop = Shop::empty_on_sqlite();
    let holder = shop.doctor.connect("queue.db");
    holder.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let words = ["health", "--timeout", "1s"];
    assert_eq!(said(shop.run(&words)).state, "CRITICAL");
    assert_eq!(said(shop.run(&[&words[..], &["--unreachable", "unknown"]].concat())).state, "UNKNOWN");
}

#[test]
fn mistakes_are_unknown() {
    let shop = Shop::empty_on_sqlite();
    fs::write(shop.doctor.path("bad.toml"), "[target.shop]\noldre = \"5m\"\n").unwrap();
    for words in [
        &["health", "--oldre", "5m"][..],
        &["health", "--older", "5M"],
        &["health", "--unreachable", "maybe"],
        &["health", "-q"],
        &["health", "surplus"],
        &["health", "--target", "gone"],
        &["health", "--config", "bad.toml"],
        &["health", "--config", "gone.toml"],
        &["health", "--state", "GONE"],
        &["health", "--queue", "["],
        &["health", "--preset", "oban"],
        &["health", "-o", "prometheus"],
    ] {
        let found = said(shop.run(words));
        assert_eq!((found.state.as_str(), found.data.len()), ("UNKNOWN", 0), "{words:?}");
        assert!(!found.text.is_empty() && !found.text.starts_with("error"), "{found:?}");
    }
    // No database is named at all.
    assert_eq!(said(Doctor::new().run(&["health"])).state, "UNKNOWN");
    // What was typed in the wrong place may be an address.
    let found = said(shop.doctor.run(&["health", NOBODY]));
    assert!(found.state == "UNKNOWN" && !format!("{found:?}").contains("c4n4ry"), "{found:?}");
}

/// What the server says is nobody's performance data either; and neither rights nor defects of the server are its absence.
#[test]
fn what_the_server_says_is_inert() {
    let database = fresh();
    let doctor = Doctor::new();
    let url = database.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    let mut client = database.client();
    client.batch_execute("INSERT INTO jobs (status) VALUES ('RUNNING'); ALTER TABLE jobs RENAME TO real").unwrap();
    for (code, state) in [("XX000", "UNKNOWN"), ("42501", "UNKNOWN"), ("57P03", "CRITICAL")] {
        let hostile = "a | ''stuck''=0;;;0;\\nJOBDOCTOR OK - b \\x1b[2J";
        client
            .batch_execute(&format!(
                "CREATE OR REPLACE FUNCTION no() RETURNS boolean LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION USING MESSAGE = E'{hostile}', ERRCODE = '{code}'; END $$;
                CREATE OR REPLACE VIEW jobs AS SELECT * FROM real WHERE no()"
            ))
            .unwrap();
        let found = said(doctor.run(&["health", "--db", &url, "--preset", "lease"]));
        assert_eq!(found.state, state, "{code}: {found:?}");
        assert!(found.text.contains("a / 'stuck'=0;;;0;\\nJOBDOCTOR OK - b"), "{found:?}");
    }
}

/// Monitoring systems end a plugin that takes too long.
#[test]
fn a_signal_is_unknown() {
    let shop = Shop::empty_on_sqlite();
    let holder = shop.doctor.connect("queue.db");
    holder.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let mut running = shop.doctor.start(&shop.with_db(&["health", "--timeout", "60s"]));
    let file = fs::canonicalize(shop.doctor.path("queue.db")).unwrap();
    until("it has opened the database", || {
        assert!(!running.has_ended());
        running.has_open(&file)
    });
    running.signal(Signal::TERM);
    let found = said(running.wait());
    assert_eq!(found.state, "UNKNOWN");
}

/// A thread that cannot be had is a panic in Rust's own library.
#[test]
fn a_panic_is_unknown() {
    let shop = Shop::empty_on_sqlite();
    let panics = |words: &[&str]| {
        let mut command = shop.doctor.command(&shop.with_db(words));
        Ran::of(command.env("RUST_MIN_STACK", "100000000000000000").output().unwrap())
    };
    let found = said(panics(&["health"]));
    assert_eq!(found.state, "UNKNOWN");
    assert!(found.text.starts_with("jobdoctor has a defect at ") && found.more.is_empty(), "{found:?}");
    // The counterpart: it is a panic, and any other command ends with the code for one.
    let ran = panics(&["stale"]).exits(70);
    assert_eq!(ran.stdout, "");
}

/// Nobody reads what it says, but the code can still be told.
#[test]
fn a_line_that_cannot_be_written_is_unknown() {
    let shop = Shop::empty_on_sqlite();
    let mut command = shop.doctor.command(&shop.with_db(&["health"]));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(command.stdout(full).stderr(Stdio::null()).status().unwrap().code(), Some(3));
}
