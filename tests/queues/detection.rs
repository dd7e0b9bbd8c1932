//! Without --preset the program knows what lives in a database, or says what it saw.

use super::rights::{of, words};
use super::tables::{Tables, all, on_sqlite, tables};
use crate::support::cli::{Doctor, Ran, fails};
use crate::support::postgres::{TestDatabase, fresh};

fn stale(database: &TestDatabase, options: &[&str]) -> Ran {
    Doctor::new().run(&[&["stale", "--older", "1h", "--json", "--db", &database.url()], options].concat())
}

fn refused(database: &TestDatabase) -> String {
    fails(&Doctor::new(), &["stale", "--db", &database.url()], 78).stderr
}

#[test]
fn each_queue_is_recognised() {
    for tables in all() {
        let database = tables.made();
        // The planner of a database that has been in use for a while tries conditions in another order.
        database.client().batch_execute("ANALYZE").unwrap();
        is_recognised(&tables, &stale(&database, &of(&words(&tables, &["option"]))));
    }
    for tables in on_sqlite() {
        let doctor = Doctor::new();
        doctor.sql("queue.db", &tables.sql);
        is_recognised(&tables, &doctor.run(&["stale", "--older", "1h", "--json", "--db", "queue.db"]));
    }
}

fn is_recognised(tables: &Tables, ran: &Ran) {
    let place = format!("{} {}", tables.queue, tables.version);
    if ran.code == 78 {
        // A version that is too old says so itself; it is not taken for another queue.
        assert!(ran.stderr.contains(&format!("preset {}", tables.queue)), "{place}: {}", ran.stderr);
        assert!(ran.stderr.contains("is refused: "), "{place}: {}", ran.stderr);
        return;
    }
    assert_eq!(ran.code, 0, "{place}: {}", ran.stderr);
    assert_eq!(ran.json()["target"]["preset"], tables.queue.as_str(), "{place}");
}

#[test]
fn a_version_that_nobody_knows_is_refused_with_what_was_seen_and_expected() {
    let database = tables("oban", "elixir-v14").made();
    database
        .client()
        .batch_execute("ALTER TABLE oban_jobs ALTER errors DROP DEFAULT, ALTER errors TYPE text USING ''")
        .unwrap();
    let said = refused(&database);
    assert!(said.contains("of no version that is known (checked against"), "{said}");
    assert!(said.contains("`Elixir` wants oban_jobs.errors to be jsonb[]"), "{said}");
    assert!(said.contains("public.oban_jobs has id bigint") && said.contains("errors text"), "{said}");
}

#[test]
fn tables_that_lack_a_column_are_named_with_it() {
    let database = tables("river", "v7").made();
    database.client().batch_execute("ALTER TABLE river_job RENAME attempted_by TO taken_by").unwrap();
    let said = refused(&database);
    assert!(said.contains("no known queue was recognised"), "{said}");
    assert!(said.contains("preset river is the nearest (checked against"), "{said}");
    assert!(said.contains("table river_job has no column attempted_by"), "{said}");
}

/// What is called `jobs` here is not what the preset calls so.
#[test]
fn a_version_that_nobody_knows_is_told_by_the_tables_own_names() {
    let database = fresh();
    database
        .client()
        .batch_execute(
            "CREATE SCHEMA graphile_worker;
             CREATE TABLE graphile_worker.jobs (id bigint PRIMARY KEY, task_identifier text, locked_at timestamptz)",
        )
        .unwrap();
    let said = fails(&Doctor::new(), &["stale", "--db", &database.url(), "--preset", "graphile-worker"], 78).stderr;
    assert!(said.contains("wants table _private_jobs and table _private_job_queues"), "{said}");
}

