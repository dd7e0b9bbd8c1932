//! Many rows that cannot be helped.

use crate::support::shop::on_both;
use serde_json::Value;

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
