//! Tables that only look like a known queue's, and tables of one that go by other names or live on another engine.

use super::tables::tables;
use crate::support::cli::{Doctor, fails};
use crate::support::postgres::{TestDatabase, fresh};
use std::fs;

fn with(sql: &str) -> TestDatabase {
    let database = fresh();
    database.client().batch_execute(sql).unwrap();
    database
}

fn said(database: &TestDatabase, arguments: &[&str]) -> String {
    fails(&Doctor::new(), &[&["stale", "--db", &database.url()], arguments].concat(), 78).stderr
}

#[test]
fn a_status_an_owner_and_a_claim_time_make_no_lease() {
    let doctor = Doctor::new();
    let table = "CREATE TABLE jobs (id integer PRIMARY KEY, title text, status text, owner_id text, claimed_at";
    let row =
        "INSERT INTO jobs (id, title, status, owner_id, claimed_at) VALUES (1, 'Paint my house', 'CLAIMED', 'ann'";
    doctor.sql("m.db", &format!("{table} integer); {row}, 1700000000)"));
    let ran = fails(&doctor, &["reclaim", "--apply", "--db", "m.db"], 78);
    assert!(
        ran.stderr
            .contains("preset lease is the nearest, but table jobs has no column heartbeat_at or lease_expires_at"),
        "{}",
        ran.whole()
    );
    assert_eq!(doctor.rows("m.db", "SELECT status, owner_id FROM jobs"), ["CLAIMED ann"]);
    let database = with(&format!("{table} timestamptz); {row}, now() - interval '2 days')"));
    assert!(
        said(&database, &[])
            .contains("preset lease is the nearest, but table jobs has no column heartbeat_at or lease_expires_at")
    );
    // Who names it means it.
    let named = Doctor::new().run(&["stale", "-o", "name", "--preset", "lease", "--db", &database.url()]).exits(0);
    assert_eq!(named.stdout, "1\n");
}

#[test]
fn an_owner_may_be_of_any_type() {
    for (of_type, owner) in [("uuid", "'aaaaaaaa-0000-0000-0000-000000000001'"), ("integer", "7"), ("text", "'web1:7'")]
    {
        let database = with(&format!(
            "CREATE TABLE jobs (id bigint PRIMARY KEY, status text, owner_id {of_type}, heartbeat_at timestamptz, run_at timestamptz,
               attempts integer, max_attempts integer);
             CREATE INDEX ON jobs (status);
             INSERT INTO jobs (id, status, owner_id, heartbeat_at) VALUES (1, 'RUNNING', {owner}, now() - interval '1 day')"
        ));
        let ran = Doctor::new().run(&["reclaim", "--apply", "--json", "--db", &database.url()]).exits(0);
        assert_eq!(ran.json()["summary"]["outcomes"]["moved"], 1, "{of_type}: {}", ran.whole());
    }
}

#[test]
fn an_enum_without_a_state_in_flight_makes_no_lease() {
    let database = with("CREATE TYPE job_status AS ENUM ('QUEUED', 'CLAIMED', 'SUCCEEDED');
         CREATE TABLE jobs (id bigint PRIMARY KEY, status job_status, owner_id text, heartbeat_at timestamptz, attempts integer)");
    let seen = said(&database, &[]);
    assert!(
        seen.contains(
            "preset lease is the nearest, but status of table jobs is the enum public.job_status without RUNNING"
        ),
        "{seen}"
    );
    let named = said(&database, &["--preset", "lease"]);
    assert!(named.contains("key `claim.state`: `status` is the enum public.job_status without RUNNING"), "{named}");
}

#[test]
fn a_state_that_is_no_text_makes_no_lease() {
    for of_type in ["integer", "boolean", "jsonb", "text[]", "numeric(4,0)"] {
        let database = with(&format!(
            "CREATE TABLE jobs (id bigint PRIMARY KEY, status {of_type}, owner_id text, heartbeat_at timestamptz, attempts integer)"
        ));
        let lacking = format!("of type {of_type}, which cannot hold CLAIMED, RUNNING");
        let seen = said(&database, &[]);
        assert!(
            seen.contains(&format!("preset lease is the nearest, but status of table jobs is {lacking}")),
            "{seen}"
        );
        let named = said(&database, &["--preset", "lease"]);
        assert!(named.contains(&format!("key `claim.state`: `status` is {lacking}")), "{named}");
    }
}

/// Reading every row of a big table to tell one queue from another is more than a snapshot may cost.
#[test]
fn many_rows_without_an_index_on_the_state_are_not_read_to_tell_what_they_are() {
    let fill = "INSERT INTO jobs (id, status) SELECT n, 'SUCCEEDED' FROM";
    let database = with(&format!(
        "CREATE TABLE jobs (id integer PRIMARY KEY, status text, owner_id text, heartbeat_at timestamptz, attempts integer);
         {fill} generate_series(1, 100000) AS n"
    ));
    let stale = |database: &TestDatabase, code: i32| Doctor::new().run(&["stale", "--db", &database.url()]).exits(code);
    stale(&database, 0);
    database.client().batch_execute("INSERT INTO jobs (id, status) VALUES (0, 'SUCCEEDED')").unwrap();
    let refused = stale(&database, 78).stderr;
    assert!(refused.contains("jobs has more than 100000 rows and no index that begins with status"), "{refused}");
    assert!(refused.contains("name it with --preset lease"), "{refused}");
    Doctor::new().run(&["stale", "--preset", "lease", "--db", &database.url()]).exits(0);
    database.client().batch_execute("CREATE INDEX ON jobs (status, id)").unwrap();
    stale(&database, 0);

    let doctor = Doctor::new();
    doctor.sql(
        "m.db",
        &format!(
            "CREATE TABLE jobs (id integer PRIMARY KEY, status text, owner_id text, heartbeat_at integer, attempts integer);
             WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 100000) {fill} s"
        ),
    );
    assert!(fails(&doctor, &["stale", "--db", "m.db"], 78).stderr.contains("no index that begins with status"));
    doctor.sql("m.db", "CREATE INDEX by_status ON jobs (status)");
    doctor.run(&["stale", "--db", "m.db"]).exits(0);
}

