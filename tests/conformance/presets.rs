//! Actions of several statements, on both engines. What each queue's actions write is compared in `scenes`.

use crate::support::doctor::{apply, outcomes, planned};
use crate::support::labs::{SqlLab, for_each_sql_store};
use jobdoctor::model::{Engine, Outcome};
use jobdoctor::preset::Preset;
use jobdoctor::store::StoreErrorKind;
use std::fs;
use std::path::Path;

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/presets/valid")
}

fn preset(name: &str) -> Preset {
    let text = fs::read_to_string(directory().join(format!("{name}.toml"))).unwrap();
    Preset::parse(&format!("{name}.toml"), name, &text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_valid_preset_is_read() {
    for entry in fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(preset(&name).name, name);
    }
}

fn solid_queue(lab: &dyn SqlLab) {
    let (id, time) =
        (lab.pick("integer PRIMARY KEY", "bigserial PRIMARY KEY"), lab.pick("datetime(6)", "timestamp(6)"));
    lab.run(&format!(
        "CREATE TABLE solid_queue_jobs (id {id}, queue_name varchar(255) NOT NULL, class_name varchar(255) NOT NULL,
           arguments text, priority integer DEFAULT 0 NOT NULL, concurrency_key varchar(255), created_at {time});
         CREATE TABLE solid_queue_processes (id {id}, kind varchar(255), last_heartbeat_at {time} NOT NULL,
           name varchar(255) NOT NULL);
         CREATE TABLE solid_queue_claimed_executions (id {id}, job_id bigint NOT NULL UNIQUE
           REFERENCES solid_queue_jobs ON DELETE CASCADE, process_id bigint, created_at {time} NOT NULL);
         CREATE TABLE solid_queue_ready_executions (id {id}, job_id bigint NOT NULL UNIQUE
           REFERENCES solid_queue_jobs ON DELETE CASCADE, queue_name varchar(255) NOT NULL,
           priority integer DEFAULT 0 NOT NULL, created_at {time} NOT NULL);"
    ));
    let at = |ago: i64| match lab.engine() {
        Engine::Sqlite => format!("strftime('%Y-%m-%d %H:%M:%S.000000', 'now', '-{ago} seconds')"),
        Engine::Postgres => format!("(now() - interval '{ago} s') AT TIME ZONE 'UTC'"),
    };
    lab.run(&format!(
        "INSERT INTO solid_queue_jobs (id, queue_name, class_name, priority) VALUES
           (1, 'mail', 'SendMail', 7), (2, 'mail', 'SendMail', 0), (3, 'img', 'Resize', 0), (4, 'img', 'Resize', 0);
         INSERT INTO solid_queue_processes (id, kind, last_heartbeat_at, name) VALUES
           (10, 'Worker', {}, 'worker-dead'), (11, 'Worker', {}, 'worker-alive');
         INSERT INTO solid_queue_claimed_executions (id, job_id, process_id, created_at) VALUES
           (100, 1, 10, {old}), (101, 2, 11, {old}), (102, 3, 99, {old}), (103, 4, NULL, {old});",
        at(900),
        at(5),
        old = at(2000),
    ));
}

/// The second statement of an action fails for one job: its first is taken back, and the other jobs are moved.
#[test]
fn an_action_of_several_statements_is_done_whole_or_not_at_all() {
    for_each_sql_store(|lab| {
        solid_queue(lab);
        let (store, spec, steps) = planned(lab, &preset("solid-queue"));
        lab.run(
            "INSERT INTO solid_queue_ready_executions (job_id, queue_name, created_at) SELECT 3, 'x', created_at \
                 FROM solid_queue_claimed_executions WHERE job_id = 3",
        );
        let ends = outcomes(&apply(&*store, &spec, &steps));
        assert_eq!(ends, [Outcome::Moved, Outcome::Refused, Outcome::Moved], "{}", lab.name());
        assert!(lab.ask("SELECT count(*) = 1 FROM solid_queue_claimed_executions WHERE job_id = 3"), "{}", lab.name());
    });
}

/// Another session holds a foreign-key lock on the job; the claim's own row is free, so the claim is moved.
#[test]
fn solid_queue_claims_under_fire() {
    for_each_sql_store(|lab| {
        solid_queue(lab);
        let (store, spec, steps) = planned(lab, &preset("solid-queue"));
        // A finishing worker deletes its claim; a beating process updates its row.
        let finishing = lab.hold_sql(
            "DELETE FROM solid_queue_claimed_executions WHERE job_id = 3; \
             UPDATE solid_queue_processes SET name = 'beats' WHERE id = 10",
        );
        let report = apply(&*store, &spec, &steps);
        let ends: Vec<Outcome> = report.results.iter().map(|result| result.outcome).collect();
        if lab.locks_rows() {
            // Claims of absent processes wait while somebody writes to the processes.
            assert_eq!(ends, [Outcome::Locked; 3], "{}", lab.name());
        } else {
            assert_eq!(report.stop.map(|error| error.kind), Some(StoreErrorKind::Busy), "{}", lab.name());
        }
        finishing.rollback();
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved; 3], "{}", lab.name());
    });
}
