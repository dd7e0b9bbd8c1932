//! Without --preset the program knows what lives in a database, or says what it saw.

use super::rights::{of, words};
use super::tables::{Tables, all, on_sqlite, shop, tables};
use crate::support::cli::{Ran, fails};
use crate::support::shop::Shop;

const STALE: [&str; 4] = ["stale", "--older", "1h", "--json"];

#[test]
fn each_queue_is_recognised() {
    for tables in all() {
        let shop = Shop::on(tables.made());
        // The planner of a database that has been in use for a while tries conditions in another order.
        shop.sql("ANALYZE");
        is_recognised(&tables, &shop.run(&[&STALE[..], &of(&words(&tables, &["option"]))].concat()));
    }
    for tables in on_sqlite() {
        let shop = Shop::on_sqlite();
        shop.sql(&tables.sql);
        is_recognised(&tables, &shop.run(&STALE));
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

fn refused(shop: &Shop, arguments: &[&str]) -> String {
    fails(&shop.doctor, &shop.with_db(&[&["stale"], arguments].concat()), 78).stderr
}

/// A mistake near each queue, and what is said of it, as the tables are named here.
#[test]
fn tables_of_no_version_that_is_known_are_refused_with_what_was_seen_and_expected() {
    for (queue, version, changed, preset, says) in [
        (
            "oban",
            "elixir-v14",
            "ALTER TABLE oban_jobs ALTER errors DROP DEFAULT, ALTER errors TYPE text USING ''",
            &[][..],
            &[
                "match no known version (checked against",
                "`Elixir` wants oban_jobs.errors to be jsonb[]",
                "public.oban_jobs has id bigint",
                "errors text",
            ][..],
        ),
        (
            "river",
            "v7",
            "ALTER TABLE river_job RENAME attempted_by TO taken_by",
            &[],
            &[
                "no known queue was recognised",
                "preset river is the nearest (checked against",
                "table river_job has no column attempted_by",
            ],
        ),
        (
            "graphile-worker",
            "0.16",
            "DROP SCHEMA graphile_worker CASCADE; CREATE SCHEMA graphile_worker;
             CREATE TABLE graphile_worker.jobs (id bigint PRIMARY KEY, task_identifier text, locked_at timestamptz)",
            &["--preset", "graphile-worker"],
            &["wants table _private_jobs and table _private_job_queues"],
        ),
        (
            "pg-boss",
            "12.38",
            "DROP TABLE pgboss.version",
            &["--preset", "pg-boss"],
            &["there is no table `version` in schema `pgboss`"],
        ),
    ] {
        let said = refused(&shop(queue, version, changed), preset);
        assert!(says.iter().all(|words| said.contains(words)) && !said.contains("42P01"), "{queue}: {said}");
    }
}

/// Tables of its names elsewhere are none, and those of a preset in its own schema and of no known shape are not off the path.
#[test]
fn a_queue_off_the_search_path_is_pointed_at_and_other_tables_of_its_names_are_not() {
    let shop = Shop::on_postgres();
    shop.sql("CREATE SCHEMA crm; CREATE TABLE crm.tasks (id bigint PRIMARY KEY)");
    let said = refused(&shop, &[]);
    assert!(said.contains("no known queue was recognised") && !said.contains("--schema"), "{said}");
    let sql = tables("river", "v7").sql;
    shop.sql(&format!("CREATE SCHEMA app; SET search_path = app; {sql}"));
    let said = refused(&shop, &[]);
    assert!(said.contains("there is one in app: name it with --schema"), "{said}");
    shop.run(&["stale", "--older", "1h", "--schema", "app"]).exits(0);
    let shop = Shop::on_postgres();
    shop.sql("CREATE SCHEMA pgboss; CREATE TABLE pgboss.job (id uuid PRIMARY KEY, name text)");
    let said = refused(&shop, &[]);
    assert!(said.contains("preset pg-boss is the nearest") && !said.contains("--schema"), "{said}");
}

/// Off the search path too; and of a partitioned table not the partitions.
#[test]
fn a_table_that_looks_like_a_queue_is_named_where_none_is_recognised() {
    let shop = Shop::on_postgres();
    shop.sql(
        r#"CREATE SCHEMA app;
         CREATE TABLE app."BackgroundTasks" ("taskId" uuid, "Status" text, "startedAt" timestamptz, worker text, retries int)
           PARTITION BY LIST ("Status");
         CREATE TABLE app.open_tasks PARTITION OF app."BackgroundTasks" FOR VALUES IN ('working');
         CREATE TABLE documents (id bigint PRIMARY KEY, status text, owner_id text)"#,
    );
    let said = refused(&shop, &[]);
    let tables = "Tables that look like a queue: app.BackgroundTasks (Status, startedAt, retries, worker)\n";
    assert!(said.contains(tables) && said.contains("`jobdoctor help mapping`"), "{said}");
}

/// Each type compares with its stored states in its own way.
#[test]
fn rows_in_states_that_a_mapping_does_not_name_are_counted_whatever_their_type() {
    let uuid = "aaaaaaaa-0000-0000-0000-00000000000";
    for (of_type, state, running) in [
        ("e", "ODD", "RUN"),
        ("integer", "7", "1"),
        ("uuid", &format!("{uuid}1"), &format!("{uuid}2")),
        ("boolean", "true", "false"),
    ] {
        let shop = Shop::on_postgres();
        shop.sql(&format!(
            "CREATE TYPE e AS ENUM ('ODD', 'RUN'); CREATE TABLE tasks (id bigint PRIMARY KEY, state {of_type});
             INSERT INTO tasks SELECT n, '{state}' FROM generate_series(1, 3) AS n"
        ));
        let mapping = format!(
            "[mapping.m]\nstates = {{ in_flight = [\"{running}\"] }}\nclaim = {{ table = \"tasks\", key = \"id\", state = \"state\" }}\n"
        );
        std::fs::write(shop.doctor.path("c.toml"), mapping).unwrap();
        let ran = shop.run(&["stale", "--config", "c.toml", "--preset", "m"]);
        let warning = format!("3 rows of public.tasks are in states that m does not declare: {state};");
        ran.says(&warning);
    }
}
