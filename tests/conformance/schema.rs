//! What a database says about its tables, and what a preset makes of it.

use crate::support::doctor::{
    apply, built_in, fit, fitted, look, mapping, outcomes, planned, scan, steps, try_resolve, verdicts,
};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::insert;
use crate::support::labs::{Lab, PostgresLab, SqlLab, as_in_memory, for_each_sql_store, for_each_store, store_at};
use crate::support::tables::{JOBS, RETRY_JOBS};
use jobdoctor::model::{Engine, Outcome};
use jobdoctor::policy::Policy;
use jobdoctor::preset::{Catalog, Place, detect};
use jobdoctor::store::{Detail, StoreErrorKind, Wanted};

#[test]
fn a_missing_table_is_named() {
    for_each_store(|lab| {
        let error = try_resolve(&*lab.store(), &built_in("lease"), &Place::default()).unwrap_err();
        assert!(error.to_string().contains("no table `jobs`"), "{}: {error}", lab.name());
    });
}

#[test]
fn a_missing_column_is_named_with_the_likely_one() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE jobs (id integer PRIMARY KEY, state text, owner_id text)");
        let error = try_resolve(&*lab.store(), &built_in("lease"), &Place::default()).unwrap_err().to_string();
        assert!(error.contains("no column `status`") && error.contains("state"), "{}: {error}", lab.name());
    });
}

#[test]
fn columns_that_may_be_absent_are_done_without() {
    for_each_sql_store(|lab| {
        let time = lab.pick("integer", "timestamptz");
        lab.run(&format!("CREATE TABLE jobs (id integer PRIMARY KEY, status text, owner_id text, claimed_at {time})"));
        lab.run(&format!("INSERT INTO jobs VALUES (1, 'RUNNING', 'w', {})", lab.ago(4000)));
        let (store, spec, steps) = planned(lab, &built_in("lease"));
        assert_eq!(spec.liveness.len(), 1, "{}", lab.name());
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved], "{}", lab.name());
        assert!(lab.ask("SELECT status = 'QUEUED' AND owner_id IS NULL AND claimed_at IS NULL FROM jobs"));
    });
}

#[test]
fn variants_are_told_by_their_columns() {
    as_in_memory(|lab| {
        lab.create(&[RETRY_JOBS]);
        let spec = fit(&*lab.store(), &built_in("lease"));
        assert_eq!(spec.queue.variants, ["retry_count and max_retry"], "{}", lab.name());
        spec.queue.variants.clone()
    });
}

#[test]
fn epoch_integers_on_postgres_are_a_variant() {
    let lab = PostgresLab::new();
    for column in ["heartbeat_at", "lease_expires_at", "claimed_at"] {
        lab.clear();
        lab.run(&format!(
            "CREATE TABLE jobs (id bigint PRIMARY KEY, status text, owner_id text, {column} bigint);
             INSERT INTO jobs SELECT n, 'RUNNING', 'w', extract(epoch FROM now())::bigint - n * 4000 \
             FROM generate_series(0, 1) AS n"
        ));
        let (store, spec) = fitted(&lab, &built_in("lease"));
        assert_eq!(spec.queue.variants.len(), 1, "{column}");
        let said = verdicts(&*store, &spec, &Policy::default());
        assert!(said.last().is_some_and(|line| line.starts_with("1 ") && line.contains("stuck")), "{column}: {said:?}");
    }
}

#[test]
fn the_states_in_use_may_be_of_a_type_without_a_least_one() {
    for_each_sql_store(|lab| {
        let (flag, yes, no) = (lab.pick("text", "boolean"), lab.pick("'true'", "true"), lab.pick("'false'", "false"));
        lab.run(&format!("CREATE TABLE named (id integer PRIMARY KEY, running {flag})"));
        lab.run(&format!("INSERT INTO named VALUES (1, {yes}), (2, {no}), (3, {yes}), (4, NULL)"));
        let store = lab.store();
        let text = r#"
            states = { waiting = ["false"], in_flight = ["true"] }
            [claim]
            table = "named"
            key = "id"
            state = "running"
            liveness = []
        "#;
        let spec = fit(&*store, &mapping(text));
        let states = look(&*store).states_in_use(&spec).unwrap_or_else(|error| panic!("{}: {error}", lab.name()));
        let states: Vec<String> = states.iter().map(ToString::to_string).collect();
        assert_eq!(states, ["false", "true"], "{}", lab.name());
        let rows = |most| look(&*store).count_in_states(&spec, &["true".to_owned()], most).unwrap();
        assert_eq!((rows(9), rows(1)), (2, 1), "{}", lab.name());
        assert_eq!(scan(&*store, &spec, &Wanted::All).len(), 2, "{}", lab.name());
    });
}

