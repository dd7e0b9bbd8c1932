//! The rights that the page names: enough for each role, and no more than looking for the one that may only look.

use super::bench::Bench;
use super::block::text_of;
use crate::support::postgres::{TestDatabase, USER, fresh};
use std::path::Path;
use std::sync::Mutex;

const LEASE_JOBS: &str = "
    INSERT INTO jobs (status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at, attempts, cancel_requested_at)
    SELECT 'RUNNING', 'web1:7', 'x', now() - interval '1 hour', now() - interval '1 hour', now() - interval '59 min', n.attempts,
           n.cancelled
    FROM (VALUES (0, NULL), (4, NULL), (0, now()), (0, NULL)) AS n (attempts, cancelled)";

const PROCRASTINATE_JOBS: &str = "
    INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour');
    INSERT INTO procrastinate_jobs (queue_name, task_name, status) SELECT 'mail', 'send', 'todo' FROM generate_series(1, 4);
    UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM procrastinate_workers);
    UPDATE procrastinate_jobs SET worker_id = NULL WHERE id = 2;
    UPDATE procrastinate_jobs SET abort_requested = true WHERE id = 3;
    UPDATE procrastinate_events SET at = at - interval '1 hour'";

#[test]
fn the_rights_for_the_reference_schema_are_enough() {
    let (bench, database) = (Bench::new(), fresh());
    bench.say(&format!("jobdoctor init --db '{}'", database.url())).expect("init");
    database.client().batch_execute(LEASE_JOBS).expect("the jobs");
    rights(&bench, &database, "sql grants lease", "jobs");
}

#[test]
fn the_rights_for_procrastinate_are_enough() {
    let (bench, database) = (Bench::new(), fresh());
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas/procrastinate/3.10.sql");
    let schema = std::fs::read_to_string(schema).expect("the library's schema");
    database.client().batch_execute(&schema).expect("the schema");
    database.client().batch_execute(PROCRASTINATE_JOBS).expect("the jobs");
    rights(&bench, &database, "sql grants procrastinate", "procrastinate_jobs");
}

/// Four jobs are stuck; the fourth is to be failed.
fn rights(bench: &Bench, database: &TestDatabase, title: &str, table: &str) {
    roles(database);
    let mut client = database.client();
    client.batch_execute(&text_of(title)).expect("the rights of the page");
    let url = |role: &str| format!("'{}'", database.url().replace(&format!("user={USER}"), &format!("user={role}")));

    let look = url("doctor_look");
    let stuck = bench.say(&format!("jobdoctor stale --db {look} -o name")).expect("looking");
    assert_eq!(stuck.lines().count(), 4, "{stuck}");
    for command in ["owners", "show 1", "reclaim"] {
        bench.say(&format!("jobdoctor {command} --db {look}")).unwrap_or_else(|error| panic!("{error}"));
    }
    for command in ["check", "reclaim --apply"] {
        let output = bench.run(&format!("jobdoctor {command} --db {look}"));
        assert_eq!(output.status.code(), Some(77), "{command}: {}", String::from_utf8_lossy(&output.stdout));
    }
    let sql = format!("SELECT has_any_column_privilege('doctor_look', '{table}', 'INSERT, UPDATE, REFERENCES')");
    assert!(!client.query_one(&sql, &[]).expect("the rights").get::<_, bool>(0));

    let act = url("doctor_act");
    bench.say(&format!("jobdoctor check --db {act}")).expect("check says that it may");
    let one = bench.say(&format!("jobdoctor reclaim --db {act} --id 4 --to fail --apply -o csv -q")).expect("one job");
    assert_eq!(one.matches(",moved,").count(), 1, "{one}");
    let others = bench.say(&format!("jobdoctor reclaim --db {act} --apply -o csv -q")).expect("the other jobs");
    assert_eq!(others.matches(",moved,").count(), 3, "{others}");
    let left = bench.say(&format!("jobdoctor stale --db {act} -o name -q")).expect("looking");
    assert_eq!(left, "");
}

/// They belong to the whole server, so they are made once.
fn roles(database: &TestDatabase) {
    static MADE: Mutex<bool> = Mutex::new(false);
    let mut made = MADE.lock().expect("the lock");
    if !*made {
        database.client().batch_execute(&text_of("sql roles")).expect("the roles of the page");
        *made = true;
    }
}
