//! `--report-file`: the run's document, at the end of every run.

use crate::cli::scene::{STATE, calm, incident};
use crate::support::cli::{Doctor, Ran, is_valid, until};
use crate::support::postgres::fresh;
use crate::support::proxy::{Cut, Proxy};
use crate::support::shop::on_both;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

fn report(doctor: &Doctor) -> Value {
    let text = fs::read_to_string(doctor.path("report.json")).expect("the report");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const SWEEP: [&str; 6] = ["sweep", "--db", "queue.db", "--apply", "--report-file", "report.json"];

#[test]
fn what_was_done_and_that_nothing_was() {
    let doctor = incident();
    let ran = doctor.run(&[&SWEEP[..], &["--json"]].concat()).exits(0);
    assert_eq!(report(&doctor), ran.json(), "what --json prints");
    let mode = fs::metadata(doctor.path("report.json")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o137, 0, "nobody else may read or write it: {mode:o}");
    // Silence on both streams, and a report all the same.
    doctor.run(&SWEEP).exits(0).is_silent();
    let document = report(&doctor);
    is_valid("sweep", &document);
    assert_eq!((&document["applied"], &document["summary"]["planned"]), (&true.into(), &0.into()));
    // A dry run, too; and nothing is left beside it.
    let doctor = calm();
    doctor.on_queue(&["sweep", "--report-file", "report.json"]).exits(0);
    assert_eq!(report(&doctor)["applied"], false);
    assert_eq!(doctor.files(), ["queue.db", "report.json"]);
}

#[test]
fn what_failed() {
    let doctor = Doctor::new();
    doctor.run(&SWEEP).exits(66);
    let document = report(&doctor);
    is_valid("error", &document);
    assert_eq!((&document["code"], &document["kind"]), (&66.into(), &"no_input".into()));
    fs::write(doctor.path("c.toml"), "[target.app]\nolderr = \"5m\"\n").expect("a config file");
    doctor.run(&[&SWEEP[..], &["--config", "c.toml"]].concat()).exits(78);
    assert_eq!(report(&doctor)["code"], 78);
    // What is refused by a guard has its document.
    let doctor = incident();
    fs::write(doctor.path("c.toml"), "[target.app]\nread_only = true\n").expect("a config file");
    doctor.run(&[&SWEEP[..], &["--config", "c.toml", "--target", "app"]].concat()).exits(4);
    let document = report(&doctor);
    is_valid("sweep", &document);
    assert!(document["refused"].as_str().is_some_and(|why| why.contains("read-only")), "{document:#}");
}

#[test]
fn one_that_cannot_be_written_is_said_before_anything_is_done() {
    let doctor = incident();
    let before = doctor.rows(STATE);
    let path = "no/such/directory/report.json";
    let ran = doctor.on_queue(&["sweep", "--apply", "--report-file", path]).exits(78);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.starts_with(&format!("error: report file {path} cannot be written")), "{ran:#?}");
    ran.says("hint: create the directory no/such/directory");
    assert_eq!(doctor.rows(STATE), before);
}

