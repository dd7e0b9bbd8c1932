//! Tables that only look like a known queue's, and tables of one that go by other names or live on another engine.

use super::tables::{shop, tables};
use crate::support::cli::{Doctor, fails};
use crate::support::shop::Shop;
use serde_json::Value;
use std::fs;

fn with(sql: &str) -> Shop {
    let shop = Shop::on_postgres();
    shop.sql(sql);
    shop
}

fn said(shop: &Shop, arguments: &[&str]) -> String {
    fails(&shop.doctor, &shop.with_db(&[&["stale"], arguments].concat()), 78).stderr
}

#[test]
fn a_status_an_owner_and_a_claim_time_make_no_lease() {
    let why = "preset lease is the nearest, but table jobs has no column heartbeat_at or lease_expires_at";
    for (shop, time) in [(Shop::on_sqlite(), "integer"), (Shop::on_postgres(), "timestamptz")] {
        shop.sql(&format!(
            "CREATE TABLE jobs (id integer PRIMARY KEY, title text, status text, owner_id text, claimed_at {time});
             INSERT INTO jobs VALUES (1, 'Paint my house', 'CLAIMED', 'ann', {{ago 200000}})"
        ));
        fails(&shop.doctor, &shop.with_db(&["reclaim", "--apply"]), 78).says(why);
        assert_eq!(shop.rows("SELECT status, owner_id FROM jobs"), ["CLAIMED ann"]);
        // Who names it means it.
        assert_eq!(shop.run(&["stale", "-o", "name", "--preset", "lease"]).exits(0).stdout, "1\n");
    }
}

#[test]
fn an_owner_may_be_of_any_type() {
    for (of_type, owner) in [("uuid", "'aaaaaaaa-0000-0000-0000-000000000001'"), ("integer", "7"), ("text", "'web1:7'")]
    {
        let shop = with(&format!(
            "CREATE TABLE jobs (id bigint PRIMARY KEY, status text, owner_id {of_type}, heartbeat_at timestamptz, run_at timestamptz,
               attempts integer, max_attempts integer);
             CREATE INDEX ON jobs (status);
             INSERT INTO jobs (id, status, owner_id, heartbeat_at) VALUES (1, 'RUNNING', {owner}, now() - interval '1 day')"
        ));
        let ran = shop.run(&["reclaim", "--apply", "--json"]).exits(0).json();
        assert_eq!(ran["summary"]["outcomes"]["moved"], 1, "{of_type}: {ran}");
    }
}

#[test]
fn a_state_that_is_no_text_or_cannot_be_in_flight_makes_no_lease() {
    let others = ["integer", "boolean", "jsonb", "text[]", "numeric(4,0)"];
    let cannot = |of_type| (of_type, format!("of type {of_type}, which cannot hold CLAIMED, RUNNING"));
    let of_enum = ("job_status", "the enum public.job_status without RUNNING".to_owned());
    for (of_type, lacking) in others.map(cannot).into_iter().chain([of_enum]) {
        let shop = with(&format!(
            "CREATE TYPE job_status AS ENUM ('QUEUED', 'CLAIMED', 'SUCCEEDED');
             CREATE TABLE jobs (id bigint PRIMARY KEY, status {of_type}, owner_id text, heartbeat_at timestamptz, attempts integer)"
        ));
        let seen = said(&shop, &[]);
        assert!(seen.contains(&format!("nearest, but status of table jobs is {lacking}")), "{seen}");
        let named = said(&shop, &["--preset", "lease"]);
        assert!(named.contains(&format!("key `claim.state`: `status` is {lacking}")), "{named}");
    }
}

/// Reading every row of a big table to tell one queue from another is more than a snapshot may cost.
#[test]
fn many_rows_without_an_index_on_the_state_are_not_read_to_tell_what_they_are() {
    let fill = "INSERT INTO jobs (id, status) SELECT n, 'SUCCEEDED' FROM";
    let sequence = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 100000)";
    for (shop, time) in [(Shop::on_sqlite(), "integer"), (Shop::on_postgres(), "timestamptz")] {
        shop.sql(&format!(
            "CREATE TABLE jobs (id integer PRIMARY KEY, status text, owner_id text, heartbeat_at {time}, attempts integer);
             {sequence} {fill} s"
        ));
        shop.run(&["stale"]).exits(0);
        shop.sql("INSERT INTO jobs (id, status) VALUES (0, 'SUCCEEDED')");
        let refused = shop.run(&["stale"]).exits(78).stderr;
        assert!(refused.contains("jobs has more than 100000 rows and no index that begins with status"), "{refused}");
        assert!(refused.contains("name it with --preset lease"), "{refused}");
        shop.run(&["stale", "--preset", "lease"]).exits(0);
        shop.sql("CREATE INDEX by_status ON jobs (status, id)");
        shop.run(&["stale"]).exits(0);
    }
}

