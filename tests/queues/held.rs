//! An action that needs a row of another table, which another session holds: that job is `locked`, and all others are moved.

use super::tables::tables;
use crate::support::cli::Doctor;
use std::time::{Duration, Instant};

/// Far more than a run of a second or two needs on a loaded machine; 700 rows that each wait for a lock would take minutes.
const SOON: Duration = Duration::from_secs(30);

/// Ten jobs of ten named queues, of which a worker's transaction holds one queue.
#[test]
fn one_held_row_of_another_table_does_not_hold_back_the_others() {
    let database = tables("graphile-worker", "0.16").made();
    database
        .client()
        .batch_execute(
            "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('mail');
             INSERT INTO graphile_worker._private_job_queues (queue_name, locked_at, locked_by)
               SELECT 'q' || n, now() - interval '5 hours', 'pool-dead' FROM generate_series(1, 10) AS n;
             INSERT INTO graphile_worker._private_jobs (task_id, job_queue_id, locked_at, locked_by, attempts)
               SELECT 1, n, now() - interval '5 hours', 'pool-dead', 1 FROM generate_series(1, 10) AS n",
        )
        .unwrap();
    let mut worker = database.client();
    worker.batch_execute("BEGIN; SELECT FROM graphile_worker._private_job_queues WHERE id = 7 FOR UPDATE").unwrap();
    let (doctor, url, begun) = (Doctor::new(), database.url(), Instant::now());
    let document = doctor.run(&["reclaim", "--max-jobs", "1000", "--apply", "--json", "--db", &url]).exits(3).json();
    assert!(begun.elapsed() < SOON, "it waited for {:?}", begun.elapsed());
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["locked"]), (&9.into(), &1.into()), "{outcomes}");
    let steps = document["steps"].as_array().unwrap();
    assert_eq!(steps.iter().find(|step| step["outcome"] == "locked").unwrap()["id"], "7");
    worker.batch_execute("ROLLBACK").unwrap();
    let document = doctor.run(&["reclaim", "--max-jobs", "1000", "--apply", "--json", "--db", &url]).exits(0).json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 1);
}

/// A job's ready row is being added by somebody who has not committed: nobody can say yet whether it will be there.
#[test]
fn a_row_that_is_being_added_does_not_hold_back_the_others() {
    let database = tables("solid-queue", "1.5.0").made();
    database
        .client()
        .batch_execute(
            "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority, created_at, updated_at)
               SELECT n, 'mail', 'SendMail', 0, now(), now() FROM generate_series(1, 20) AS n;
             INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
               SELECT n, 99, now() - interval '1 hour' FROM generate_series(1, 20) AS n",
        )
        .unwrap();
    let mut other = database.client();
    other
        .batch_execute(
            "BEGIN; INSERT INTO solid_queue_ready_executions (job_id, queue_name, priority, created_at) VALUES (3, 'mail', 0, now())",
        )
        .unwrap();
    let doctor = Doctor::new();
    let document =
        doctor.run(&["reclaim", "--max-jobs", "1000", "--apply", "--json", "--db", &database.url()]).exits(3).json();
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["locked"]), (&19.into(), &1.into()), "{outcomes}");
}

/// The whole table is held: no row is to blame, and workers must not wait behind our own locks while we find that out.
#[test]
fn a_held_table_ends_the_run_soon() {
    let database = tables("solid-queue", "1.5.0").made();
    database
        .client()
        .batch_execute(
            "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority, created_at, updated_at)
               SELECT n, 'mail', 'SendMail', 0, now(), now() FROM generate_series(1, 700) AS n;
             INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at)
               SELECT n, 99, now() - interval '1 hour' FROM generate_series(1, 700) AS n",
        )
        .unwrap();
    let mut other = database.client();
    other.batch_execute("BEGIN; LOCK TABLE solid_queue_ready_executions IN ROW EXCLUSIVE MODE").unwrap();
    other.batch_execute("LOCK TABLE solid_queue_ready_executions IN SHARE ROW EXCLUSIVE MODE").unwrap();
    let begun = Instant::now();
    let ran = Doctor::new().run(&["reclaim", "--max-jobs", "1000", "--apply", "--db", &database.url()]).exits(75);
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    assert!(ran.stdout.is_empty(), "{}", ran.whole());
    other.batch_execute("ROLLBACK").unwrap();
    let claims = "SELECT count(*) FROM solid_queue_claimed_executions";
    assert_eq!(other.query_one(claims, &[]).unwrap().get::<_, i64>(0), 700);
}

/// Who sweeps at a restart declares owners dead; a session that holds its lock at that moment is not.
#[test]
fn a_restart_sweep_leaves_alone_whose_lock_is_held() {
    let database = tables("good-job", "4.19").made();
    let mut process = database.client();
    process
        .batch_execute(
            "INSERT INTO good_job_processes (id, state, lock_type, created_at, updated_at)
               VALUES ('00000000-0000-0000-0000-0000000000aa', '{\"hostname\": \"web1\", \"pid\": 7}', 0, now(), now());
             INSERT INTO good_jobs (id, queue_name, job_class, performed_at, executions_count, locked_by_id, locked_at,
                                    lock_type, created_at, updated_at)
               VALUES ('00000000-0000-0000-0000-000000000001', 'mail', 'Send', now() - interval '1 min', 1,
                       '00000000-0000-0000-0000-0000000000aa', now() - interval '1 min', 1, now(), now());
             SELECT pg_advisory_lock(('x' || substr(md5('good_job_processes-00000000-0000-0000-0000-0000000000aa'), 1, 16))
                                     ::bit(64)::bigint)",
        )
        .unwrap();
    let (doctor, url) = (Doctor::new(), database.url());
    let sweep = ["sweep", "--restart", "--host", "web1", "--apply", "--json", "--db", &url];
    let held = doctor.run(&sweep).exits(0).json();
    assert_eq!((&held["summary"]["planned"], &held["summary"]["skipped"]), (&0.into(), &1.into()), "{held:#}");
    assert!(held.to_string().contains("a living session holds its lock"), "{held:#}");
    process.batch_execute("SELECT pg_advisory_unlock_all()").unwrap();
    let moved = doctor.run(&sweep).exits(0).json();
    assert_eq!(moved["summary"]["outcomes"]["moved"], 1, "{moved:#}");
}
