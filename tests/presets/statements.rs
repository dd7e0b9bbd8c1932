use jobdoctor::model::{Cell, Engine, Key, Timestamp};
use jobdoctor::preset::{Catalog, LiveColumn, LiveSchema, LiveTable, Place, resolve};
use jobdoctor::store::{Cutoffs, Dialect, PostgresDialect, SqliteDialect, statements};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write;

fn table(schema: &str, name: &str, columns: &[(&str, &str)]) -> LiveTable {
    let column = |(name, type_name): &(&str, &str)| LiveColumn {
        name: (*name).to_owned(),
        type_name: (*type_name).to_owned(),
        readable: true,
        writable: true,
        ..LiveColumn::default()
    };
    LiveTable {
        schema: schema.to_owned(),
        name: name.to_owned(),
        visible: true,
        columns: columns.iter().map(column).collect(),
        unique: vec![vec!["id".to_owned()]],
        ..LiveTable::default()
    }
}

fn all_statements(preset: &str, engine: Engine, dialect: &'static dyn Dialect, tables: Vec<LiveTable>) -> String {
    let catalog = Catalog::built_in().unwrap();
    let live = LiveSchema { engine, tables, role: None, enums: BTreeMap::new() };
    let mut never = |_: &str| -> Result<bool, Infallible> { Ok(false) };
    let spec = resolve(catalog.find(preset).unwrap(), &live, &Place::default(), &mut never).unwrap();
    let now = Timestamp::parse("2026-11-20T10:00:00Z").unwrap();
    let keys = [Key(vec![Cell::Integer(1)]), Key(vec![Cell::Integer(2)])];
    let mut text = String::new();
    for (name, statement) in statements::statements(&spec, dialect, &Cutoffs::at(now, None), &keys, now) {
        writeln!(text, "-- {name}\n{}\n{:?}\n", statement.sql, statement.params).unwrap();
    }
    text
}

const LEASE: [&str; 6] = ["claimed_at", "heartbeat_at", "lease_expires_at", "deadline_at", "run_at", "finished_at"];

fn lease(schema: &str, id: &str, time: &str) -> LiveTable {
    let texts = ["queue", "kind", "status", "owner_id", "lease_token", "error_detail"].map(|name| (name, "text"));
    let times = LEASE.map(|name| (name, time));
    let columns: Vec<(&str, &str)> = [("id", id), ("attempts", "integer"), ("max_attempts", "integer")]
        .into_iter()
        .chain(texts)
        .chain(times)
        .collect();
    table(schema, "jobs", &columns)
}

#[test]
fn lease_on_sqlite() {
    let tables = vec![lease("main", "integer", "integer")];
    insta::assert_snapshot!(all_statements("lease", Engine::Sqlite, &SqliteDialect, tables));
}

#[test]
fn lease_on_postgres() {
    let tables = vec![lease("public", "bigint", "timestamp with time zone")];
    insta::assert_snapshot!(all_statements("lease", Engine::Postgres, &PostgresDialect, tables));
}

#[test]
fn procrastinate_on_postgres() {
    let jobs = [
        ("id", "bigint"),
        ("queue_name", "character varying(128)"),
        ("task_name", "character varying(128)"),
        ("queueing_lock", "text"),
        ("status", "public.procrastinate_job_status"),
        ("scheduled_at", "timestamp with time zone"),
        ("attempts", "integer"),
        ("abort_requested", "boolean"),
        ("worker_id", "bigint"),
    ];
    let workers = [("id", "bigint"), ("last_heartbeat", "timestamp with time zone")];
    let events = [("id", "bigint"), ("job_id", "bigint"), ("type", "text"), ("at", "timestamp with time zone")];
    let tables = vec![
        table("public", "procrastinate_jobs", &jobs),
        table("public", "procrastinate_workers", &workers),
        table("public", "procrastinate_events", &events),
    ];
    insta::assert_snapshot!(all_statements("procrastinate", Engine::Postgres, &PostgresDialect, tables));
}