#[test]
fn states_may_be_integers() {
    let text = r#"
        time   = { default = { sqlite = "epoch s", postgres = "native" } }
        [states]
        waiting = { new = 0 }
        in_flight = { taken = 1, running = 2 }
        failed = { dead = 9 }
        [claim]
        table = "numbered"
        key = "id"
        state = "state"
        claimed_at = "started"
        liveness = [{ by = "age", column = "started", silent_after = "1h" }]
        [action]
        requeue = { to = "new" }
        fail = { to = "dead" }
        "#;
    for_each_sql_store(|lab| {
        for declared in ["integer", "smallint"] {
            lab.clear();
            lab.run(&format!(
                "CREATE TABLE numbered (id integer PRIMARY KEY, state {declared}, started {})",
                lab.pick("integer", "timestamptz")
            ));
            let old = lab.ago(4000);
            lab.run(&format!("INSERT INTO numbered VALUES (1, 1, {old}), (2, 2, {old}), (3, 0, {old}), (4, 9, {old})"));
            let (store, spec, steps) = planned(lab, &mapping(text));
            let mut states: Vec<String> =
                scan(&*store, &spec, &Wanted::All).into_iter().map(|claim| claim.state).collect();
            states.sort();
            assert_eq!(states, ["running", "taken"], "{}: a {declared} state by its name", lab.name());
            assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved; 2], "{}", lab.name());
            assert!(lab.ask("SELECT count(*) = 3 FROM numbered WHERE state = 0"), "{}", lab.name());
            let mut reader = look(&*store);
            let mut used: Vec<String> =
                reader.states_in_use(&spec).unwrap().iter().map(|cell| spec.queue.states.name_of(cell)).collect();
            used.sort();
            assert_eq!(used, ["dead", "new"], "{}", lab.name());
        }
    });
}

#[test]
fn states_may_be_an_enum_and_names_may_need_quotes() {
    let lab = PostgresLab::new();
    lab.run(
        r#"CREATE SCHEMA "App's"; CREATE TYPE "App's".phase AS ENUM ('to do', 'in ''flight''', 'Done');
           CREATE TABLE "App's"."Job ""Queue""" ("jobId" bigint PRIMARY KEY, "curState" "App's".phase, "lockedAt" timestamptz,
             "order" text);
           INSERT INTO "App's"."Job ""Queue""" VALUES (1, 'in ''flight''', now() - interval '1 day', 'x'),
             (2, 'to do', NULL, 'y')"#,
    );
    let text = r#"
        schema = "App's"
        states = { waiting = ["to do"], in_flight = ["in 'flight'"], done = ["Done"] }
        [tables]
        queue = 'Job "Queue"'
        [claim]
        table = "queue"
        key = "jobId"
        state = "curState"
        queue = "order"
        claimed_at = "lockedAt"
        liveness = [{ by = "age", column = "lockedAt", silent_after = "1h" }]
        [action]
        requeue = { to = "to do", clear = ["lockedAt"] }
        "#;
    let (store, spec, steps) = planned(&lab, &mapping(text));
    assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved]);
    assert!(
        lab.ask(
            r#"SELECT count(*) = 2 FROM "App's"."Job ""Queue""" WHERE "curState" = 'to do' AND "lockedAt" IS NULL"#
        )
    );
}

#[test]
fn another_name_for_the_table() {
    for_each_sql_store(|lab| {
        let odd = "we\"ird; DROP TABLE x --";
        lab.run(&format!(
            "CREATE TABLE \"{}\" (id integer PRIMARY KEY, status text, owner_id text, heartbeat_at {})",
            odd.replace('"', "\"\""),
            lab.pick("integer", "timestamptz")
        ));
        let store = lab.store();
        let place = Place { table: Some(odd.to_owned()), ..Place::default() };
        let spec = try_resolve(&*store, &built_in("lease"), &place).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scan(&*store, &spec, &Wanted::All).len(), 0, "{}", lab.name());
    });
}

