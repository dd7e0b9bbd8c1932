//! What is offered for the last word of a line.

use super::scene;
use crate::support::cli::{Doctor, Ran};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// Asks as fish does, which gets a value a line, with its help behind a tab.
fn ask(doctor: &Doctor, line: &str) -> Ran {
    let words: Vec<&str> = ["--", "jobdoctor"].into_iter().chain(line.split(' ')).collect();
    Ran::of(doctor.command(&words).env("JOBDOCTOR_COMPLETE", "fish").output().unwrap()).exits(0)
}

fn offered(doctor: &Doctor, line: &str) -> Vec<String> {
    let ran = ask(doctor, line);
    assert_eq!(ran.stderr, "", "{line}");
    let values = ran.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned());
    values.filter(|value| !value.starts_with('-')).collect()
}

/// Asks again while other tests keep the machine so busy that the program does not find them within its 200 ms.
#[track_caller]
fn offers(doctor: &Doctor, line: &str, expected: &[impl AsRef<str>]) {
    let patience = Instant::now() + Duration::from_secs(300);
    let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    while offered(doctor, line) != expected {
        assert!(Instant::now() < patience, "{line}: {:?}, not {expected:?}", offered(doctor, line));
    }
}

#[test]
fn every_source_is_asked() {
    let (doctor, run) = scene();
    let cases: &[(&str, &[&str])] = &[
        ("reclaim --to ", &["requeue", "fail", "cancel", "time_out"]),
        ("reclaim --rule ", &["claim_age", "deadline_passed", "max_runtime", "no_progress"]),
        ("stale -o j", &["json", "jsonl"]),
        ("completions z", &["zsh"]),
        ("help ex", &["exit-codes"]),
        ("man sta", &["stale", "stats", "status"]),
        ("stale --target ", &["away", "shop"]),
        ("--target s", &["shop"]),
        ("stale --target=s", &[]),
        ("stale --db demo.db --preset o", &["oban", "orders"]),
        ("presets show ri", &["river"]),
        ("stale --target shop --queue ", &["mail", "media", "reports"]),
        ("--target shop stale --kind R", &["ResizeVideo"]),
        ("reclaim --db demo.db --owner web2:", &["web2:911", "web2:912"]),
        ("sweep --restart --db demo.db --host me", &["media1", "media2"]),
        ("stale --db demo.db --state ", &["CLAIMED", "RUNNING"]),
        ("show --db demo.db ", &["3", "4", "5", "6", "7"]),
        ("stale --target shop --id ", &["3", "4", "5", "6", "7"]),
        ("adopt --db demo.db ", &["jobs"]),
        ("undo 2", &[&run]),
        ("history ", &[&run]),
    ];
    for (line, expected) in cases {
        let values: Vec<String> = expected
            .iter()
            .map(|value| if line.contains("=s") { format!("--target={value}") } else { (*value).into() })
            .collect();
        offers(&doctor, line, &values);
    }
}

/// The mutant offers options among the values.
#[test]
fn options_are_offered_behind_a_dash_or_where_nothing_else_is() {
    let (doctor, run) = scene();
    let all = |line: &str| ask(&doctor, line).stdout;
    for line in ["", "undo ", "show --db demo.db ", "adopt --db demo.db "] {
        assert!(!all(line).lines().any(|value| value.starts_with('-')), "{line}: {}", all(line));
    }
    for (line, option) in [("undo -", "--apply"), ("-", "-V"), ("stale ", "--older"), ("stale --ol", "--older")] {
        assert!(all(line).contains(option), "{line}: {}", all(line));
    }
    assert!(all("undo ").contains(&run));
}

/// The newest first, and of the database that the line names alone.
#[test]
fn runs_of_this_database() {
    let doctor = Doctor::new();
    let run = |db: &str| {
        doctor.sql_in(
            db,
            "INSERT INTO jobs (kind, status, owner_id, lease_token, claimed_at, lease_expires_at)
            VALUES ('a', 'RUNNING', 'w', 't', unixepoch() - 900, unixepoch() - 800)",
        );
        let ran = doctor.run(&["reclaim", "--db", db, "--apply", "--json"]).exits(0).json();
        ran["run_id"].as_str().unwrap().to_owned()
    };
    for db in ["a.db", "b.db"] {
        doctor.run(&["init", "--db", db, "-q"]).exits(0);
    }
    let first = run("a.db");
    run("b.db");
    std::thread::sleep(Duration::from_millis(1100));
    let second = run("a.db");
    offers(&doctor, "undo --db a.db ", &[second, first]);
}

/// The runs of a ledger, which another host may have written.
#[test]
fn runs_of_a_ledger() {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    doctor.run(&["init", "--db", "demo.db", "--ledger"]).exits(0);
    let run = doctor.run(&["reclaim", "--db", "demo.db", "--apply", "--json"]).exits(0).json();
    let elsewhere = Doctor::new();
    let line = format!("undo --db {} ", doctor.path("demo.db").display());
    offers(&elsewhere, &line, &[run["run_id"].as_str().unwrap()]);
}

#[test]
fn nothing_is_written_and_nothing_said_where_the_database_is_away() {
    let (doctor, _) = scene();
    let before = (doctor.files(), std::fs::read(doctor.path("demo.db")).unwrap());
    for line in [
        "stale --db gone.db --queue ",
        "stale --target away --owner ",
        "stale --target nosuch --owner ",
        "stale --config gone.toml --queue ",
        "stale --target shop --queue ",
        "undo --db gone.db x",
    ] {
        let ran = ask(&doctor, line);
        assert_eq!(ran.stderr, "", "{line}");
    }
    assert_eq!((doctor.files(), std::fs::read(doctor.path("demo.db")).unwrap()), before);
}

/// A server that takes the connection and never answers: the mutant waits for its 10 s.
#[test]
fn a_silent_server_is_not_waited_for() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!("stale --db postgres://u@{}/app --queue ", server.local_addr().unwrap());
    let doctor = Doctor::new();
    let begun = Instant::now();
    assert_eq!(offered(&doctor, &line), [""; 0]);
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
}

/// The mutant offers them all.
#[test]
fn hostile_names_are_left_out() {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    for (id, name) in ["\u{1b}[2J", "--apply", "a\nb", "gpj.\u{202e}exe", "*"].iter().enumerate() {
        let sql = format!("UPDATE jobs SET queue = '{name}' WHERE id = {}", id + 3);
        doctor.sql_in("demo.db", &sql);
    }
    offers(&doctor, "stale --db demo.db --queue ", &["mail", "media", "reports"]);
}

#[test]
fn a_shell_that_is_not_known() {
    let ran = Ran::of(Doctor::new().command(&[]).env("JOBDOCTOR_COMPLETE", "tcsh").output().unwrap()).exits(2);
    assert_eq!((ran.stdout.as_str(), ran.stderr.contains("unknown shell `tcsh`")), ("", true), "{ran:#?}");
}
