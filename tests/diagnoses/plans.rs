//! Above a plan: what happened to the jobs that were asked for, as a listing says it.

use super::fleet::{incident, put};
use crate::support::cli::is_valid;
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

/// The diagnoses of a plan: how many jobs each is about.
#[track_caller]
fn jobs(queue: &Shop, words: &[&str]) -> Vec<u64> {
    let document = queue.doctor.run(&[words, &["--db", &queue.url, "--json"]].concat()).exits(0).json();
    is_valid(words[0], &document);
    let diagnoses = document["diagnoses"].as_array().unwrap();
    assert_eq!(document["summary"]["diagnoses"], diagnoses.len() as u64);
    diagnoses.iter().map(|diagnosis| diagnosis["jobs"].as_u64().unwrap()).collect()
}

#[test]
fn what_happened_to_the_jobs_of_the_plan() {
    on_both(|queue| {
        put(queue, &incident());
        for command in ["reclaim", "sweep"] {
            assert_eq!(jobs(queue, &[command]), [312, 18]);
            let table = queue.run(&[command, "-o", "table"]).exits(0).stdout.replace("\n    ", " ");
            let first = table.lines().next().unwrap();
            assert!(first.starts_with("host host-7 vanished 2h 10m ago, "), "{table}");
            assert!(
                table.lines().nth(1).unwrap().starts_with("kind ResizeVideo hangs on 6 living hosts: 18 jobs"),
                "{table}"
            );
        }
        assert_eq!(jobs(queue, &["reclaim", "--queue", "mail"]), [12]);
        // A limit leaves steps out, not what happened.
        assert_eq!(jobs(queue, &["reclaim", "--limit", "3"]), [312, 18]);
        assert_eq!(jobs(queue, &["reclaim", "--limit", "3", "--confirm-after", "3s"]), [312, 18]);
        // Named jobs say nothing about their owners, and a restart sweep is told who is dead.
        assert_eq!(jobs(queue, &["reclaim", "--id", "1", "--id", "2"]), [0; 0]);
        assert_eq!(jobs(queue, &["sweep", "--restart", "--host", "host-7"]), [0; 0]);
        let lines = queue.run(&["reclaim", "-o", "jsonl"]).exits(0).stdout;
        let line: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
        assert_eq!((&line["type"], &line["host"]), (&"diagnosis".into(), &"host-7".into()));
        // The report of an apply is about what was done.
        let applied = ["reclaim", "--db", &queue.url, "--limit", "3", "--apply"];
        let applied = queue.doctor.run(&applied).exits(0).stdout;
        assert!(applied.starts_with("ID "), "{applied}");
        assert_eq!(jobs(queue, &["reclaim", "--limit", "3", "--apply"]), [312, 15]);
    });
}
