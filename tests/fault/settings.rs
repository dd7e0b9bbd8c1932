//! What a batch asks of its session, seen by triggers inside it.

use crate::support::cli::Doctor;
use crate::support::postgres::{TestDatabase, fresh};

/// A dead job; triggers on the queue and on the ledger write down the settings that they run under, in milliseconds where they
/// are times.
const DEAD: &str = "INSERT INTO jobs (id, status, owner_id, lease_token, claimed_at, lease_expires_at)
        VALUES (1, 'RUNNING', 'web1:1', 'token', now() - interval '2h', now() - interval '1h');
    CREATE TABLE seen (place text, name text, setting text);
    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.seen SELECT TG_TABLE_NAME, s.name, s.setting FROM pg_catalog.pg_settings AS s; RETURN NEW; END $$;
    CREATE TRIGGER a AFTER UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION see();
    CREATE TRIGGER a AFTER INSERT ON jobdoctor_ledger FOR EACH ROW EXECUTE FUNCTION see();";
const FORGETS: &str = "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_catalog.set_config('synchronous_commit', 'off', true); RETURN NEW; END $$;
    CREATE TRIGGER b AFTER UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION forget();";

fn queue(synchronous_commit: &str) -> (Doctor, TestDatabase) {
    let (doctor, database) = (Doctor::new(), fresh());
    let own = format!("ALTER DATABASE {} SET synchronous_commit = {synchronous_commit};", database.name());
    database
        .client()
        .batch_execute(&format!("{own} ALTER DATABASE {} SET search_path = mine, public", database.name()))
        .unwrap();
    doctor.run(&["init", "--db", &database.url(), "--schema", "public"]).exits(0);
    doctor.run(&["init", "--ledger", "--db", &database.url(), "--schema", "public"]).exits(0);
    database.client().batch_execute(DEAD).unwrap();
    (doctor, database)
}

fn apply(doctor: &Doctor, database: &TestDatabase) {
    let done = doctor.run(&["reclaim", "--apply", "-o", "json", "--timeout", "60s", "--db", &database.url()]).exits(0);
    assert_eq!(done.json()["summary"]["outcomes"]["moved"], 1);
}

fn seen(database: &TestDatabase, place: &str, name: &str) -> String {
    let row = database.client().query_one("SELECT setting FROM seen WHERE place = $1 AND name = $2", &[&place, &name]);
    row.unwrap().get(0)
}

#[test]
fn a_commit_outlives_a_crash_and_is_confirmed_as_the_operator_chose() {
    for (own, in_batch) in [
        ("off", "local"),
        ("local", "local"),
        ("remote_write", "remote_write"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ] {
        let (doctor, database) = queue(own);
        apply(&doctor, &database);
        assert_eq!(seen(&database, "jobs", "synchronous_commit"), in_batch, "{own}");
    }
}

#[test]
fn a_trigger_of_the_queue_does_not_make_the_commit_forgettable() {
    let (doctor, database) = queue("on");
    database.client().batch_execute(FORGETS).unwrap();
    apply(&doctor, &database);
    assert_eq!(seen(&database, "jobdoctor_ledger", "synchronous_commit"), "local");
}

#[test]
fn an_action_waits_for_no_lock_and_leaves_none_behind() {
    let (doctor, database) = queue("on");
    apply(&doctor, &database);
    for place in ["jobs", "jobdoctor_ledger"] {
        let seen = |name: &str| seen(&database, place, name);
        assert_eq!((seen("lock_timeout"), seen("idle_in_transaction_session_timeout")), ("100".into(), "5000".into()));
        let timeout: u64 = seen("statement_timeout").parse().unwrap();
        assert!((1..=60_000).contains(&timeout), "{timeout}");
        assert_eq!(seen("search_path"), "pg_catalog, \"public\", mine, public, pg_temp");
        assert_eq!(
            (seen("row_security"), seen("TimeZone"), seen("tcp_user_timeout"), seen("jit")),
            ("off".into(), "UTC".into(), "0".into(), "off".into())
        );
    }
}

/// Without triggers and deferrable keys a job would be moved that the plan says Postgres refuses.
#[test]
fn nothing_is_written_where_no_trigger_fires() {
    let (doctor, database) = queue("on");
    let replica = format!("ALTER DATABASE {} SET session_replication_role = replica", database.name());
    database.client().batch_execute(&replica).unwrap();
    doctor.run(&["stale", "--db", &database.url()]).exits(0);
    for words in [&["reclaim", "--apply"][..], &["reclaim", "--dry-run=server"], &["check"]] {
        let ran = doctor.run(&[words, &["--db", &database.url()]].concat()).exits(78);
        assert!(ran.whole().contains("session_replication_role"), "{ran:#?}");
    }
}

/// What a trigger sets for itself changes neither the record nor what an undo compares.
#[test]
fn a_trigger_of_the_queue_does_not_spell_the_record() {
    let (doctor, database) = queue("on");
    let sets = "CREATE FUNCTION sets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            PERFORM pg_catalog.set_config('TimeZone', 'Europe/Paris', true), pg_catalog.set_config('DateStyle', 'German', true);
            RETURN NEW; END $$;
        CREATE TRIGGER b AFTER UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION sets();";
    database.client().batch_execute(sets).unwrap();
    let done = doctor.run(&["reclaim", "--apply", "-o", "json", "--db", &database.url()]).exits(0).json();
    let run = done["run_id"].as_str().unwrap().to_owned();
    doctor.run(&["undo", &run, "--apply", "--db", &database.url()]).exits(0);
    let left = database.client().query_one("SELECT status FROM jobs", &[]).unwrap();
    assert_eq!(left.get::<_, String>(0), "RUNNING");
}
