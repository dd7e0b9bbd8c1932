//! Who may create things in a Postgres database, and what comes of it: temporary tables in a session that a pooler lends, views
//! and policies with functions of theirs, triggers that change the search path, a path that leads elsewhere.

use crate::queues::tables::tables;
use crate::support::cli::Doctor;
use crate::support::pgbouncer::{SERVERS, pooler};
use crate::support::postgres::{TestDatabase, fresh};

const DEAD: &str =
    "INSERT INTO public.jobs (id, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
    SELECT n, 'RUNNING', 'web1:' || n, 'token', now() - interval '2h', now() - interval '2h', now() - interval '1h'
    FROM generate_series(1, 3) AS n";

fn queue() -> (Doctor, TestDatabase) {
    let (doctor, database) = (Doctor::new(), fresh());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    database.client().batch_execute(DEAD).unwrap();
    (doctor, database)
}

fn count(database: &TestDatabase, of: &str) -> i64 {
    database.client().query_one(&format!("SELECT count(*) FROM {of}"), &[]).unwrap().get(0)
}

/// A client before us left them in every session that the pooler has, where an unqualified name would find them first.
#[test]
fn temporary_tables_of_a_shared_session_are_not_taken_for_the_queue() {
    let (doctor, database) = queue();
    let mut clients: Vec<_> = (0..SERVERS).map(|_| pooler().client(&database)).collect();
    for client in &mut clients {
        // All at once, so that no two of them have the same session.
        client
            .batch_execute(
                "BEGIN; CREATE TEMP TABLE jobs (LIKE public.jobs INCLUDING ALL); CREATE TEMP TABLE pg_class (x int)",
            )
            .unwrap();
    }
    for client in &mut clients {
        client.batch_execute("COMMIT").unwrap();
    }
    let url = database.url_through(pooler().socket());
    let listed = doctor.run(&["stale", "-o", "json", "--db", &url]).exits(0).json();
    assert_eq!((&listed["summary"]["stuck"], &listed["target"]["table"]), (&3.into(), &"public.jobs".into()));
    let done = doctor.run(&["reclaim", "--apply", "-o", "json", "--db", &url]).exits(0).json();
    assert_eq!(done["summary"]["outcomes"]["moved"], 3);
    assert_eq!(count(&database, "public.jobs WHERE status = 'QUEUED'"), 3);
}

/// Its function runs as our role, as it would for whoever reads the view; but it cannot write.
#[test]
fn a_view_cannot_make_a_look_write() {
    let database = tables("delayed-job", "4.2.0").made();
    let mut client = database.client();
    let view = |body: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION evil() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN 1; END $$;
             CREATE OR REPLACE VIEW delayed_jobs AS SELECT * FROM behind WHERE evil() = 1"
        )
    };
    client
        .batch_execute("ALTER TABLE delayed_jobs RENAME TO behind; CREATE TABLE trace (x int); CREATE SEQUENCE s")
        .unwrap();
    client
        .batch_execute(
            "INSERT INTO behind (id, priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
             VALUES (1, 0, 0, '', now(), now() - interval '5 hours', 'host:web1 pid:1', now(), now())",
        )
        .unwrap();
    let doctor = Doctor::new();
    for body in [
        "INSERT INTO public.trace VALUES (1)",
        "DELETE FROM public.behind",
        "PERFORM pg_catalog.nextval('public.s')",
        "PERFORM pg_catalog.set_config('transaction_read_only', 'off', true); INSERT INTO public.trace VALUES (1)",
        "SET TRANSACTION READ WRITE; INSERT INTO public.trace VALUES (1)",
        "CREATE TABLE public.made ()",
    ] {
        client.batch_execute(&view(body)).unwrap();
        for look in [&["stale"][..], &["reclaim"], &["owners"], &["show", "1"]] {
            let ran = doctor.run(&[look, &["--db", &database.url()]].concat());
            assert_ne!(ran.code, 0, "{body}: {look:?}: {ran:#?}");
            assert_eq!(ran.stdout, "", "{body}: {look:?}");
        }
        assert_eq!((count(&database, "trace"), count(&database, "behind")), (0, 1), "{body}");
        assert_eq!(count(&database, "pg_class WHERE relname = 'made'"), 0, "{body}");
    }
    // The same view with a function that does no harm is read.
    client.batch_execute(&view("PERFORM 1")).unwrap();
    doctor.run(&["stale", "--db", &database.url()]).exits(0);
}