/// Under their usual names and under others; a library may come to run on another engine before its preset does.
#[test]
fn tables_on_an_engine_that_the_preset_does_not_know_are_named_with_it() {
    let doctor = Doctor::new();
    let tables = "CREATE TABLE procrastinate_jobs (id integer, queue_name text, task_name text, status text, queueing_lock text, lock text, args text,
          priority integer, attempts integer, scheduled_at text, abort_requested integer, worker_id integer);
        CREATE TABLE procrastinate_workers (id integer, last_heartbeat text);
        CREATE TABLE procrastinate_events (id integer, job_id integer, type text, at text)";
    doctor.sql_in("usual.db", tables);
    doctor.sql_in("other.db", &tables.replace("TABLE procrastinate", "TABLE app_procrastinate"));
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
    let shop = with(&tables("delayed-job", "4.2.0").sql.replace("delayed_jobs", "background_jobs"));
    let say = "the tables of delayed-job are here under other names (background_jobs for delayed_jobs); name it with --preset delayed-job \
               --table background_jobs";
    for command in ["stale", "owners", "reclaim", "sweep", "stats", "check", "show 1", "health"] {
        let words: Vec<&str> = command.split(' ').collect();
        let ran = shop.run(&words).exits(if command == "health" { 3 } else { 78 });
        assert!(ran.whole().contains(say), "{command}: {}", ran.whole());
    }
    let named = ["stale", "--preset", "delayed-job", "--table", "background_jobs"];
    shop.run(&named).exits(0);
    shop.sql("ALTER TABLE background_jobs ADD strand text");
    shop.run(&named).exits(78).says("these are the tables of inst-jobs");
}

/// With the way out that the message names, taken.
#[test]
fn tables_with_a_prefix_are_named_and_take_the_option_for_it() {
    let shop = with(&tables("solid-queue", "1.5.0").sql.replace("solid_queue_", "app_solid_queue_"));
    let refused = said(&shop, &[]);
    let named = "the tables of solid-queue are here under other names (app_solid_queue_jobs for solid_queue_jobs, ";
    assert!(refused.contains(named), "{refused}");
    assert!(refused.contains("name it with --preset solid-queue --option table_prefix=app_"), "{refused}");
    shop.run(&["stale", "--preset", "solid-queue", "--option", "table_prefix=app_"]).exits(0);
    // Half of the tables are nobody's.
    assert!(!said(&with("CREATE TABLE app_solid_queue_jobs (id bigint)"), &[]).contains("other names"));
}

#[test]
fn tables_with_a_prefix_take_a_mapping_made_from_the_preset() {
    let shop = with(&tables("procrastinate", "3.10").sql.replace("procrastinate_", "app_procrastinate_"));
    let refused = said(&shop, &[]);
    assert!(
        refused.contains("--table renames one table only") && refused.contains("presets show procrastinate`"),
        "{refused}"
    );
    let preset = shop.doctor.run(&["presets", "show", "procrastinate"]).exits(0).stdout;
    let line = |line: &str| match line {
        "name    = \"procrastinate\"" => String::new(),
        _ if line.starts_with("[[") => line.replacen("[[", "[[mapping.app.", 1),
        _ if line.starts_with('[') => line.replacen('[', "[mapping.app.", 1),
        _ => line.replace("\"procrastinate_", "\"app_procrastinate_"),
    };
    let mapping: Vec<String> = preset.lines().map(line).collect();
    fs::write(shop.doctor.path("config.toml"), format!("[mapping.app]\n{}\n", mapping.join("\n"))).unwrap();
    shop.run(&["stale", "--config", "config.toml", "--preset", "app"]).exits(0);
}

