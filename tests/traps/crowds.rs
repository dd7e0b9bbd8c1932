//! Many rows that cannot be helped, and several copies of the program at once.

use crate::files::waiting::Waiting;
use crate::support::cli::until;
use crate::support::shop::on_both;
use serde_json::Value;
use std::collections::BTreeSet;

/// Most of them may not go where they are told to go; a thousand would break a unique key.
#[test]
fn ten_thousand_unreclaimable_rows_are_sorted_before_one_reclaimable_row() {
    on_both(|shop| {
        shop.sql(
            "CREATE UNIQUE INDEX one_waiting_twin ON jobs (kind) WHERE status = 'QUEUED' AND kind = 'Twin';
             INSERT INTO jobs (id, queue, kind) VALUES (20000, 'mail', 'Twin')",
        );
        shop.in_flight(1, 10_000, "'web1:7'", 40_000);
        shop.sql(
            "UPDATE jobs SET attempts = 4 WHERE id <= 9000;
             UPDATE jobs SET kind = 'Twin' WHERE id BETWEEN 9001 AND 10000",
        );
        shop.in_flight(10_001, 10_001, "'web1:7'", 30_000);
        let asked = ["reclaim", "--to", "requeue", "--max-jobs", "20000", "--apply", "--json"];
        let document = shop.run(&asked).exits(3).json();
        let (summary, outcomes) = (&document["summary"], &document["summary"]["outcomes"]);
        assert_eq!((&summary["skipped"], &outcomes["refused"]), (&9_000.into(), &1_000.into()), "{summary}");
        assert_eq!(outcomes["moved"], 1, "{summary}");
        let moved = |step: &&Value| step["outcome"] == "moved";
        let steps = document["steps"].as_array().expect("the steps");
        assert_eq!(steps.iter().find(moved).expect("one")["id"], "10001");
        assert_eq!(shop.rows("SELECT id FROM jobs WHERE status = 'QUEUED' ORDER BY id"), ["10001", "20000"]);
    });
}

const JOBS: u32 = 1_500;
const RUNS: usize = 3;

/// All have looked before any can write, so that each of them means to move every job.
#[test]
fn of_runs_in_parallel_the_effects_add_up_to_one_and_the_later_ones_say_so() {
    on_both(|shop| {
        shop.open_to_many();
        for _ in 0..10 {
            shop.sql("DELETE FROM jobs");
            shop.in_flight(1, JOBS, "'web1:' || n", 600);
            let mut holder = shop.hold();
            let reclaim = shop.with_db(&["reclaim", "--apply", "--json", "--max-jobs", "5000"]);
            let waiting: Vec<_> = (0..RUNS).map(|_| Waiting::start(&shop.doctor, &reclaim)).collect();
            until("all wait to write", || shop.waiting().is_none_or(|waiting| waiting == RUNS));
            holder("COMMIT");
            let ended: Vec<Value> = waiting.into_iter().map(|waiting| waiting.end().json()).collect();
            if ended.iter().any(|document| document["summary"]["planned"] != JOBS) {
                continue;
            }
            let of =
                |document: &Value, outcome: &str| document["summary"]["outcomes"][outcome].as_u64().expect("a number");
            let moved: u64 = ended.iter().map(|document| of(document, "moved")).sum();
            assert_eq!(moved, u64::from(JOBS), "each job by one of them");
            for document in &ended {
                let others = of(document, "changed") + of(document, "locked");
                assert_eq!(of(document, "moved") + others, u64::from(JOBS), "{}", document["summary"]);
            }
            assert!(ended.iter().filter(|document| of(document, "moved") < u64::from(JOBS)).count() >= RUNS - 1);
            assert_eq!(shop.rows("SELECT DISTINCT status, attempts, stalls FROM jobs"), ["QUEUED 1 1"]);
            let runs: Vec<&str> = ended.iter().filter_map(|document| document["run_id"].as_str()).collect();
            let different: BTreeSet<&&str> = runs.iter().collect();
            assert_eq!(different.len(), runs.len(), "each run that moved something has an id of its own");
            return;
        }
        panic!("they never all look in time");
    });
}

/// A long list is kept as JSON, from which a table cannot make its shorter sentences.
#[test]
fn a_table_of_a_long_list_is_worded_as_one_of_a_short_list() {
    on_both(|shop| {
        let table = |last: u32| {
            shop.in_flight(last - 49, last, "'web1:7'", 40_000);
            shop.run(&["reclaim", "--max-jobs", "20000"]).exits(0).stdout
        };
        let short = table(50);
        assert!(short.contains("lease ran out") && !short.contains("lease ran out 1"), "{short}");
        shop.in_flight(51, 5_000, "'web1:7'", 30_000);
        let rows = |table: &str| table.lines().filter(|line| line.contains("lease ran out")).count();
        let long = shop.run(&["reclaim", "--max-jobs", "20000"]).exits(0).stdout;
        assert_eq!(rows(&long), rows(&short), "{long}");
        assert!(!long.contains("lease ran out 1"), "{long}");
        let document = shop.run(&["reclaim", "--max-jobs", "20000", "--json"]).exits(0).json();
        let step = &document["steps"][4_999];
        assert!(step["reasons"][0]["detail"].as_str().is_some_and(|detail| detail.ends_with(" ago")), "{step}");
        assert!(step.get("findings").is_none(), "{step}");
    });
}
