//! Hard queues as presets: they are read, fit hand-written tables, and their actions do what they say on both engines.

use crate::support::doctor::{apply, fit, look, outcomes, steps, verdicts};
use crate::support::labs::{PostgresLab, SqlLab, for_each_sql_store};
use jobdoctor::model::{Engine, Outcome};
use jobdoctor::policy::Policy;
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

#[test]
fn solid_queue_moves_rows_from_one_table_to_another() {
    for_each_sql_store(|lab| {
        solid_queue(lab);
        let store = lab.store();
        let spec = fit(&*store, &preset("solid-queue"));
        assert_eq!(look(&*store).in_flight(&spec).unwrap(), 4, "{}", lab.name());
        let said = verdicts(&*store, &spec, &Policy::default());
        assert_eq!(said.len(), 3, "{}: {said:#?}", lab.name());
        assert!(
            said[0].contains("worker-dead") && said[0].contains("stuck by owner_silent; requeue to ready"),
            "{said:?}"
        );
        assert!(said[1].contains("stuck by owner_missing") && said[2].contains("stuck by owner_unset"), "{said:?}");
        let steps = steps(&*store, &spec, &Policy::default());
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved; 3], "{}", lab.name());
        assert!(lab.ask("SELECT count(*) = 1 FROM solid_queue_claimed_executions WHERE job_id = 2"), "{}", lab.name());
        assert!(lab.ask("SELECT count(*) = 1 FROM solid_queue_claimed_executions"), "{}", lab.name());
        let ready = "SELECT count(*) = 1 FROM solid_queue_ready_executions \
                     WHERE job_id = 1 AND queue_name = 'mail' AND priority = 7";
        assert!(lab.ask(ready), "{}", lab.name());
        assert!(lab.ask("SELECT count(*) = 3 FROM solid_queue_ready_executions"), "{}", lab.name());
        let spelled = lab.pick(
            "SELECT count(*) = 3 FROM solid_queue_ready_executions WHERE created_at GLOB '????-??-?? ??:??:??.??????' \
             AND abs(julianday(created_at) - julianday('now')) * 86400 < 60",
            "SELECT count(*) = 3 FROM solid_queue_ready_executions \
             WHERE abs(extract(epoch FROM created_at - now() AT TIME ZONE 'UTC')) < 60",
        );
        assert!(lab.ask(spelled), "{}: the time is spelled as the library spells it", lab.name());
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Gone; 3], "{}: once", lab.name());
    });
}

/// The second statement of an action fails for one job: its first is taken back, and the other jobs are moved.
#[test]
fn an_action_of_several_statements_is_done_whole_or_not_at_all() {
    for_each_sql_store(|lab| {
        solid_queue(lab);
        let store = lab.store();
        let spec = fit(&*store, &preset("solid-queue"));
        let steps = steps(&*store, &spec, &Policy::default());
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
        let store = lab.store();
        let spec = fit(&*store, &preset("solid-queue"));
        let steps = steps(&*store, &spec, &Policy::default());
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

fn river(lab: &dyn SqlLab, jsonb: bool) {
    let json = |text: &str| match (lab.engine(), jsonb) {
        (Engine::Sqlite, true) => format!("jsonb('{text}')"),
        _ => format!("'{text}'"),
    };
    let sqlite = "CREATE TABLE river_job (id integer PRIMARY KEY, args blob, attempt integer NOT NULL DEFAULT 0,
        attempted_at timestamp, attempted_by blob, created_at timestamp, errors blob, finalized_at timestamp, kind text,
        max_attempts integer NOT NULL, metadata blob NOT NULL DEFAULT '{}', queue text, state text NOT NULL,
        scheduled_at timestamp, unique_states integer,
        CONSTRAINT finalized CHECK ((finalized_at IS NULL) = (state NOT IN ('cancelled', 'completed', 'discarded'))));
        CREATE TABLE river_notification (id integer PRIMARY KEY, topic text NOT NULL, payload text NOT NULL);";
    let postgres = "CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending',
        'retryable', 'running', 'scheduled');
        CREATE TABLE river_job (id bigserial PRIMARY KEY, args jsonb, attempt smallint NOT NULL DEFAULT 0,
        attempted_at timestamptz, attempted_by text[], created_at timestamptz, errors jsonb[], finalized_at timestamptz,
        kind text, max_attempts smallint NOT NULL, metadata jsonb NOT NULL DEFAULT '{}', queue text,
        state river_job_state NOT NULL, scheduled_at timestamptz, unique_states bit(8),
        CONSTRAINT finalized CHECK ((finalized_at IS NULL) = (state NOT IN ('cancelled', 'completed', 'discarded'))));";
    lab.run(lab.pick(sqlite, postgres));
    let at = |ago: i64| match lab.engine() {
        Engine::Sqlite => format!("datetime('now', '-{ago} seconds')"),
        Engine::Postgres => lab.ago(ago),
    };
    let by = match lab.engine() {
        Engine::Sqlite => json("[\"old\", \"host-7\"]"),
        Engine::Postgres => "ARRAY['old', 'host-7']".to_owned(),
    };
    for (id, ago, attempt, metadata) in [
        (1, 4000, 1, "{}"),
        (2, 4000, 3, "{}"),
        (3, 4000, 1, "{\"cancel_attempted_at\": 1}"),
        (4, 60, 1, "{}"),
        (5, 4000, 2, "{\"river:rescue_count\": 4}"),
    ] {
        lab.run(&format!(
            "INSERT INTO river_job (id, attempt, attempted_at, attempted_by, kind, max_attempts, metadata, queue, state) \
             VALUES ({id}, {attempt}, {}, {by}, 'Mail', 3, {}, 'default', 'running')",
            at(ago),
            json(metadata)
        ));
    }
}

#[test]
fn river_keeps_its_errors_and_counts_its_rescues() {
    for_each_sql_store(|lab| {
        for jsonb in [true, false] {
            lab.clear();
            if lab.engine() == Engine::Postgres && !jsonb {
                continue;
            }
            river(lab, jsonb);
            let store = lab.store();
            let spec = fit(&*store, &preset("river"));
            let place = format!("{}: jsonb {jsonb}: {:?}", lab.name(), spec.variants);
            let said = verdicts(&*store, &spec, &Policy::default());
            assert_eq!(said.len(), 4, "{place}: {said:#?}");
            assert!(
                said[0].contains("host-7") && said[0].ends_with("requeue to available, attempts Some(1)"),
                "{said:?}"
            );
            assert!(said[1].ends_with("fail to discarded, attempts Some(3)"), "{place}: {said:?}");
            assert!(said[2].ends_with("cancel to cancelled, attempts Some(1)"), "{place}: {said:?}");
            for step in steps(&*store, &spec, &Policy::default()) {
                let report = apply(&*store, &spec, &[step]);
                assert_eq!(outcomes(&report), [Outcome::Moved], "{place}: {report:?}");
            }
            let kept = lab.pick(
                "SELECT count(*) = 4 FROM river_job WHERE json_extract(errors, '$[0].error') = 'the test says so'",
                "SELECT count(*) = 4 FROM river_job WHERE errors[1] ->> 'error' = 'the test says so'",
            );
            assert!(lab.ask(kept), "{place}");
            let counted = lab.pick(
                "SELECT json_extract(metadata, '$.\"river:rescue_count\"') = 5 FROM river_job WHERE id = 5",
                "SELECT (metadata ->> 'river:rescue_count') = '5' FROM river_job WHERE id = 5",
            );
            assert!(lab.ask(counted), "{place}");
            if lab.engine() == Engine::Sqlite {
                assert!(lab.ask("SELECT count(*) = 2 FROM river_notification WHERE topic = 'river_insert'"), "{place}");
                let kept = format!("SELECT count(*) = 5 FROM river_job WHERE typeof(metadata) = '{}'", kind(jsonb));
                assert!(lab.ask(&kept), "{place}: the format is kept");
            }
        }
    });
}

fn kind(jsonb: bool) -> &'static str {
    if jsonb { "blob" } else { "text" }
}

