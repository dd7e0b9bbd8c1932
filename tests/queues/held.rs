//! An action that needs a row of another table, which another session holds: that job is `locked`, and all others are moved.

use super::tables::shop;
use crate::support::shop::Shop;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Far more than a run of a second or two needs on a loaded machine; 700 rows that each wait for a lock would take minutes.
const SOON: Duration = Duration::from_secs(30);

fn applied(shop: &Shop, code: i32) -> Value {
    shop.run(&["reclaim", "--max-jobs", "1000", "--apply", "--json"]).exits(code).json()
}

fn ends(document: &Value) -> [u64; 2] {
    ["moved", "locked"].map(|end| document["summary"]["outcomes"][end].as_u64().unwrap_or(0))
}

/// Ten jobs of ten named queues, of which a worker's transaction holds one queue.
#[test]
fn one_held_row_of_another_table_does_not_hold_back_the_others() {
    let shop = shop(
        "graphile-worker",
        "0.16",
        "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('mail');
         INSERT INTO graphile_worker._private_job_queues (queue_name, locked_at, locked_by)
           SELECT 'q' || n, now() - interval '5 hours', 'pool-dead' FROM generate_series(1, 10) AS n;
         INSERT INTO graphile_worker._private_jobs (task_id, job_queue_id, locked_at, locked_by, attempts)
           SELECT 1, n, now() - interval '5 hours', 'pool-dead', 1 FROM generate_series(1, 10) AS n",
    );
    let mut worker = shop.client();
    worker.batch_execute("BEGIN; SELECT FROM graphile_worker._private_job_queues WHERE id = 7 FOR UPDATE").unwrap();
    let begun = Instant::now();
    let document = applied(&shop, 3);
    assert!(begun.elapsed() < SOON, "it waited for {:?}", begun.elapsed());
    assert_eq!(ends(&document), [9, 1]);
    let steps = document["steps"].as_array().unwrap();
    assert_eq!(steps.iter().find(|step| step["outcome"] == "locked").unwrap()["id"], "7");
    worker.batch_execute("ROLLBACK").unwrap();
    assert_eq!(ends(&applied(&shop, 0)), [1, 0]);
}

fn solid_queue(jobs: u32) -> Shop {
    shop(
        "solid-queue",
        "1.5.0",
        &format!(
            "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority, created_at, updated_at)
               SELECT n, 'mail', 'SendMail', 0, now(), now() FROM generate_series(1, {jobs}) AS n;
             INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
               SELECT n, 99, now() - interval '1 hour' FROM generate_series(1, {jobs}) AS n;
             INSERT INTO solid_queue_processes (id, kind, name, pid, last_heartbeat_at, created_at)
               VALUES (1, 'Worker', 'w', 7, now() AT TIME ZONE 'utc', now())"
        ),
    )
}

/// A job's ready row is being added by somebody who has not committed: nobody can say yet whether it will be there.
#[test]
fn a_row_that_is_being_added_does_not_hold_back_the_others() {
    let shop = solid_queue(20);
    let row = "INSERT INTO solid_queue_ready_executions (job_id, queue_name, priority, created_at) VALUES (3, 'mail', 0, now())";
    let mut other = shop.client();
    other.batch_execute(&format!("BEGIN; {row}")).unwrap();
    assert_eq!(ends(&applied(&shop, 3)), [19, 1]);
}

/// The whole table is held: no row is to blame, and workers must not wait behind our own locks while we find that out.
#[test]
fn a_held_table_ends_the_run_soon() {
    let shop = solid_queue(700);
    let mut other = shop.client();
    for mode in ["ROW EXCLUSIVE", "SHARE ROW EXCLUSIVE"] {
        let lock = format!("BEGIN; LOCK TABLE solid_queue_ready_executions IN {mode} MODE");
        other.batch_execute(&lock).unwrap();
    }
    let begun = Instant::now();
    let ran = shop.run(&["reclaim", "--max-jobs", "1000", "--apply"]).exits(75);
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    assert!(ran.stdout.is_empty(), "{}", ran.whole());
    other.batch_execute("ROLLBACK").unwrap();
    assert_eq!(shop.rows("SELECT count(*) FROM solid_queue_claimed_executions"), ["700"]);
}

/// Who sweeps at a restart declares owners dead; a session that holds its lock at that moment is not.
#[test]
fn a_restart_sweep_leaves_alone_whose_lock_is_held() {
    let shop = shop(
        "good-job",
        "4.19",
        "INSERT INTO good_job_processes (id, state, lock_type, created_at, updated_at)
           VALUES ('00000000-0000-0000-0000-0000000000aa', '{\"hostname\": \"web1\", \"pid\": 7}', 0, now(), now());
         INSERT INTO good_jobs (id, queue_name, job_class, performed_at, executions_count, locked_by_id, locked_at,
                                lock_type, created_at, updated_at)
           VALUES ('00000000-0000-0000-0000-000000000001', 'mail', 'Send', now() - interval '1 min', 1,
                   '00000000-0000-0000-0000-0000000000aa', now() - interval '1 min', 1, now(), now())",
    );
    let mut process = shop.client();
    let lock =
        "SELECT pg_advisory_lock(('x' || substr(md5('good_job_processes-00000000-0000-0000-0000-0000000000aa'), 1, 16))
                ::bit(64)::bigint)";
    process.batch_execute(lock).unwrap();
    let sweep = || shop.run(&["sweep", "--restart", "--host", "web1", "--apply", "--json"]).exits(0).json();
    let held = sweep();
    assert_eq!((&held["summary"]["planned"], &held["summary"]["skipped"]), (&0.into(), &1.into()), "{held:#}");
    assert!(held.to_string().contains("a living session holds its lock"), "{held:#}");
    process.batch_execute("SELECT pg_advisory_unlock_all()").unwrap();
    assert_eq!(ends(&sweep()), [1, 0]);
}
