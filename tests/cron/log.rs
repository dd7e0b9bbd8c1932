//! `--log-format json`: each line of stderr is one object.

use crate::cli::scene::incident;
use crate::support::cli::{Doctor, Ran, is_valid};
use serde_json::{Value, json};
use std::fs;

fn lines(ran: &Ran) -> Vec<Value> {
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        is_valid("log", &value);
        value
    };
    ran.stderr.lines().map(line).collect()
}

fn messages<'a>(lines: &'a [Value], level: &str) -> Vec<&'a str> {
    lines.iter().filter(|line| line["level"] == level).filter_map(|line| line["message"].as_str()).collect()
}

#[test]
fn every_line_names_the_run() {
    let doctor = incident();
    let words = ["sweep", "--db", "queue.db", "--apply", "--json", "--log-format", "json", "-v", "--warn-above", "2"];
    let ran = doctor.run(&words).exits(0);
    let (lines, document) = (lines(&ran), ran.json());
    assert_eq!(messages(&lines, "info"), ["requeued 3 jobs, failed 1 job, cancelled 1 job"]);
    assert!(messages(&lines, "debug")[0].contains("store time"), "{lines:#?}");
    assert!(messages(&lines, "warning")[0].starts_with("that is more than 2"), "{lines:#?}");
    for line in lines.iter().filter(|line| line["level"] != "debug") {
        assert_eq!(line["run"], document["run_id"]);
        assert!(line["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{line}");
    }
    // Nobody has asked for the table, and what is left is silence.
    doctor.on_queue(&["sweep", "--apply", "--log-format", "json"]).exits(0).is_silent();
}

#[test]
fn errors_have_their_code_and_hints_in_the_same_line() {
    for more in [&[][..], &["--json"]] {
        let doctor = Doctor::new();
        let words = [&["sweep", "--db", "postgres://u:c4n4ry@127.0.0.1:1/app", "--log-format", "json"], more].concat();
        let ran = doctor.run(&words).exits(69);
        let lines = lines(&ran);
        assert_eq!((ran.stdout.as_str(), lines.len()), ("", 1), "{ran:#?}");
        assert_eq!(json!([lines[0]["level"], lines[0]["code"], lines[0]["kind"]]), json!(["error", 69, "unavailable"]));
        assert_eq!(lines[0]["run"], Value::Null, "it has not come so far");
        assert!(!ran.stderr.contains("c4n4ry"));
    }
    let doctor = incident();
    fs::write(doctor.path("c.toml"), "[target.app]\ndb = \"queue.db\"\nread_only = true\n").expect("a config file");
    let ran = doctor.run(&["sweep", "--config", "c.toml", "--apply", "--log-format", "json"]).exits(4);
    let lines = lines(&ran);
    assert_eq!((ran.stdout.as_str(), lines.len()), ("", 1), "{ran:#?}");
    assert!(lines[0]["message"].as_str().is_some_and(|why| why.contains("read-only")));
    assert!(lines[0]["run"].is_string());
}