#[test]
fn pg_boss_jobs_are_known_by_two_columns_and_expire_by_a_third() {
    let lab = PostgresLab::new();
    lab.run(
        "CREATE SCHEMA pgboss; CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', \
           'cancelled', 'failed');
         CREATE TABLE pgboss.job (id uuid NOT NULL, name text NOT NULL, state pgboss.job_state NOT NULL, \
           retry_limit integer NOT NULL DEFAULT 2, retry_count integer NOT NULL DEFAULT 0, start_after timestamptz, \
           started_on timestamptz, completed_on timestamptz, expire_seconds integer, heartbeat_on timestamptz, \
           heartbeat_seconds integer, output jsonb, dead_letter text, PRIMARY KEY (name, id)) PARTITION BY LIST (name);
         CREATE TABLE pgboss.a PARTITION OF pgboss.job FOR VALUES IN ('a');
         CREATE TABLE pgboss.b PARTITION OF pgboss.job DEFAULT;",
    );
    let id = |n: u8| format!("01890a5d-ac96-774b-bcce-b302099a805{n}");
    for (name, n, started, expire, retries, letter) in [
        ("a", 1, 1000, "900", 0, "NULL"),
        ("b", 1, 1000, "1100", 0, "NULL"),
        ("a", 2, 1000, "900", 2, "NULL"),
        ("b", 2, 1000, "900", 2, "'dead'"),
        ("b", 3, 1000, "NULL", 0, "NULL"),
    ] {
        lab.run(&format!(
            "INSERT INTO pgboss.job (id, name, state, retry_count, started_on, expire_seconds, dead_letter) VALUES \
             ('{}', '{name}', 'active', {retries}, {}, {expire}, {letter})",
            id(n),
            lab.ago(started)
        ));
    }
    let store = crate::support::labs::Lab::store(&lab);
    let spec = fit(&*store, &preset("pg-boss"));
    let said = verdicts(&*store, &spec, &Policy::default());
    assert_eq!(said.len(), 4, "{said:#?}");
    assert!(said[0].starts_with(&format!("a/{}", id(1))) && said[0].ends_with("requeue to retry, attempts Some(0)"));
    assert!(said[1].ends_with("fail to failed, attempts Some(2)"), "{said:?}");
    assert!(said[2].ends_with("skipped: Preset"), "{said:?}");
    assert!(said[3].ends_with("unknown; skipped: Unknown"), "no span, no lease: {said:?}");
    for step in steps(&*store, &spec, &Policy::default()) {
        assert_eq!(outcomes(&apply(&*store, &spec, &[step])), [Outcome::Moved]);
    }
    assert!(lab.ask(&format!("SELECT state = 'active' FROM pgboss.job WHERE name = 'b' AND id = '{}'", id(1))));
    assert!(lab.ask(&format!("SELECT state = 'retry' FROM pgboss.job WHERE name = 'a' AND id = '{}'", id(1))));
    assert!(lab.ask("SELECT output ->> 'message' = 'the test says so' FROM pgboss.job WHERE state = 'failed'"));
}
