//! Every JSON document is what `jobdoctor schema` says it is, and its numbers add up.

use super::scene::{calm, incident, orphans, simple};
use crate::support::cli::{Doctor, is_valid};
use jobdoctor::preset::Catalog;
use serde_json::Value;

const COUNTS: [&str; 7] = ["moved", "changed", "gone", "locked", "refused", "not_tried", "unknown"];

fn list<'d>(document: &'d Value, name: &str) -> &'d [Value] {
    document[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn adds_up(document: &Value) {
    let steps = list(document, "steps");
    let summary = &document["summary"];
    assert_eq!(summary["planned"], steps.len());
    assert_eq!(summary["skipped"], list(document, "skipped").len());
    let applied = document["applied"] == true;
    let moved = summary["outcomes"]["moved"].as_u64().unwrap_or(0);
    assert_eq!(document["run_id"].is_string(), moved > 0);
    assert_eq!(summary["outcomes"].is_object(), applied);
    for step in steps {
        assert!(step["id"].is_string() && step["state_after"].is_string() && step["action"].is_string(), "{step:#}");
        assert_eq!(step["outcome"].is_string(), applied, "{step:#}");
    }
    if applied {
        let counts: Vec<u64> = COUNTS.iter().map(|name| summary["outcomes"][name].as_u64().unwrap_or(999)).collect();
        assert_eq!(counts.iter().sum::<u64>(), steps.len() as u64);
        for (name, count) in COUNTS.iter().zip(counts) {
            assert_eq!(steps.iter().filter(|step| step["outcome"] == *name).count() as u64, count, "{name}");
        }
    }
}

/// Runs with `-o json`, makes sure of the document, and tells the same line by line.
fn document(doctor: &Doctor, arguments: &[&str], name: &str, code: i32) -> Value {
    let document = doctor.run(&[arguments, &["-o", "json"]].concat()).exits(code).json();
    is_valid(name, &document);
    document
}

#[test]
fn stale() {
    let found = document(&incident(), &["stale", "--db", "queue.db"], "stale", 0);
    let summary = &found["summary"];
    assert_eq!((&summary["in_flight"], &summary["stuck"], &summary["unknown"]), (&8.into(), &6.into(), &1.into()));
    assert_eq!((&summary["returned"], &summary["truncated"]), (&6.into(), &false.into()));
    assert_eq!((list(&found, "jobs").len(), list(&found, "unknown").len()), (6, 1));
    assert_eq!(summary["oldest_silence_seconds"], found["jobs"][0]["silence_seconds"]);
    let silences: Vec<f64> = list(&found, "jobs").iter().filter_map(|job| job["silence_seconds"].as_f64()).collect();
    assert!(silences.is_sorted_by(|a, b| a >= b), "longest silent first: {silences:?}");
    assert!(list(&found, "unknown")[0]["reasons"][0]["detail"].as_str().unwrap().contains("heartbeat_at"));
}

#[test]
fn stale_limited() {
    let found = document(&incident(), &["stale", "--db", "queue.db", "--limit", "2"], "stale", 0);
    let summary = &found["summary"];
    assert_eq!((&summary["stuck"], &summary["returned"], &summary["truncated"]), (&6.into(), &2.into(), &true.into()));
    assert_eq!(list(&found, "jobs")[0]["id"], "5");
    assert_eq!(found["filter"]["limit"], 2);
}

#[test]
fn stale_without_a_limit_of_its_own() {
    assert_eq!(list(&document(&orphans(321), &["stale", "--db", "queue.db"], "stale", 0), "jobs").len(), 321);
}

#[test]
fn stale_empty() {
    let found = document(&calm(), &["stale", "--db", "queue.db", "--older", "90s"], "stale", 0);
    assert_eq!((list(&found, "jobs").len(), &found["summary"]["oldest_silence_seconds"]), (0, &Value::Null));
    assert_eq!(found["filter"]["older_seconds"], 90.0);
}

#[test]
fn what_is_not_known_is_null() {
    let found = document(&simple(), &["stale", "--db", "queue.db", "--preset", "simple"], "stale", 0);
    for job in list(&found, "unknown") {
        for field in ["owner", "host", "claimed_at", "last_seen_at", "silence_seconds", "lease_expires_at", "action"] {
            assert_eq!(job.get(field), Some(&Value::Null), "{field}");
        }
    }
}

#[test]
fn show() {
    let shown = document(&incident(), &["show", "1", "5", "6", "7", "8", "10", "--db", "queue.db"], "show", 0);
    let verdicts: Vec<&str> = list(&shown, "jobs").iter().filter_map(|job| job["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["stuck", "stuck", "healthy", "unknown", "stuck", "healthy"]);
}

#[test]
fn owners() {
    let owners = document(&incident(), &["owners", "--db", "queue.db"], "owners", 0);
    let sum = |field: &str| list(&owners, "owners").iter().filter_map(|owner| owner[field].as_u64()).sum::<u64>();
    assert_eq!((sum("claims"), sum("stuck"), sum("unknown")), (8, 6, 1));
    assert_eq!((&owners["summary"]["in_flight"], &owners["summary"]["owners"]), (&8.into(), &7.into()));
    document(&calm(), &["owners", "--db", "queue.db", "--host", "nobody"], "owners", 0);
}

#[test]
fn reclaim() {
    let doctor = incident();
    let planned = document(&doctor, &["reclaim", "--db", "queue.db"], "reclaim", 0);
    adds_up(&planned);
    assert_eq!((list(&planned, "steps").len(), list(&planned, "skipped").len()), (5, 2));
    let again = document(&doctor, &["reclaim", "--db", "queue.db"], "reclaim", 0);
    assert_eq!(again["digest"], planned["digest"], "no clock goes into the digest");
    let applied = document(&doctor, &["reclaim", "--db", "queue.db", "--apply"], "reclaim", 0);
    adds_up(&applied);
    assert_eq!(applied["digest"], planned["digest"], "the plan is the same");
    assert_eq!(applied["summary"]["outcomes"]["moved"], 5);
    let idle = document(&doctor, &["reclaim", "--db", "queue.db", "--apply"], "reclaim", 0);
    adds_up(&idle);
    assert_ne!(idle["digest"], planned["digest"]);
}

#[test]
fn reclaim_refused_by_the_database() {
    let doctor = incident();
    doctor.sql(
        "queue.db",
        "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id = 3 BEGIN SELECT raise(ABORT, 'job 3 is precious'); END",
    );
    let applied = document(&doctor, &["reclaim", "--db", "queue.db", "--apply"], "reclaim", 3);
    adds_up(&applied);
    let refused = list(&applied, "steps").iter().find(|step| step["outcome"] == "refused").unwrap();
    assert_eq!((&refused["id"], &refused["error"]["message"]), (&"3".into(), &"job 3 is precious".into()));
    assert_eq!(refused["error"]["sqlstate"], "SQLITE_CONSTRAINT_TRIGGER");
}

#[test]
fn reclaim_refused_by_a_guard() {
    let refused = document(&incident(), &["reclaim", "--db", "queue.db", "--apply", "--max-jobs", "1"], "reclaim", 4);
    adds_up(&refused);
    assert_eq!(refused["applied"], false);
    assert!(refused["refused"].as_str().unwrap().contains("--max-jobs"), "{refused:#}");
}

#[test]
fn reclaim_of_ids_that_are_not_there() {
    let named = ["reclaim", "--db", "queue.db", "--id", "1", "--id", "99", "--id", "6"];
    let planned = document(&incident(), &named, "reclaim", 3);
    adds_up(&planned);
    assert_eq!(planned["not_found"], serde_json::json!(["99"]));
    assert_eq!(
        (list(&planned, "steps")[0]["id"].as_str(), list(&planned, "skipped")[0]["id"].as_str()),
        (Some("1"), Some("6"))
    );
    assert_eq!(list(&planned, "skipped")[0]["reason"], "healthy");
}

#[test]
fn sweep() {
    let doctor = incident();
    adds_up(&document(&doctor, &["sweep", "--db", "queue.db"], "sweep", 0));
    adds_up(&document(&doctor, &["sweep", "--db", "queue.db", "--apply"], "sweep", 0));
    adds_up(&document(&doctor, &["sweep", "--db", "queue.db", "--apply"], "sweep", 0));
    let restart = document(&doctor, &["sweep", "--restart", "--host", "web10", "--db", "queue.db"], "sweep", 0);
    adds_up(&restart);
    assert_eq!(restart["filter"]["restart"], true);
}

#[test]
fn check_init_and_presets() {
    document(&incident(), &["check", "--db", "queue.db"], "check", 0);
    document(&simple(), &["check", "--db", "queue.db", "--preset", "simple"], "check", 0);
    document(&Doctor::new(), &["init", "--db", "queue.db"], "init", 0);
    document(&Doctor::new(), &["init", "--db", "queue.db", "--print"], "init", 0);
    document(&Doctor::new(), &["presets"], "presets", 0);
    for preset in Catalog::built_in().unwrap().iter() {
        document(&Doctor::new(), &["presets", "show", &preset.name], "presets-show", 0);
    }
}

/// The same, told line by line: head, items, summary.
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

#[test]
fn schemas_are_schemas() {
    for name in
        ["check", "error", "health", "init", "owners", "presets", "presets-show", "reclaim", "show", "stale", "sweep"]
    {
        let schema = Doctor::new().run(&["schema", name]).exits(0).json();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["title"], format!("jobdoctor.{name}/v1"));
    }
}