#[test]
fn a_schema_that_is_not_on_the_path_must_be_named() {
    let lab = PostgresLab::new();
    lab.run("CREATE SCHEMA one; CREATE SCHEMA two");
    for schema in ["one", "two"] {
        lab.run(&format!(
            "CREATE TABLE {schema}.jobs (id bigint PRIMARY KEY, status text, owner_id text, heartbeat_at timestamptz);
             INSERT INTO {schema}.jobs VALUES (1, 'RUNNING', '{schema}', now() - interval '1 h')"
        ));
    }
    let store = lab.store();
    let error = try_resolve(&*store, &built_in("lease"), &Place::default()).unwrap_err().to_string();
    assert!(error.contains("one, two") && error.contains("--schema"), "{error}");
    let place = Place { schema: Some("two".to_owned()), ..Place::default() };
    let spec = try_resolve(&*store, &built_in("lease"), &place).unwrap();
    let steps = steps(&*store, &spec, &Policy::default());
    assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved]);
    assert!(lab.ask("SELECT status = 'RUNNING' FROM one.jobs"), "the other schema is skipped");
}

/// A table of the same name earlier on the path, or functions that shadow the built-in ones, change nothing.
#[test]
fn what_shadows_our_names_is_passed_by() {
    let lab = PostgresLab::new();
    lab.create(&[JOBS]);
    lab.edit(&[insert("jobs", &[("id", Int(1)), ("status", Text("RUNNING")), ("heartbeat_at", Ago(900))])]);
    let (store, spec) = fitted(&lab, &built_in("lease"));
    lab.run(
        "CREATE SCHEMA evil; CREATE TABLE evil.jobs (LIKE public.jobs);
         CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''1999-01-01''::timestamptz';
         CREATE FUNCTION public.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT ''evil''';
         CREATE FUNCTION public.split_part(text, text, bigint) RETURNS text LANGUAGE sql AS 'SELECT ''evil''';
         DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = evil, public, pg_catalog', current_database());
         END $$",
    );
    let steps = steps(&*store, &spec, &Policy::default());
    assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved]);
    assert!(lab.ask("SELECT status = 'QUEUED' AND run_at > '2020-01-01' FROM public.jobs"));
}