/// Who names the preset is refused what detection refuses, and hears of a column that only a statement of an action names.
#[test]
fn a_named_preset_is_refused_tables_that_lack_a_column() {
    let mut wrong = Vec::new();
    for (queue, version, table, column, lacks) in [
        ("river", "v6", "river_job", "unique_states", "unique_states (checked against"),
        ("good-job", "4.19", "good_job_executions", "duration", "duration (checked against"),
        ("good-job", "4.19", "good_job_executions", "created_at", "`created_at`"),
        ("graphile-worker", "0.16", "graphile_worker._private_job_queues", "locked_by", "`locked_by`"),
        ("pg-boss", "12.38", "pgboss.queue", "retention_seconds", "`retention_seconds`"),
        ("pg-boss", "12.38", "pgboss.job", "deletion_seconds", "`deletion_seconds`"),
    ] {
        let shop = shop(queue, version, &format!("ALTER TABLE {table} RENAME {column} TO other"));
        let refused = shop.run(&["stale", "--preset", queue, "--older", "1h"]).whole();
        let table = table.rsplit('.').next().unwrap();
        if !refused.contains(&format!("table {table} has no column {lacks}")) {
            wrong.push(format!("{queue}: {refused}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn river_job(owner: &str) -> Shop {
    shop(
        "river",
        "v7",
        &format!(
            "INSERT INTO river_job (id, state, attempt, attempted_at, attempted_by, args, kind)
             VALUES (1, 'running', 1, now() - interval '5 minutes', '{{{owner}_2026_11_22T10_00_00_000000}}', '{{}}', 'send_mail')"
        ),
    )
}

/// River writes the dots of a host's name as _ into its clients' ids.
#[test]
fn a_host_with_dots_is_found_as_its_queue_spells_it() {
    let shop = river_job("web1_example_com");
    let sweep = |host: &str| {
        let swept = shop.run(&["sweep", "--restart", "--host", host, "--json"]).exits(0).json();
        swept["steps"].as_array().unwrap().len()
    };
    assert_eq!((sweep("web1.example.com"), sweep("web1_example_com")), (1, 1));
    assert_eq!((sweep("web1"), sweep("web1.example.co"), sweep("web1.example.com.au")), (0, 0, 0));
    let listed = ["stale", "--older", "1m", "--host", "web1.example.com", "-o", "name"];
    assert_eq!(shop.run(&listed).exits(0).stdout, "1\n");
}

/// The client for Rust adds eight random digits. Host and time alone may end in such digits too.
#[test]
fn the_hosts_of_clients_for_go_and_for_rust() {
    let on_sqlite = Shop::on_sqlite();
    on_sqlite.doctor.sql(&fs::read_to_string("fixtures/schemas/river/sqlite/v7.sql").unwrap());
    for (shop, ids) in [(shop("river", "v7", ""), "ARRAY[client]"), (on_sqlite, "jsonb(json_array(client))")] {
        shop.sql(&format!(
            "INSERT INTO river_job (id, state, attempt, attempted_at, attempted_by, args, kind, max_attempts)
             SELECT id, 'running', 1, '2026-11-20 10:00:00', {ids}, '{{}}', 'send_mail', 25
             FROM (SELECT 1 AS id, 'web1_2026_11_22T10_00_00_000000' AS client UNION ALL SELECT 2, 'web1_2026_11_22T10_00_00_000000_0badf00d'
             UNION ALL SELECT 3, 'web1_2026_11_22T10_00_00_000000_0badf00' UNION ALL SELECT 4, 'web1_0badf00d') AS clients"
        ));
        let listed = shop.run(&["stale", "--json"]).exits(0).json();
        let hosts: Vec<&Value> = listed["jobs"].as_array().unwrap().iter().map(|job| &job["host"]).collect();
        assert_eq!(hosts, [&"web1".into(), &"web1".into(), &Value::Null, &Value::Null], "{}", shop.url);
    }
}

/// It also cuts them after 60 bytes: two hosts that begin alike look the same, and the other one may be alive.
#[test]
fn a_host_whose_name_is_cut_is_declared_dead_by_its_owner_only() {
    let (host, kept) = (format!("{}-aa", "w".repeat(59)), "w".repeat(59) + "-");
    let shop = river_job(&kept);
    // A name of 60 bytes is stored whole, and so is the beginning of a longer one.
    for host in [&host, &kept] {
        let ran = shop.run(&["sweep", "--restart", "--host", host, "--apply"]).exits(2);
        ran.says("keep only the first 60 bytes of a host's name").says("--owner");
    }
    assert_eq!(shop.run(&["stale", "--older", "1m", "--host", &host, "-o", "name"]).exits(0).stdout, "1\n");
}