/// Not the database that is swept, nor what belongs to it, nor the config file, nor anything else.
#[test]
fn only_a_report_is_replaced() {
    let doctor = incident();
    fs::write(doctor.path("c.toml"), "[target.app]\ndb = \"queue.db\"\n").unwrap();
    fs::write(doctor.path("plan.json"), "{\"schema\": \"jobdoctor.plan/v1\"}").unwrap();
    fs::write(doctor.path("notes"), "about jobdoctor.sweep/v1\n").unwrap();
    fs::write(doctor.path("behind"), "").unwrap();
    symlink("behind", doctor.path("link")).unwrap();
    mkfifoat(CWD, doctor.path("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let before = doctor.rows(STATE);
    let bytes = |name: &str| fs::read(doctor.path(name)).unwrap();
    let (database, config) = (bytes("queue.db"), bytes("c.toml"));
    let files = doctor.files();
    let sidecars = ["queue.db-wal", "queue.db-shm", "queue.db-journal"];
    let others = ["queue.db", "c.toml", "plan.json", "notes", "link", "pipe", ".", "/dev/null"];
    for path in others.iter().chain(&sidecars) {
        for more in [&["--apply"][..], &[], &["--db", "gone.db"]] {
            let words = [&["sweep", "--config", "c.toml", "--target", "app", "--report-file", path], more].concat();
            doctor.run(&words).exits(2).says(&format!("--report-file {path}: another file has that name"));
        }
    }
    assert_eq!((doctor.rows(STATE), bytes("c.toml")), (before, config));
    assert_eq!((bytes("queue.db"), bytes("behind"), doctor.files()), (database, Vec::new(), files));
    // The counterparts: an empty file, a report of a run and one of a failure.
    for (code, db) in [(0, "queue.db"), (66, "gone.db"), (0, "queue.db")] {
        doctor.run(&["sweep", "--db", db, "--report-file", "behind"]).exits(code);
    }
}

/// Report or metrics: the directory goes away while the sweep is under way: what it did stays told and done, and its code is its own.
#[test]
fn one_that_cannot_be_written_afterwards_hides_nothing() {
    on_both(|shop| {
        shop.in_flight(1, 3, "'web1:1'", 900);
        shop.in_flight(4, 4, "'web9:1'", 1);
        shop.refuses("no");
        for directory in ["reports", "metrics"] {
            fs::create_dir(shop.doctor.path(directory)).unwrap();
        }
        mkfifoat(CWD, shop.doctor.path("alive"), Mode::from_raw_mode(0o600)).unwrap();
        let words = ["sweep", "--apply", "-q", "--json", "--alive-from", "alive"];
        let files = ["--report-file", "reports/r.json", "--textfile", "metrics/q.prom"];
        let mut command = shop.doctor.command(&shop.with_db(&[&words[..], &files].concat()));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Who reads the list has made sure of the file before.
        let mut list = None;
        until("the list is read", || {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            list = open(shop.doctor.path("alive"), OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty())
                .ok()
                .map(fs::File::from);
            list.is_some()
        });
        for directory in ["reports", "metrics"] {
            fs::remove_dir(shop.doctor.path(directory)).unwrap();
        }
        list.unwrap().write_all(b"web9\n").unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap()).exits(3);
        let outcomes = &ran.json()["summary"]["outcomes"];
        assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&2.into(), &1.into()));
        for said in [
            "error: report file reports/r.json cannot be written: entity not found; the run itself is not affected",
            "error: the textfile metrics/q.prom cannot be written",
        ] {
            ran.says(said);
        }
    });
}

/// Nobody can read the report, and what was done still decides how it ends.
#[test]
fn a_report_that_cannot_be_printed_hides_no_worse_end() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let database = fresh();
    let doctor = Doctor::new();
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    let mut client = database.client();
    let stuck =
        "INSERT INTO jobs (status, owner_id, lease_expires_at) VALUES ('RUNNING', 'w:1', now() - interval '1 h')";
    client.batch_execute(stuck).unwrap();
    let proxy = Proxy::before(database.socket(), Cut::AfterTheServer, false);
    let url = database.url_through(&proxy.socket());
    let words = ["sweep", "--db", &url, "--apply", "--json", "--timeout", "4s", "--report-file", "report.json"];
    let ended = doctor.command(&words).stdout(full()).output().unwrap();
    assert!(proxy.has_cut());
    assert_eq!(ended.status.code(), Some(5), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(report(&doctor)["summary"]["outcomes"]["unknown"], 1, "the file has it all the same");
    // The counterpart: all is done, and only the report is lost.
    client.batch_execute(stuck).unwrap();
    let words = ["sweep", "--db", &database.url(), "--apply", "--json", "--report-file", "report.json"];
    let ended = doctor.command(&words).stdout(full()).output().unwrap();
    assert_eq!(ended.status.code(), Some(70));
    assert_eq!(report(&doctor)["summary"]["outcomes"]["moved"], 1);
}

#[test]
fn metrics_and_report_are_two_files() {
    let doctor = incident();
    for (report, metrics) in [("one", "one"), ("one", "./one")] {
        let words = ["sweep", "--apply", "--report-file", report, "--textfile", metrics];
        doctor.on_queue(&words).exits(2).says("are the same file");
    }
    assert_eq!(doctor.files(), ["queue.db"]);
}
