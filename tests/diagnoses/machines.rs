//! The documents.

use super::fleet::{at, incident, put};
use crate::support::shop::on_both;
use serde_json::{Value, json};

#[track_caller]
fn adds_up(document: &Value) {
    let diagnoses = document["diagnoses"].as_array().unwrap();
    let others = ["no_claim_time", "clock", "zone", "unjudged"];
    let of_their_own = diagnoses.iter().filter(|one| !others.contains(&one["diagnosis"].as_str().unwrap()));
    let grouped: u64 = of_their_own.map(|diagnosis| diagnosis["jobs"].as_u64().unwrap()).sum();
    assert_eq!(grouped + document["summary"]["alone"].as_u64().unwrap(), document["summary"]["stuck"], "{document:#}");
    assert_eq!(document["summary"]["diagnoses"], diagnoses.len() as u64);
}

#[test]
fn fields() {
    on_both(|queue| {
        put(queue, &incident());
        put(queue, &[at("web", "A", "lone:1", 90_000, 80_000)]);
        let document = queue.run(&["stale", "--json"]).exits(0).document("stale");
        adds_up(&document);
        assert_eq!(document["summary"]["alone"], 0);
        let [host, kind, lone] = document["diagnoses"].as_array().unwrap().as_slice() else { panic!("{document:#}") };
        assert_eq!(json!([host["diagnosis"], host["host"], host["owner"]]), json!(["vanished", "host-7", null]));
        assert_eq!((&host["jobs"], &host["hosts"], &host["owners"]), (&312.into(), &1.into(), &5.into()));
        let newest = document["jobs"].as_array().unwrap().iter().filter(|job| job["host"] == "host-7");
        assert_eq!(host["until_at"], *newest.map(|job| &job["last_seen_at"]).max_by_key(|at| at.to_string()).unwrap());
        assert_eq!(json!([kind["diagnosis"], kind["kind"], kind["host"]]), json!(["hangs", "ResizeVideo", null]));
        assert_eq!((&kind["jobs"], &kind["hosts"], &kind["owners"]), (&18.into(), &6.into(), &6.into()));
        assert_eq!(json!([lone["diagnosis"], lone["host"], lone["jobs"]]), json!(["vanished", "lone", 1]));
        let lines = queue.run(&["stale", "-o", "jsonl"]).exits(0).stdout;
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines[1..4].iter().all(|line| line["type"] == "diagnosis"), "diagnoses come before jobs");
    });
}

#[test]
fn the_summary_holds_no_jobs() {
    on_both(|queue| {
        put(queue, &incident());
        let document = queue.run(&["stale", "--json", "--summary"]).exits(0).document("stale");
        adds_up(&document);
        assert_eq!((&document["jobs"], &document["unknown"]), (&Value::Array(vec![]), &Value::Array(vec![])));
        assert_eq!((&document["summary"]["stuck"], &document["summary"]["returned"]), (&330.into(), &0.into()));
        assert_eq!(json!([document["summary"]["in_flight"], document["summary"]["truncated"]]), json!([360, false]));
    });
}

/// Of jobs that are named nothing is known about their neighbours.
#[test]
fn none_of_jobs_that_are_named_and_none_of_nothing() {
    on_both(|queue| {
        let empty = queue.run(&["stale", "--json"]).exits(0).document("stale");
        adds_up(&empty);
        put(queue, &incident());
        let named = ["stale", "--db", &queue.url, "--json", "--id", "1", "--id", "2"];
        let named = queue.doctor.run(&named).exits(0).json();
        assert_eq!((&named["diagnoses"], &named["summary"]["alone"]), (&Value::Array(vec![]), &2.into()));
        // A limit leaves jobs out of the list, not out of what happened.
        let limited = queue.run(&["stale", "--json", "--limit", "1"]).exits(0).json();
        assert_eq!(limited["diagnoses"].as_array().unwrap().len(), 2);
        adds_up(&limited);
    });
}