/// Under their usual names and under others; a library may come to run on another engine before its preset does.
#[test]
fn tables_on_an_engine_that_the_preset_does_not_know_are_named_with_it() {
    let doctor = Doctor::new();
    let tables = "CREATE TABLE procrastinate_jobs (id integer, queue_name text, task_name text, status text, queueing_lock text, lock text, args text,
          priority integer, attempts integer, scheduled_at text, abort_requested integer, worker_id integer);
        CREATE TABLE procrastinate_workers (id integer, last_heartbeat text);
        CREATE TABLE procrastinate_events (id integer, job_id integer, type text, at text)";
    doctor.sql("usual.db", tables);
    doctor.sql("other.db", &tables.replace("TABLE procrastinate", "TABLE app_procrastinate"));
    for (file, named) in [
        ("usual.db", "the tables of procrastinate are here (procrastinate_"),
        ("other.db", "the tables of procrastinate are here under other names (app_procrastinate_"),
    ] {
        let refused = fails(&doctor, &["stale", "--db", file], 78).stderr;
        assert!(refused.contains(named), "{refused}");
        assert!(refused.contains("preset procrastinate knows postgres only, and this database is sqlite"), "{refused}");
        assert!(refused.contains("presets show procrastinate") && !refused.contains("none of the tables"), "{refused}");
    }
}

/// What the error says is done, and works.
#[test]
fn one_table_of_another_name_is_named_in_every_command_and_taken_with_the_option_that_is_printed() {
    let database = with(&tables("delayed-job", "4.2.0").sql.replace("delayed_jobs", "background_jobs"));
    let (doctor, url) = (Doctor::new(), database.url());
    let say = "the tables of delayed-job are here under other names (background_jobs for delayed_jobs); say so with --preset delayed-job \
               --table background_jobs";
    for command in ["stale", "owners", "reclaim", "sweep", "stats", "check"] {
        let ran = doctor.run(&[command, "--db", &url]).exits(78);
        assert!(ran.whole().contains(say), "{command}: {}", ran.whole());
    }
    let ran = doctor.run(&["show", "1", "--db", &url]).exits(78);
    assert!(ran.whole().contains(say), "show: {}", ran.whole());
    let ran = doctor.run(&["health", "--db", &url]).exits(3);
    assert!(ran.whole().contains(say), "health: {}", ran.whole());
    let named = ["--preset", "delayed-job", "--table", "background_jobs", "--db", &url];
    doctor.run(&[&["stale"][..], &named].concat()).exits(0);
    database.client().batch_execute("ALTER TABLE background_jobs ADD strand text").unwrap();
    let ran = doctor.run(&[&["stale"][..], &named].concat()).exits(78);
    assert!(ran.stderr.contains("these are the tables of inst-jobs"), "{}", ran.whole());
}

/// With the way out that the message names, taken.
#[test]
fn tables_with_a_prefix_are_named_and_take_the_option_for_it() {
    let database = with(&tables("solid-queue", "1.5.0").sql.replace("solid_queue_", "app_solid_queue_"));
    let refused = said(&database, &[]);
    let named = "the tables of solid-queue are here under other names (app_solid_queue_jobs for solid_queue_jobs, ";
    assert!(refused.contains(named), "{refused}");
    assert!(refused.contains("say so with --preset solid-queue --option table_prefix=app_"), "{refused}");
    let option = ["--preset", "solid-queue", "--option", "table_prefix=app_", "--db", &database.url()];
    Doctor::new().run(&[&["stale"][..], &option].concat()).exits(0);
    // Half of the tables are nobody's.
    let database = with("CREATE TABLE app_solid_queue_jobs (id bigint)");
    assert!(!said(&database, &[]).contains("other names"));
}

