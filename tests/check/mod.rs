//! `check` asks the database before it says yes: what an apply would meet is found beforehand, with its place, and nothing is
//! written to find it.

mod owner_rows;
mod postgres;
mod server;
mod sqlite;

use crate::support::cli::{Doctor, is_valid};
use serde_json::Value;
use std::fs;

/// A mapping of a home-made table, to be altered. The file's lines are counted from 1.
const MAPPING: &str = r#"[target.t]
db = "DB"
preset = "m"
[mapping.m]
time = { default = "TIME" }
attempts = { column = "tries", max = 5, counted = "at reclaim", exhausted = "fail" }
[mapping.m.states]
waiting = ["new"]
in_flight = ["working"]
failed = ["dead"]
[mapping.m.claim]
table = "q"
key = "id"
state = "status"
claimed_at = "started"
liveness = [{ by = "heartbeat", column = "pinged", silent_after = "2m" }]
[mapping.m.owner]
id = "worker"
[mapping.m.action.requeue]
to = "new"
clear = ["worker", "started", "pinged"]
[mapping.m.action.fail]
to = "dead"
set = { note = ":reason" }
"#;

/// The columns of that table, some of them declared otherwise.
fn columns(time: &str, otherwise: &[(&str, &str)]) -> String {
    let usual = [
        ("id", "integer primary key"),
        ("status", "text"),
        ("worker", "text"),
        ("started", time),
        ("pinged", time),
        ("tries", "integer not null default 0"),
        ("note", "text"),
    ];
    let declared = usual.map(|(name, usual)| {
        let other = otherwise.iter().find(|(of, _)| *of == name);
        format!("{name} {}", other.map_or(usual, |(_, declared)| declared))
    });
    declared.join(", ")
}

fn configure(doctor: &Doctor, db: &str, time: &str, changes: &[(&str, &str)]) {
    let mut text = MAPPING.replace("DB", db).replace("TIME", time);
    for (from, to) in changes {
        assert!(text.contains(from), "{from} is not in the mapping");
        text = text.replace(from, to);
    }
    fs::write(doctor.path("config.toml"), text).unwrap();
}

fn run(doctor: &Doctor, arguments: &[&str], code: i32) -> Value {
    let ran = doctor.run(&[arguments, &["--config", "config.toml", "-o", "json"]].concat()).exits(code);
    ran.json()
}

/// The findings of `check` that are worse than they should be, which ends like that: each with its severity.
fn findings(doctor: &Doctor, code: i32) -> Vec<String> {
    let document = run(doctor, &["check"], code);
    is_valid("check", &document);
    assert_eq!(document["can_reclaim"], code == 0, "{document:#}");
    let all = document["findings"].as_array().unwrap();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let bad = all.iter().filter(|finding| finding["severity"] != "ok" && finding["id"] != "index");
    bad.map(|finding| format!("{}: {}; {}", text(finding, "severity"), text(finding, "detail"), text(finding, "fix")))
        .collect()
}

/// Expects exactly one such finding, with all these texts in it.
fn finds(doctor: &Doctor, code: i32, texts: &[&str]) {
    let found = findings(doctor, code);
    let [one] = found.as_slice() else { panic!("{texts:?}: {found:#?}") };
    for text in texts {
        assert!(one.contains(text), "{text}: {one}");
    }
}

/// Whether it says that a fail deletes what these tables refer to, and whether that a requeue changes what those do.
fn warns(said: &str, deletes: &str, changes: &str) -> (bool, bool) {
    assert!(!said.contains("others"), "{said}");
    let is_named = |what: &str, tables: &str| {
        let of = "and what refers to it is deleted or changed, which no undo brings back";
        said.contains(&format!("{what} that foreign keys refer to, of table jobs, {of}: {tables}"))
    };
    (is_named("a fail deletes rows", deletes), is_named("a requeue changes columns", changes))
}
