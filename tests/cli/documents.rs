//! What each command prints, whole, and that its documents are what `jobdoctor schema` says they are.

use super::scene::{calm, incident, orders, simple};
use crate::support::cli::{Doctor, is_valid};
use insta::assert_snapshot;
use serde_json::Value;

type Scene = fn() -> Doctor;

const LIST: &[&str] = &["table", "wide", "json", "csv", "name"];
const FACTS: &[&str] = &["table", "json"];

/// A document's name, the scene that it tells of, the command, and the formats that its snapshot shows.
const DOCUMENTS: [(&str, Scene, &str, &[&str]); 14] = [
    ("stale", incident, "stale --db queue.db", LIST),
    ("stale_calm", calm, "stale --db queue.db --older 90s", LIST),
    ("stale_limited", incident, "stale --db queue.db --limit 2", FACTS),
    ("stale_simple", simple, "stale --db queue.db --preset simple", FACTS),
    ("owners", incident, "owners --db queue.db", LIST),
    ("owners_of_nobody", calm, "owners --db queue.db --host nobody", FACTS),
    ("reclaim", incident, "reclaim --db queue.db", LIST),
    ("reclaim_applied", incident, "reclaim --db queue.db --apply", LIST),
    ("sweep_applied", incident, "sweep --db queue.db --apply", LIST),
    ("show", incident, "show 9 4 --db queue.db", FACTS),
    ("check", calm, "check --db queue.db", FACTS),
    ("presets", Doctor::new, "presets", FACTS),
    ("presets_show", Doctor::new, "presets show simple", &["json"]),
    ("init", Doctor::new, "init --db queue.db", FACTS),
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn shown(scene: Scene, line: &str) -> String {
    format!("$ jobdoctor {line}\n{}\n", scene().run(&words(line)).whole())
}

#[test]
fn in_every_format() {
    for (name, scene, line, formats) in DOCUMENTS {
        let of = |format: &&str| shown(scene, &format!("{line} -o {format}"));
        assert_snapshot!(name, formats.iter().map(of).collect::<String>());
        let document = scene().run(&words(&format!("{line} -o json"))).json();
        let schema = document["schema"].as_str().unwrap().to_owned();
        is_valid(schema.trim_start_matches("jobdoctor.").trim_end_matches("/v1"), &document);
        let silent = scene().run(&words(&format!("{line} -o none"))).exits(0);
        assert_eq!(silent.stdout, "", "{line}");
    }
}

const ORDERS: &str = "--db orders.db --config config.toml --preset orders";

#[test]
fn for_people() {
    let screens: [(&str, Scene, &str, &[&str]); 6] = [
        ("calm", calm, "--db queue.db", &["stale --verbose", "stale", "reclaim", "owners", "sweep --apply -o table"]),
        (
            "groups",
            incident,
            "--db queue.db",
            &[
                "stale --by host",
                "stale --by owner",
                "stale --by kind",
                "stale --by queue",
                "stale --by host --queue reports -o jsonl",
            ],
        ),
        ("shown", incident, "--db queue.db", &["show 2", "show 5", "show 6 8", "show 7", "show 10"]),
        (
            "plans",
            incident,
            "--db queue.db",
            &[
                "check",
                "reclaim --owner web10:* --rule deadline_passed",
                "reclaim --id 2 --to requeue --apply",
                "reclaim --id 6 --id 9 --apply",
                "reclaim --id 1 --id 99",
                "reclaim --apply --max-jobs 4",
                "reclaim --apply -q -o name",
            ],
        ),
        (
            "without_owners",
            simple,
            "--db queue.db --preset simple",
            &["show 1", "check", "sweep --restart --all-owners"],
        ),
        ("orders", orders, ORDERS, &["stale", "show 1 3", "reclaim", "check"]),
    ];
    for (name, scene, place, lines) in screens {
        assert_snapshot!(name, lines.iter().map(|line| shown(scene, &format!("{line} {place}"))).collect::<String>());
    }
}

#[test]
fn in_color() {
    let lines = [
        "stale --db queue.db -o wide",
        "show 2 6 7 --db queue.db",
        "reclaim --db queue.db --apply",
        "check --db queue.db",
        "presets",
        "stale --db none.db",
    ];
    let of = |line: &str| shown(incident, &format!("{line} --color always"));
    assert_snapshot!(lines.map(of).concat());
}

fn list<'d>(document: &'d Value, name: &str) -> &'d [Value] {
    document[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn counts_add_up() {
    let trigger = "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id = 3 BEGIN SELECT raise(ABORT, 'precious'); END";
    for (sql, line, code) in [
        ("", "reclaim", 0),
        ("", "reclaim --apply", 0),
        (trigger, "reclaim --apply", 3),
        ("", "reclaim --apply --max-jobs 1", 4),
        ("", "reclaim --id 1 --id 99 --id 6", 3),
        ("", "sweep", 0),
        ("", "sweep --apply", 0),
        ("DELETE FROM jobs", "sweep --apply", 0),
        ("", "sweep --restart --host web10", 0),
    ] {
        let doctor = incident();
        doctor.sql(sql);
        let document = doctor.run(&words(&format!("{line} --db queue.db -o json"))).exits(code).json();
        is_valid(words(line)[0], &document);
        let (steps, summary) = (list(&document, "steps"), &document["summary"]);
        assert_eq!(
            (&summary["planned"], &summary["skipped"]),
            (&steps.len().into(), &list(&document, "skipped").len().into())
        );
        let is_applied = document["applied"] == true;
        assert_eq!(document["run_id"].is_string(), summary["outcomes"]["moved"].as_u64() > Some(0), "{line}");
        assert_eq!(summary["outcomes"].is_object(), is_applied, "{line}");
        assert!(steps.iter().all(|step| step["outcome"].is_string() == is_applied), "{document:#}");
        for (name, count) in summary["outcomes"].as_object().into_iter().flatten() {
            assert_eq!(steps.iter().filter(|step| step["outcome"] == *name).count(), count.as_u64().unwrap() as usize);
        }
    }
}

#[test]
fn lines_say_what_the_document_says() {
    for (arguments, lists) in [
        (
            &["stale", "--db", "queue.db"][..],
            &[("diagnosis", "diagnoses"), ("group", "groups"), ("job", "jobs"), ("unknown", "unknown")][..],
        ),
        (
            &["stale", "--db", "queue.db", "--by", "kind"],
            &[("diagnosis", "diagnoses"), ("group", "groups"), ("job", "jobs"), ("unknown", "unknown")],
        ),
        (&["reclaim", "--db", "queue.db"], &[("diagnosis", "diagnoses"), ("step", "steps"), ("skipped", "skipped")]),
        (&["sweep", "--db", "queue.db"], &[("diagnosis", "diagnoses"), ("step", "steps"), ("skipped", "skipped")]),
        (&["owners", "--db", "queue.db"], &[("owner", "owners")]),
    ] {
        let doctor = incident();
        let whole = doctor.run(&[arguments, &["-o", "json"]].concat()).exits(0).json();
        let told = doctor.run(&[arguments, &["-o", "jsonl"]].concat()).exits(0).stdout;
        let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (head, summary) = (&lines[0], &lines[lines.len() - 1]);
        assert_eq!((&head["type"], &head["schema"]), (&"head".into(), &whole["schema"]));
        assert_eq!(head.as_object().unwrap().keys().next().unwrap(), "type");
        assert_eq!(summary["type"], "summary");
        for (field, value) in whole["summary"].as_object().unwrap() {
            if !field.ends_with("_seconds") {
                assert_eq!(&summary[field], value, "{field}");
            }
        }
        for (kind, name) in lists {
            let ids = |items: &[&Value]| {
                items.iter().map(|item| item.get("id").or(item.get("owner")).cloned()).collect::<Vec<_>>()
            };
            let told: Vec<&Value> = lines.iter().filter(|line| line["type"] == *kind).collect();
            assert_eq!(ids(&told), ids(&list(&whole, name).iter().collect::<Vec<_>>()), "{kind}");
        }
        let items: usize = lists.iter().map(|(_, name)| list(&whole, name).len()).sum();
        assert_eq!(lines.len(), items + 2);
        // What is in the document outside of its lists and its summary is in the head.
        for field in whole.as_object().unwrap().keys() {
            let is_list = lists.iter().any(|(_, name)| name == field);
            assert!(is_list || field == "summary" || head.get(field).is_some(), "the head lacks {field}");
        }
    }
}