/// A role that cannot see must be told so, never that there is nothing.
#[test]
fn a_role_without_rights_is_denied_and_never_sees_an_empty_queue() {
    let lab = PostgresLab::new();
    lab.create(&[JOBS]);
    lab.edit(&[insert("jobs", &[("id", Int(1)), ("status", Text("RUNNING")), ("heartbeat_at", Ago(900))])]);
    let spec = fit(&*lab.store(), &built_in("lease"));
    let role = format!("blind_{}", std::process::id());
    lab.run(&format!("CREATE ROLE {role} LOGIN"));
    let blind = store_at(&lab.database.url().replace(" user=doctor", &format!(" user={role}")));
    let seen = |wanted: &Wanted| {
        look(&*blind).scan(&spec, wanted, Detail::ForAction, &mut |_| ()).map(drop).map_err(|error| error.kind)
    };
    assert_eq!(seen(&Wanted::All), Err(StoreErrorKind::Denied), "no right to select");
    let live = look(&*blind).live_schema(&["jobs".to_owned()]).unwrap();
    assert!(live.tables[0].columns.iter().all(|column| !column.readable && !column.writable), "still in the catalog");
    lab.run(&format!("GRANT SELECT (id, status) ON jobs TO {role}"));
    assert_eq!(seen(&Wanted::All), Err(StoreErrorKind::Denied), "no right to select some column");
    lab.run(&format!("GRANT SELECT ON jobs TO {role}; ALTER TABLE jobs ENABLE ROW LEVEL SECURITY"));
    assert_eq!(seen(&Wanted::All), Err(StoreErrorKind::Denied), "row-level security would hide rows");
    assert!(look(&*blind).live_schema(&["jobs".to_owned()]).unwrap().tables[0].row_security);
    lab.run("ALTER TABLE jobs DISABLE ROW LEVEL SECURITY");
    assert_eq!(seen(&Wanted::All), Ok(()));
    let steps = steps(&*blind, &spec, &Policy::default());
    let report = apply(&*blind, &spec, &steps);
    assert_eq!(report.results[0].outcome, Outcome::NotTried);
    assert_eq!(report.stop.map(|error| error.kind), Some(StoreErrorKind::Denied), "no right to write");
    lab.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

fn solid_queue() -> jobdoctor::preset::Preset {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/presets/valid/solid-queue.toml");
    jobdoctor::preset::Preset::parse("solid-queue.toml", "solid-queue", &std::fs::read_to_string(path).unwrap())
        .unwrap()
}

#[test]
fn a_queue_is_recognised_by_its_tables_and_two_are_not_chosen_between() {
    for_each_sql_store(|lab| {
        let mut catalog = Catalog::default();
        catalog.add(built_in("lease")).unwrap();
        catalog.add(solid_queue()).unwrap();
        let detected = || {
            let store = lab.store();
            let names: Vec<String> =
                catalog.iter().flat_map(|preset| preset.table_names(store.engine(), &Default::default())).collect();
            let live = look(&*store).live_schema(&names).unwrap();
            detect(&catalog, &live, &Place::default()).map(|preset| preset.name.clone()).map_err(|e| e.to_string())
        };
        assert!(detected().unwrap_err().contains("no table that a known preset uses"), "{}", lab.name());
        lab.run("CREATE TABLE jobs (id integer PRIMARY KEY, status text, attempts integer)");
        assert!(detected().unwrap_err().contains("jobs"), "{}: too plain to be told, but seen", lab.name());
        lab.run("ALTER TABLE jobs ADD COLUMN owner_id text");
        lab.run("ALTER TABLE jobs ADD COLUMN claimed_at integer");
        assert!(detected().unwrap_err().contains("heartbeat_at or lease_expires_at"), "{}", lab.name());
        lab.run("ALTER TABLE jobs ADD COLUMN heartbeat_at integer");
        assert_eq!(detected().as_deref(), Ok("lease"), "{}", lab.name());
        lab.run(
            "CREATE TABLE solid_queue_jobs (id integer PRIMARY KEY, queue_name text, class_name text, concurrency_key text);
             CREATE TABLE solid_queue_processes (id integer PRIMARY KEY, name text, last_heartbeat_at text);
             CREATE TABLE solid_queue_claimed_executions (id integer PRIMARY KEY, job_id integer, process_id integer);
             CREATE TABLE solid_queue_ready_executions (id integer PRIMARY KEY, job_id integer, queue_name text,
               priority integer)",
        );
        let error = detected().unwrap_err();
        assert!(error.contains("lease") && error.contains("solid-queue") && error.contains("--preset"), "{error}");
    });
}

#[test]
fn the_catalog_knows_keys_indexes_and_triggers() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE jobs (id integer PRIMARY KEY, status text, kind text, extra text)");
        lab.run(
            "CREATE UNIQUE INDEX by_kind ON jobs (kind); CREATE INDEX part ON jobs (status, id) WHERE status = 'x'",
        );
        if lab.engine() == Engine::Sqlite {
            lab.run("CREATE TRIGGER t AFTER UPDATE ON jobs BEGIN SELECT 1; END");
        } else {
            lab.run(
                "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
                 CREATE TRIGGER t AFTER UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION t()",
            );
        }
        let live = look(&*lab.store()).live_schema(&["jobs".to_owned(), "absent".to_owned()]).unwrap();
        assert_eq!(live.tables.len(), 1, "{}", lab.name());
        let table = &live.tables[0];
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "status", "kind", "extra"], "{}", lab.name());
        assert!(table.key_columns.contains("kind") && !table.key_columns.contains("status"), "{}", lab.name());
        assert_eq!(table.triggers, ["t"], "{}", lab.name());
        let partial = table.indexes.iter().find(|index| index.condition.is_some()).unwrap();
        assert_eq!(partial.columns, ["status", "id"], "{}", lab.name());
    });
}

/// Two rows of one owner would be two heartbeats, and the older one would kill what the newer keeps alive.
#[test]
fn an_owners_table_without_a_unique_name_is_refused() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE order_queue (id integer PRIMARY KEY, status text, worker text, started integer)");
        lab.run("CREATE TABLE worker_pings (name text, seen_at integer)");
        let mapping = "time = { default = 'epoch s' }\nstates = { in_flight = ['working'] }\n[claim]\ntable = 'order_queue'\n\
                       key = 'id'\nstate = 'status'\nliveness = [{ by = 'owner', silent_after = '2m' }]\n[owner]\n\
                       id = 'worker'\ntable = 'worker_pings'\nmatch = { name = 'worker' }\nheartbeat = 'seen_at'\n";
        let preset = jobdoctor::preset::Preset::parse("the mapping", "orders", mapping).unwrap();
        let refused = || try_resolve(&*lab.store(), &preset, &Place::default()).err().map(|error| error.to_string());
        let said = refused().unwrap_or_default();
        assert!(said.contains("no unique index on name"), "{}: {said}", lab.name());
        lab.run("CREATE UNIQUE INDEX worker_pings_name ON worker_pings (name)");
        assert_eq!(refused(), None, "{}", lab.name());
    });
}
