//! `--report-file`: the run's document, at the end of every run.

use crate::cli::scene::{STATE, calm, incident};
use crate::support::cli::{Doctor, is_valid};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

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
    let ran = doctor.run(&SWEEP).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let document = report(&doctor);
    is_valid("sweep", &document);
    assert_eq!((&document["applied"], &document["summary"]["planned"]), (&true.into(), &0.into()));
    // A dry run, too; and nothing is left beside it.
    let doctor = calm();
    doctor.run(&["sweep", "--db", "queue.db", "--report-file", "report.json"]).exits(0);
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
    let before = doctor.rows("queue.db", STATE);
    for path in ["no/such/directory/report.json", "/dev/null", "."] {
        let ran = doctor.run(&["sweep", "--db", "queue.db", "--apply", "--report-file", path]).exits(78);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.starts_with(&format!("error: report file {path} cannot be written")), "{ran:#?}");
    }
    assert_eq!(doctor.rows("queue.db", STATE), before);
}
