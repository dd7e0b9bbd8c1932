//! What somebody has touched since is skipped, and named. `conformance::record` tries every column in every store.

use super::queue::on_both;
use serde_json::Value;

fn first(document: &Value, list: &str) -> Value {
    document[list].as_array().unwrap().iter().find(|job| job["id"] == "1").unwrap().clone()
}

#[test]
fn claimed_finished_edited_or_deleted() {
    for (happens, reason, detail) in [
        (
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web9:1', lease_token = 'new' WHERE id = 1",
            "changed",
            "changed since that run: it is RUNNING now",
        ),
        ("UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 1", "changed", "changed since that run: it is SUCCEEDED now"),
        // Only a column that the run never wrote, and that no verdict rests on.
        ("UPDATE jobs SET payload = 'other' WHERE id = 1", "changed", "changed since that run"),
        ("DELETE FROM jobs WHERE id = 1", "gone", ""),
    ] {
        on_both(|queue| {
            let before = queue.dump("jobs");
            let run = queue.reclaimed();
            queue.sql(happens);
            let row = queue.row(1);
            assert_eq!(queue.json(&["undo", &run], 0)["summary"]["planned"], 3, "{happens}");
            let undone = queue.json(&["undo", &run, "--apply"], 3);
            let skipped = first(&undone, "skipped");
            assert_eq!(undone["summary"]["outcomes"]["moved"], 3, "{happens}: {undone:#}");
            assert_eq!(skipped["reason"], reason, "{happens}: {undone:#}");
            assert!(detail.is_empty() || skipped["detail"] == detail, "{happens}: {undone:#}");
            assert_eq!(queue.row(1), row, "{happens}: it is as it was");
            let after = queue.dump("jobs");
            let others = if row.is_empty() { &after[..] } else { &after[1..] };
            assert_eq!(others, &before[1..], "{happens}: the others are back");
        });
    }
}

/// It was claimed, and given back by a run after this one: state and owner are as this run left them.
#[test]
fn reclaimed_once_more() {
    on_both(|queue| {
        let first_run = queue.reclaimed();
        queue.sql(
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web9:1', lease_expires_at = {ago 90000} WHERE id = 1",
        );
        let second = queue.applied(&["reclaim"]);
        let row = queue.row(1);
        let undone = queue.json(&["undo", &first_run, "--apply"], 3);
        assert_eq!(first(&undone, "skipped")["detail"], "changed since that run");
        assert_eq!(queue.row(1), row);
        // The later one can be taken back, and then the worker's claim is there again.
        let undone = queue.json(&["undo", &second, "--apply"], 0);
        assert_eq!(undone["summary"]["outcomes"]["moved"], 1);
        assert_eq!(queue.rows("SELECT owner_id FROM jobs WHERE id = 1"), ["web9:1"]);
    });
}

#[test]
fn a_column_that_is_new() {
    on_both(|queue| {
        let run = queue.reclaimed();
        queue.sql("ALTER TABLE jobs ADD COLUMN extra text");
        let before = queue.dump("jobs");
        let undone = queue.json(&["undo", &run, "--apply"], 3);
        assert_eq!((&undone["summary"]["planned"], &undone["summary"]["skipped"]), (&0.into(), &4.into()));
        assert!(undone["warnings"][0].as_str().unwrap().contains("columns"), "{undone:#}");
        assert_eq!(queue.dump("jobs"), before);
    });
}

/// One of them would break a rule of the table now: it is named, and the others are given back.
#[test]
fn refused_by_the_database() {
    on_both(|queue| {
        let run = queue.reclaimed();
        queue.sql("CREATE UNIQUE INDEX one_running ON jobs (lease_token) WHERE status = 'RUNNING'");
        queue.sql("UPDATE jobs SET lease_token = 'a' WHERE id = 5");
        let undone = queue.json(&["undo", &run, "--apply"], 3);
        let ended = &undone["summary"]["outcomes"];
        assert_eq!((&ended["moved"], &ended["refused"]), (&3.into(), &1.into()), "{undone:#}");
        let constraint = first(&undone, "steps")["error"]["constraint"].to_string();
        assert!(constraint.contains(queue.pick("lease_token", "one_running")), "{constraint}");
    });
}