/// Row-level security is off for us, so that rows are not hidden; its functions are not run either.
#[test]
fn functions_of_policies_are_not_run() {
    let (doctor, database) = queue();
    let role = format!("look_{}", database.name());
    let mut client = database.client();
    client
        .batch_execute(&format!(
            "CREATE FUNCTION evil() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
             ALTER TABLE jobs ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON jobs USING (evil());
             CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs TO {role}"
        ))
        .unwrap();
    let url = database.url().replace("user=doctor", &format!("user={role}"));
    let ran = doctor.run(&["stale", "--db", &url]).exits(77);
    assert!(ran.stderr.contains("row-level security") && !ran.stderr.contains("it ran"), "{ran:#?}");
    client.batch_execute(&format!("ALTER ROLE {role} BYPASSRLS")).unwrap();
    doctor.run(&["stale", "--db", &url]).exits(0);
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

/// A decoy of every table that is written to, in a schema that the path is then set to.
const DECOYS: &str = "CREATE SCHEMA decoy; CREATE TABLE decoy.jobs (LIKE public.jobs INCLUDING ALL);
    CREATE TABLE decoy.jobdoctor_ledger (LIKE public.jobdoctor_ledger INCLUDING ALL);
    INSERT INTO decoy.jobs SELECT * FROM public.jobs";

#[test]
fn a_trigger_that_changes_the_path_changes_nothing_else() {
    for is_local in ["true", "false"] {
        let (doctor, database) = queue();
        doctor.run(&["init", "--ledger", "--db", &database.url()]).exits(0);
        let mut client = database.client();
        client.batch_execute(DECOYS).unwrap();
        client
            .batch_execute(&format!(
                "CREATE FUNCTION elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                   PERFORM pg_catalog.set_config('search_path', 'decoy', {is_local});
                   PERFORM pg_catalog.set_config('row_security', 'on', {is_local});
                   RETURN NEW; END $$;
                 CREATE TRIGGER elsewhere BEFORE UPDATE ON public.jobs FOR EACH ROW EXECUTE FUNCTION elsewhere()"
            ))
            .unwrap();
        let done = doctor.run(&["reclaim", "--apply", "-o", "json", "--db", &database.url()]).exits(0).json();
        assert_eq!(done["summary"]["outcomes"]["moved"], 3, "{done:#}");
        assert_eq!(count(&database, "public.jobs WHERE status = 'QUEUED' AND attempts = 1"), 3);
        assert_eq!(count(&database, "public.jobdoctor_ledger"), 3);
        assert_eq!(
            (count(&database, "decoy.jobs WHERE status = 'RUNNING'"), count(&database, "decoy.jobdoctor_ledger")),
            (3, 0)
        );
        doctor.run(&["undo", done["run_id"].as_str().unwrap(), "--apply", "--db", &database.url()]).exits(0);
        assert_eq!(count(&database, "public.jobs WHERE status = 'RUNNING' AND attempts = 0"), 3);
    }
}

/// Settings of the role, the database or the environment that would make the same words mean something else.
#[test]
fn settings_from_outside_change_no_verdict() {
    let (doctor, database) = queue();
    doctor.run(&["init", "--ledger", "--db", &database.url()]).exits(0);
    let mut client = database.client();
    client.batch_execute(DECOYS).unwrap();
    client.batch_execute("INSERT INTO public.jobs (id, status, owner_id, lease_expires_at) VALUES (9, 'RUNNING', 'web2:1', now() + interval '50 s')").unwrap();
    let options = "-c search_path=decoy -c TimeZone=Asia/Kolkata -c DateStyle=German -c IntervalStyle=iso_8601 -c row_security=on \
        -c standard_conforming_strings=off -c extra_float_digits=-15 -c default_transaction_isolation=serializable \
        -c default_transaction_deferrable=on -c bytea_output=escape -c lock_timeout=1 -c transform_null_equals=on";
    let doctor = doctor.env("PGOPTIONS", options);
    let run = |arguments: &[&str]| {
        doctor
            .run(&[arguments, &["-o", "json", "--schema", "public", "--db", &database.url()]].concat())
            .exits(0)
            .json()
    };
    assert_eq!(run(&["stale"])["summary"]["stuck"], 3);
    assert_eq!(run(&["reclaim", "--apply"])["summary"]["outcomes"]["moved"], 3);
    assert_eq!(count(&database, "public.jobs WHERE status = 'QUEUED'"), 3);
    assert_eq!(count(&database, "decoy.jobs WHERE status = 'RUNNING'"), 3);
}
