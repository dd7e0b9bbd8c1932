//! Jobs that never run although no worker holds them: `check` counts those that each library is known for, and names the way out.

use super::tables::shop;
use crate::support::shop::Shop;
use postgres::Client;

/// What `check` warns of, by its id; `None` where it does not.
fn warning(shop: &Shop, id: &str) -> Option<(String, String)> {
    let document = shop.run(&["check", "--json"]).exits(0).json();
    let found = document["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == id)?;
    assert_eq!(found["severity"], "warning", "{found}");
    Some((found["detail"].as_str().unwrap().to_owned(), found["fix"].as_str().unwrap().to_owned()))
}

/// One that is found once it is there, and not before.
fn appears(shop: &Shop, id: &str, sql: &str, detail: &str, fix: &str) -> Client {
    assert_eq!(warning(shop, id), None);
    let mut client = shop.client();
    client.batch_execute(sql).unwrap();
    let (said, remedy) = warning(shop, id).unwrap_or_else(|| panic!("no warning {id}"));
    assert!(said.contains(detail) && said.ends_with(": 1"), "{said}");
    assert!(remedy.contains(fix), "{remedy}");
    client
}

const QUE_JOBS: &str = "INSERT INTO que_jobs (id, job_class, job_schema_version) VALUES";
const LOCKERS: &str = "INSERT INTO que_lockers (pid, worker_count, worker_priorities, ruby_pid, ruby_hostname, queues, listening, job_schema_version)
    SELECT pid, 1, '{10}', 4211, 'web1', '{default}', true, version FROM (VALUES (pg_backend_pid(), 2), (-1, 1)) AS locker (pid, version)";

#[test]
fn a_que_job_whose_lock_a_session_holds_that_is_no_locker() {
    let shop = shop("que", "7", &format!("{QUE_JOBS} (4, 'A', 2), (5, 'A', 2)"));
    let mut locker = shop.client();
    locker.batch_execute(&format!("{LOCKERS}; SELECT pg_advisory_lock(5)")).unwrap();
    let leftover = "SELECT pg_advisory_lock(4)";
    appears(&shop, "lock_of_no_locker", leftover, "held by a session that is no locker", "pg_terminate_backend");
}

#[test]
fn a_que_job_of_a_version_that_no_locker_polls() {
    let shop = shop("que", "7", &format!("{QUE_JOBS} (1, 'A', 2)"));
    let mut locker = shop.client();
    locker.batch_execute(LOCKERS).unwrap();
    let old = format!("{QUE_JOBS} (2, 'A', 1)");
    let detail = "job_schema_version that no running locker polls";
    appears(&shop, "version_without_locker", &old, detail, "Que 1 polls version 1");
}

#[test]
fn a_good_job_whose_lock_has_leaked() {
    let shop = shop(
        "good-job",
        "4.19",
        "INSERT INTO good_jobs (id, active_job_id, queue_name, job_class, serialized_params, created_at, updated_at, scheduled_at)
         SELECT id, id, 'mail', 'A', '{}', now(), now(), now() FROM (VALUES ('00000000-0000-0000-0000-000000000001'::uuid),
           ('00000000-0000-0000-0000-000000000002')) AS v (id)",
    );
    let leaked = "SELECT pg_advisory_lock(('x' || substr(md5('good_jobs-00000000-0000-0000-0000-000000000002'), 1, 16))::bit(64)::bigint)";
    let _session =
        appears(&shop, "lock_without_owner", leaked, "advisory lock a session holds", "pg_terminate_backend");
    // A process that has no row any more is as good as none.
    shop.sql("UPDATE good_jobs SET locked_by_id = id, locked_at = now()");
    assert!(warning(&shop, "lock_without_owner").is_some());
    shop.sql("INSERT INTO good_job_processes (id, created_at, updated_at) SELECT id, now(), now() FROM good_jobs");
    assert_eq!(warning(&shop, "lock_without_owner"), None);
}

#[test]
fn a_graphile_queue_whose_locked_job_was_deleted_by_hand() {
    let shop = shop(
        "graphile-worker",
        "0.16",
        "INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('import');
         INSERT INTO graphile_worker._private_job_queues (queue_name, locked_at, locked_by)
         SELECT name, now(), 'pool-1' FROM unnest(ARRAY['letters', 'parcels', 'spent']) AS name;
         INSERT INTO graphile_worker._private_jobs (task_id, job_queue_id, locked_at, locked_by, attempts)
         VALUES (1, 1, now(), 'pool-1', 1), (1, 1, NULL, NULL, 0), (1, 2, now(), 'pool-1', 1), (1, 3, NULL, NULL, 25)",
    );
    let deleted = "DELETE FROM graphile_worker._private_jobs WHERE id = 1";
    appears(&shop, "queue_without_job", deleted, "locked although no job of theirs is", "force_unlock_workers");
}

#[test]
fn an_oban_job_that_is_available_with_no_attempt_left() {
    for version in ["elixir-v14", "python-0.7.0"] {
        let job = "INSERT INTO oban_jobs (queue, worker, state, attempt, max_attempts) VALUES ('a', 'A', 'available',";
        let shop = shop("oban", version, &format!("{job} 2, 3)"));
        let poison = format!("{job} 3, 3)");
        appears(&shop, "out_of_attempts", &poison, "available with no attempt left", "Oban.cancel_job");
    }
}