/// Where the preset has no option for it. With the way out that the message names, taken.
#[test]
fn tables_with_a_prefix_take_a_mapping_made_from_the_preset() {
    let database = with(&tables("procrastinate", "3.10").sql.replace("procrastinate_", "app_procrastinate_"));
    let refused = said(&database, &[]);
    assert!(
        refused.contains("--table renames one table only") && refused.contains("presets show procrastinate`"),
        "{refused}"
    );
    let doctor = Doctor::new();
    let preset = doctor.run(&["presets", "show", "procrastinate"]).exits(0).stdout;
    let line = |line: &str| match line {
        "name    = \"procrastinate\"" => String::new(),
        _ if line.starts_with("[[") => line.replacen("[[", "[[mapping.app.", 1),
        _ if line.starts_with('[') => line.replacen('[', "[mapping.app.", 1),
        _ => line.replace("\"procrastinate_", "\"app_procrastinate_"),
    };
    let mapping: Vec<String> = preset.lines().map(line).collect();
    fs::write(doctor.path("config.toml"), format!("[mapping.app]\n{}\n", mapping.join("\n"))).unwrap();
    let ran = doctor.run(&["stale", "--config", "config.toml", "--preset", "app", "--db", &database.url()]);
    assert_eq!(ran.code, 0, "{}", ran.whole());
}

/// Who names the preset is refused what detection refuses, and hears of a column that only a statement of an action names.
#[test]
fn a_named_preset_is_refused_tables_that_lack_a_column() {
    let mut wrong = Vec::new();
    for (queue, version, rename, lacks) in [
        (
            "river",
            "v6",
            "river_job RENAME unique_states TO u",
            "table river_job has no column unique_states (checked against",
        ),
        (
            "good-job",
            "4.19",
            "good_job_executions RENAME duration TO d",
            "table good_job_executions has no column duration (checked against",
        ),
        (
            "good-job",
            "4.19",
            "good_job_executions RENAME created_at TO c",
            "table good_job_executions has no column `created_at`",
        ),
        (
            "graphile-worker",
            "0.16",
            "graphile_worker._private_job_queues RENAME locked_by TO l",
            "table _private_job_queues has no column `locked_by`",
        ),
        (
            "pg-boss",
            "12.38",
            "pgboss.queue RENAME retention_seconds TO r",
            "table queue has no column `retention_seconds`",
        ),
        ("pg-boss", "12.38", "pgboss.job RENAME deletion_seconds TO d", "table job has no column `deletion_seconds`"),
    ] {
        let database = tables(queue, version).made();
        database.client().batch_execute(&format!("ALTER TABLE {rename}")).unwrap();
        let refused =
            Doctor::new().run(&["stale", "--preset", queue, "--older", "1h", "--db", &database.url()]).whole();
        if !refused.contains(lacks) {
            wrong.push(format!("{queue}: {refused}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn river_job(owner: &str) -> TestDatabase {
    let database = tables("river", "v7").made();
    database
        .client()
        .batch_execute(&format!(
            "INSERT INTO river_job (id, state, attempt, attempted_at, attempted_by, args, kind)
             VALUES (1, 'running', 1, now() - interval '5 minutes', '{{{owner}_2026_11_22T10_00_00_000000}}', '{{}}', 'send_mail')"
        ))
        .unwrap();
    database
}

/// River writes the dots of a host's name as _ into its clients' ids.
#[test]
fn a_host_with_dots_is_found_as_its_queue_spells_it() {
    let database = river_job("web1_example_com");
    let sweep = |host: &str| {
        let arguments = ["sweep", "--restart", "--host", host, "--json", "--db", &database.url()];
        Doctor::new().run(&arguments).exits(0).json()["steps"].as_array().unwrap().len()
    };
    assert_eq!((sweep("web1.example.com"), sweep("web1_example_com")), (1, 1));
    assert_eq!((sweep("web1"), sweep("web1.example.co"), sweep("web1.example.com.au")), (0, 0, 0));
    let listed = ["stale", "--older", "1m", "--host", "web1.example.com", "-o", "name", "--db", &database.url()];
    assert_eq!(Doctor::new().run(&listed).exits(0).stdout, "1\n");
}

/// It also cuts them after 60 bytes: two hosts that begin alike look the same, and the other one may be alive.
#[test]
fn a_host_whose_name_is_cut_is_declared_dead_by_its_owner_only() {
    let (host, kept) = (format!("{}-aa", "w".repeat(59)), "w".repeat(59) + "-");
    let database = river_job(&kept);
    let url = database.url();
    // A name of 60 bytes is stored whole, and so is the beginning of a longer one.
    for host in [&host, &kept] {
        let ran = Doctor::new().run(&["sweep", "--restart", "--host", host, "--apply", "--db", &url]).exits(2);
        assert!(ran.stderr.contains("keep only the first 60 bytes of a host's name"), "{}", ran.whole());
        assert!(ran.stderr.contains("--owner"), "{}", ran.whole());
    }
    let listed = ["stale", "--older", "1m", "--host", &host, "-o", "name", "--db", &url];
    assert_eq!(Doctor::new().run(&listed).exits(0).stdout, "1\n");
}