#[test]
fn a_queue_off_the_search_path_is_pointed_at_and_other_tables_of_its_names_are_not() {
    let database = fresh();
    let mut client = database.client();
    client.batch_execute("CREATE SCHEMA crm; CREATE TABLE crm.tasks (id bigint PRIMARY KEY)").unwrap();
    let said = refused(&database);
    assert!(said.contains("no known queue was recognised") && !said.contains("--schema"), "{said}");
    let sql = tables("river", "v7").sql;
    client.batch_execute(&format!("CREATE SCHEMA app; SET search_path = app; {sql}")).unwrap();
    let said = refused(&database);
    assert!(said.contains("there is one in app: say which with --schema"), "{said}");
    let ran = Doctor::new().run(&["stale", "--older", "1h", "--schema", "app", "--db", &database.url()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// Off the search path too; and of a partitioned table not the partitions.
#[test]
fn a_table_that_looks_like_a_queue_is_named_where_none_is_recognised() {
    let database = fresh();
    database
        .client()
        .batch_execute(
            r#"CREATE SCHEMA app;
             CREATE TABLE app."BackgroundTasks" ("taskId" uuid, "Status" text, "startedAt" timestamptz, worker text, retries int)
               PARTITION BY LIST ("Status");
             CREATE TABLE app.open_tasks PARTITION OF app."BackgroundTasks" FOR VALUES IN ('working');
             CREATE TABLE documents (id bigint PRIMARY KEY, status text, owner_id text)"#,
        )
        .unwrap();
    let said = refused(&database);
    let tables = "Tables that look like a queue: app.BackgroundTasks (Status, startedAt, retries, worker)\n";
    assert!(said.contains(tables) && said.contains("`jobdoctor help mapping`"), "{said}");
}

/// Each type compares with its stored states in its own way.
#[test]
fn rows_in_states_that_a_mapping_does_not_name_are_counted_whatever_their_type() {
    for (of_type, state) in
        [("e", "ODD"), ("integer", "7"), ("uuid", "aaaaaaaa-0000-0000-0000-000000000001"), ("boolean", "true")]
    {
        let database = fresh();
        let table = format!(
            "CREATE TYPE e AS ENUM ('ODD', 'RUN'); CREATE TABLE tasks (id bigint PRIMARY KEY, state {of_type});
             INSERT INTO tasks SELECT n, '{state}' FROM generate_series(1, 3) AS n"
        );
        database.client().batch_execute(&table).unwrap();
        let running = if of_type == "integer" {
            "1"
        } else if of_type == "uuid" {
            "aaaaaaaa-0000-0000-0000-000000000002"
        } else if of_type == "boolean" {
            "false"
        } else {
            "RUN"
        };
        let mapping = format!(
            "[mapping.m]\nstates = {{ in_flight = [\"{running}\"] }}\nclaim = {{ table = \"tasks\", key = \"id\", state = \"state\" }}\n\
             [mapping.m.action.fail]\nto = \"{running}\"\n"
        );
        let doctor = Doctor::new();
        std::fs::write(doctor.path("c.toml"), mapping).unwrap();
        let ran = doctor.run(&["stale", "--config", "c.toml", "--preset", "m", "--db", &database.url()]);
        let warning = format!("does not name the states of 3 rows of public.tasks: {state};");
        assert!(ran.stderr.contains(&warning), "{}", ran.whole());
    }
}

#[test]
fn tables_of_a_preset_in_its_own_schema_and_of_no_known_shape_are_not_off_the_path() {
    let database = fresh();
    let made = "CREATE SCHEMA pgboss; CREATE TABLE pgboss.job (id uuid PRIMARY KEY, name text)";
    database.client().batch_execute(made).unwrap();
    let said = refused(&database);
    assert!(said.contains("preset pg-boss is the nearest") && !said.contains("--schema"), "{said}");
}

#[test]
fn a_table_that_only_a_probe_reads_and_is_not_there_is_named() {
    let database = tables("pg-boss", "12.38").made();
    database.client().batch_execute("DROP TABLE pgboss.version").unwrap();
    let said = fails(&Doctor::new(), &["stale", "--db", &database.url(), "--preset", "pg-boss"], 78).stderr;
    assert!(said.contains("there is no table `version` in schema `pgboss`"), "{said}");
    assert!(!said.contains("42P01"), "{said}");
}
