//! Queues whose rows do not say as much.

use crate::support::cli::{Doctor, until};
use crate::support::postgres::{TestDatabase, fresh};
use serde_json::json;

fn verified(database: &TestDatabase, more: &[&str], meanwhile: impl FnOnce()) -> serde_json::Value {
    let doctor = Doctor::new();
    let url = database.url();
    let arguments = [&["reclaim", "--db", &url, "--apply", "--verify", "2s", "--json"], more].concat();
    let running = doctor.start(&arguments);
    meanwhile();
    running.wait().exits(0).json()["verified"].clone()
}

/// A claim is a row of its own, which a requeue deletes: that it is not there is no end.
#[test]
fn where_a_claim_is_a_row_its_absence_is_no_end() {
    let database = fresh();
    database.client().batch_execute(include_str!("../../fixtures/schemas/solid-queue/1.5.0.sql")).unwrap();
    let some = "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority, created_at, updated_at)
            SELECT n, 'mail', 'Send', 0, now(), now() FROM generate_series(1, 2) AS n;
        INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
            SELECT n, 77, now() AT TIME ZONE 'UTC' - interval '70 min' FROM generate_series(1, 2) AS n";
    database.client().batch_execute(some).unwrap();
    let verified = verified(&database, &[], || {
        let ready = "SELECT count(*) FROM solid_queue_ready_executions";
        until("they are ready", || database.client().query_one(ready, &[]).unwrap().get::<_, i64>(0) == 2);
        let claim = "INSERT INTO solid_queue_processes (id, kind, name, pid, last_heartbeat_at, created_at)
                VALUES (5, 'Worker', 'w', 1, now() AT TIME ZONE 'UTC', now());
            DELETE FROM solid_queue_ready_executions WHERE job_id = 1;
            INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
                VALUES (1, 5, now() AT TIME ZONE 'UTC')";
        database.client().batch_execute(claim).unwrap();
    });
    assert_eq!(json!([verified["picked_up"], verified["not_in_flight"], verified["gone"]]), json!([1, 1, 0]));
}

/// Jobs without a state, which are deleted when they are done.
#[test]
fn where_finished_jobs_are_deleted_they_are_gone() {
    let database = fresh();
    database.client().batch_execute(include_str!("../../fixtures/schemas/delayed-job/4.2.0.sql")).unwrap();
    let some = "INSERT INTO delayed_jobs (id, priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
        SELECT n, 0, 0, 'x', now(), now() - interval '9h', 'host:web1 pid:' || n, now(), now()
        FROM generate_series(1, 2) AS n";
    database.client().batch_execute(some).unwrap();
    let verified = verified(&database, &[], || {
        let free = "SELECT count(*) FROM delayed_jobs WHERE locked_at IS NULL";
        until("they are free", || database.client().query_one(free, &[]).unwrap().get::<_, i64>(0) == 2);
        database.client().batch_execute("DELETE FROM delayed_jobs WHERE id = 1").unwrap();
    });
    assert_eq!((&verified["gone"], &verified["not_in_flight"]), (&1.into(), &1.into()));
}

/// Keys that no id on a command line could name: a blob, and a number in a column without a type.
#[test]
fn keys_of_any_kind_are_found_again() {
    let doctor = Doctor::new();
    doctor.sql(&format!(
        "{}; INSERT INTO jobs (id, status, owner_id, lease_expires_at)
            VALUES (X'00ff', 'RUNNING', 'a', unixepoch() - 5000), (7, 'RUNNING', 'a', unixepoch() - 5000),
                ('7', 'RUNNING', 'a', unixepoch() - 5000)",
        crate::cli::scene::JOBS.replace("id INTEGER PRIMARY KEY", "id PRIMARY KEY")
    ));
    let document = doctor.on_queue(&["reclaim", "--apply", "--verify", "1s", "--json"]).exits(0).json();
    assert_eq!((&document["verified"]["watched"], &document["verified"]["waiting"]), (&3.into(), &3.into()));
}
