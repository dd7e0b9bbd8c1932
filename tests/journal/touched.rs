//! What somebody has touched since is skipped, and named.

use super::queue::{Queue, on_both};
use serde_json::Value;

/// Lets something happen to job 1 between the run and its undo, which must leave that job alone and give back the others.
fn touched(queue: &Queue, happens: &str, reason: &str) -> Value {
    let before = queue.dump("jobs");
    let run = queue.reclaimed();
    queue.sql(happens);
    let row = queue.row(1);
    let planned = queue.json(&["undo", &run], 0);
    assert_eq!(planned["summary"]["planned"], 3, "{happens}: {planned:#}");
    let undone = queue.json(&["undo", &run, "--apply"], 3);
    let moved = &undone["summary"]["outcomes"]["moved"];
    assert_eq!((moved, &skipped(&undone)["reason"]), (&3.into(), &reason.into()), "{happens}: {undone:#}");
    assert_eq!(queue.row(1), row, "{happens}: it is as it was");
    let others = |dump: Vec<String>| dump.into_iter().skip(1).collect::<Vec<_>>();
    let after = queue.dump("jobs");
    let after = if row.is_empty() { after } else { others(after) };
    assert_eq!(after, others(before), "{happens}: the others are back");
    undone
}

/// Job 1 among those that are skipped.
fn skipped(document: &Value) -> Value {
    document["skipped"].as_array().unwrap().iter().find(|job| job["id"] == "1").unwrap().clone()
}

fn one(document: &Value) -> Value {
    document["steps"].as_array().unwrap().iter().find(|step| step["id"] == "1").unwrap().clone()
}

#[test]
fn claimed_by_a_worker() {
    on_both(|queue| {
        let claim = queue.pick(
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web9:1', lease_token = 'new', claimed_at = unixepoch() WHERE id = 1",
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web9:1', lease_token = 'new', claimed_at = now() WHERE id = 1",
        );
        let undone = touched(queue, claim, "changed");
        assert_eq!(skipped(&undone)["detail"], "changed since that run: it is RUNNING now");
    });
}

#[test]
fn finished() {
    on_both(|queue| {
        let undone = touched(queue, "UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 1", "changed");
        assert_eq!(skipped(&undone)["detail"], "changed since that run: it is SUCCEEDED now");
    });
}

/// Only a column that the run never wrote, and that no verdict rests on.
#[test]
fn edited_where_the_run_never_wrote() {
    on_both(|queue| drop(touched(queue, "UPDATE jobs SET payload = 'other' WHERE id = 1", "changed")));
}

#[test]
fn edited_and_edited_back_to_nearly_the_same() {
    on_both(|queue| {
        let edits = "UPDATE jobs SET queue = 'other' WHERE id = 1; UPDATE jobs SET queue = 'mail', error_code = '' WHERE id = 1";
        touched(queue, edits, "changed");
    });
}

/// What has become of it looks like before the run in every column that tells who holds it, but for a heartbeat.
#[test]
fn the_same_owner_has_it_again() {
    on_both(|queue| {
        let again = queue.pick(
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web1:1', lease_token = 'a', claimed_at = 1577836800, heartbeat_at = 1577836800 + 1,
             lease_expires_at = 1577836800, run_at = 'some day', attempts = 0, stalls = 0, error_detail = NULL WHERE id = 1",
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web1:1', lease_token = 'a',
             claimed_at = '2020-01-01 00:00:00.000001+02', heartbeat_at = '2020-01-02', attempts = 0, stalls = 0,
             lease_expires_at = '2020-01-01 00:00:00.123456', run_at = '2020-02-29 23:59:59.999999+00', error_detail = NULL
             WHERE id = 1",
        );
        touched(queue, again, "changed");
    });
}

/// It was claimed, and given back by a run after this one: state and owner are as this run left them.
#[test]
fn reclaimed_once_more() {
    on_both(|queue| {
        let claim = queue.pick(
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web9:1', lease_expires_at = 1577836800 WHERE id = 1",
            "UPDATE jobs SET status = 'RUNNING', owner_id = 'web9:1', lease_expires_at = '2020-01-01' WHERE id = 1",
        );
        let first = queue.reclaimed();
        queue.sql(claim);
        let second = queue.json(&["reclaim", "--apply"], 0)["run_id"].as_str().unwrap().to_owned();
        let row = queue.row(1);
        let undone = queue.json(&["undo", &first, "--apply"], 3);
        assert_eq!(skipped(&undone)["detail"], "changed since that run");
        assert_eq!(queue.row(1), row);
        // The later one can be taken back, and then the worker's claim is there again.
        let undone = queue.json(&["undo", &second, "--apply"], 0);
        assert_eq!(undone["summary"]["outcomes"]["moved"], 1);
        assert_eq!(queue.rows("SELECT owner_id FROM jobs WHERE id = 1"), ["web9:1"]);
    });
}

#[test]
fn deleted() {
    on_both(|queue| {
        touched(queue, "DELETE FROM jobs WHERE id = 1", "gone");
    });
}

#[test]
fn another_storage_class_is_another_value() {
    let queue = Queue::sqlite();
    touched(&queue, "UPDATE jobs SET payload = CAST(payload AS BLOB) WHERE id = 1", "changed");
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

/// A row that another session holds is not waited for.
#[test]
fn locked() {
    let queue = Queue::postgres();
    let run = queue.reclaimed();
    let mut holder = queue.database().unwrap().client();
    let mut held = holder.transaction().unwrap();
    held.batch_execute("SELECT FROM jobs WHERE id = 1 FOR UPDATE").unwrap();
    let undone = queue.json(&["undo", &run, "--apply"], 3);
    assert_eq!(one(&undone)["outcome"], "locked");
    assert_eq!(undone["summary"]["outcomes"]["moved"], 3);
    held.rollback().unwrap();
    assert_eq!(
        queue.json(&["undo", &run, "--apply"], 3)["summary"]["outcomes"]["moved"],
        1,
        "the rest is given back later"
    );
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
        let constraint = one(&undone)["error"]["constraint"].as_str().unwrap().to_owned();
        assert!(constraint.contains(queue.pick("lease_token", "one_running")), "{constraint}");
    });
}

/// A trigger of SQLite's may take the whole transaction back: it is begun again without that row.
#[test]
fn a_trigger_that_rolls_back() {
    let queue = Queue::sqlite();
    let run = queue.reclaimed();
    queue.sql(
        "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 AND NEW.status = 'CLAIMED'
         BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END",
    );
    let undone = queue.json(&["undo", &run, "--apply"], 3);
    let ended = &undone["summary"]["outcomes"];
    assert_eq!((&ended["moved"], &ended["refused"]), (&3.into(), &1.into()), "{undone:#}");
}

/// A trigger that will not have it is told apart from success.
#[test]
fn a_trigger_that_keeps_the_state() {
    on_both(|queue| {
        let run = queue.reclaimed();
        queue.sql(queue.pick(
            "CREATE TRIGGER t AFTER UPDATE OF status ON jobs WHEN new.status = 'CLAIMED'
             BEGIN UPDATE jobs SET status = 'QUEUED' WHERE id = new.id; END",
            "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN IF NEW.status = 'CLAIMED' THEN NEW.status = 'QUEUED'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER t BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION t();",
        ));
        let row = queue.row(2);
        let undone = queue.json(&["undo", &run, "--apply"], 3);
        let ended = &undone["summary"]["outcomes"];
        assert_eq!((&ended["moved"], &ended["refused"]), (&3.into(), &1.into()), "{undone:#}");
        assert_eq!(queue.row(2), row);
    });
}
