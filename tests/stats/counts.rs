//! `stats`: how many jobs are in which queue and state.

use super::place::on_empty;
use crate::support::ages::is_aged;
use crate::support::shop::on_both;
use serde_json::{Value, json};
use std::time::Instant;

const SOME: &str = "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at) VALUES
    ('mail', 'A', 'QUEUED', NULL, NULL), ('mail', 'A', 'QUEUED', NULL, NULL), ('mail', 'B', 'QUEUED', NULL, NULL),
    ('mail', 'A', 'RUNNING', 'web1:1', {ago 7230}), ('mail', 'A', 'CLAIMED', 'web1:1', {ago 630}),
    ('mail', 'A', 'SUCCEEDED', NULL, {ago 630}), ('mail', 'A', 'TIMED_OUT', NULL, NULL),
    ('mail', 'A', 'FAILED', NULL, NULL), ('media', 'A', 'CANCELLED', NULL, NULL),
    ('media', 'A', 'RUNNING', NULL, {ago -7200});";

#[test]
fn by_queue_and_state() {
    on_both(|place| {
        place.sql(SOME);
        let document = place.run(&["stats", "--json"]).exits(0).document("stats");
        let summary = &document["summary"];
        let counts = ["queues", "waiting", "in_flight", "stuck", "unknown", "done", "failed", "cancelled", "other"];
        let found: Vec<u64> = counts.iter().filter_map(|name| summary[name].as_u64()).collect();
        assert_eq!(found, [2, 3, 3, 1, 1, 1, 2, 1, 0]);
        let queues = document["queues"].as_array().unwrap();
        assert_eq!(queues.iter().map(|queue| &queue["queue"]).collect::<Vec<_>>(), ["mail", "media"]);
        let [mail, media] = [&queues[0], &queues[1]];
        assert_eq!(
            mail["states"],
            json!([
                {"state": "QUEUED", "meaning": "waiting", "jobs": 3},
                {"state": "CLAIMED", "meaning": "in_flight", "jobs": 1},
                {"state": "RUNNING", "meaning": "in_flight", "jobs": 1},
                {"state": "SUCCEEDED", "meaning": "done", "jobs": 1},
                {"state": "FAILED", "meaning": "failed", "jobs": 1},
                {"state": "TIMED_OUT", "meaning": "failed", "jobs": 1},
            ])
        );
        let seconds = |queue: &Value, name: &str| queue[name].as_f64();
        let [oldest, stuck] =
            ["oldest_in_flight_seconds", "oldest_stuck_seconds"].map(|name| seconds(mail, name).unwrap());
        assert!((7229.0..7290.0).contains(&oldest) && (7229.0..7290.0).contains(&stuck), "{oldest} {stuck}");
        // A claim from the future is unknown, and has no age.
        assert_eq!(
            (seconds(media, "oldest_in_flight_seconds"), &media["oldest_stuck_seconds"]),
            (Some(0.0), &Value::Null)
        );
        assert_eq!(document["findings"], json!([]));
    });
}

#[test]
fn as_table_csv_names_and_lines() {
    on_both(|place| {
        let began = Instant::now();
        place.sql(SOME);
        let table = place.run(&["stats"]).exits(0);
        is_aged(
            &table.stdout,
            "QUEUE  WAITING  IN FLIGHT  STUCK  UNKNOWN  DONE  FAILED  OLDEST DUE  OLDEST CLAIM  LONGEST STUCK
             mail         3          2      1        0     1       2          0s        2h 30s   2h 30s █████
             media        0          1      0        1     0       0           -            0s              -",
            began,
        );
        assert!(table.stderr.contains("2 queues: 3 in flight, 1 stuck, 1 unknown\n"), "{}", table.stderr);
        assert_eq!(place.run(&["stats", "-o", "name"]).exits(0).stdout, "mail\nmedia\n");
        let csv = place.run(&["stats", "-o", "csv"]).exits(0).stdout;
        assert!(csv.starts_with("queue,waiting,in_flight,stuck,unknown,done,failed,cancelled,other,"), "{csv}");
        assert!(csv.lines().nth(1).unwrap().starts_with("mail,3,2,1,0,1,2,0,0,3,"), "{csv}");
        let lines = place.run(&["stats", "-o", "jsonl"]).exits(0).stdout;
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let types: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
        assert_eq!(types, ["head", "queue", "queue", "summary"]);
        assert!(lines[0]["findings"].is_array() && lines[0]["filter"].is_object());
    });
}

#[test]
fn of_some_queues_and_kinds() {
    on_both(|place| {
        place.sql(SOME);
        let summary =
            |more: &[&str]| place.run(&[&["stats", "--json"], more].concat()).exits(0).json()["summary"].clone();
        let media = summary(&["--queue", "med*"]);
        assert_eq!((&media["queues"], &media["cancelled"], &media["in_flight"]), (&1.into(), &1.into(), &1.into()));
        let b = summary(&["--kind", "B"]);
        assert_eq!((&b["waiting"], &b["in_flight"], &b["done"]), (&1.into(), &0.into(), &0.into()));
        assert_eq!(summary(&["--kind", "C"])["queues"], 0);
        assert_eq!(summary(&["--older", "5m"])["stuck"], 2);
    });
}

/// Names that would clear the screen or forge a row; and a row without a queue, in a state that nobody knows.
#[test]
fn hostile_names() {
    on_empty(|place| {
        place.sql(
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, kind TEXT, status TEXT, owner_id TEXT, claimed_at {time});
            INSERT INTO jobs VALUES (1, '\u{1b}[2J\nmail', NULL, 'QUEUED', NULL, NULL), (2, NULL, NULL, 'ODD\n', NULL, NULL),
                (3, NULL, NULL, NULL, NULL, NULL);",
        );
        let ran = place.run(&["stats", "--preset", "lease"]).exits(0);
        assert!(ran.stdout.contains("\\x1b[2J\\nmail") && !ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
        ran.shows("(no queue)").shows("! rows are in states that preset lease does not have: NULL, ODD\\n");
        let document = place.run(&["stats", "--preset", "lease", "--json"]).exits(0).document("stats");
        assert_eq!(document["summary"]["other"], 2);
        assert_eq!(document["queues"][1]["queue"], "\u{1b}[2J\nmail");
    });
}
