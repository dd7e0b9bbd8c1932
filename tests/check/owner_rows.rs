//! Owners' rows that the application finds and our join would not, or takes for one where there are two: a living owner has one.

use crate::support::cli::Doctor;
use crate::support::labs::without_server;
use crate::support::postgres::fresh;
use std::fs;

const MAPPING: &str = "[mapping.m]
time = { default = 'TIME' }
states = { waiting = ['new'], in_flight = ['working'] }
claim = { table = 'q', key = 'id', state = 'status', claimed_at = 'at', liveness = [{ by = 'owner', silent_after = '2m' }] }
owner = { id = 'worker', table = 'workers', match = { name = 'worker' }, heartbeat = 'beat', missing = 'dead' ROWS }
action = { requeue = { to = 'new', clear = ['worker'] } }
";

/// The worker's column, the owners' table, and what the mapping says of its rows. All beat right now.
const SQLITE: [(&str, &str, &str); 3] = [
    (
        "worker TEXT COLLATE NOCASE",
        "CREATE TABLE workers (name TEXT PRIMARY KEY, beat INT); INSERT INTO workers VALUES ('web1', unixepoch())",
        "",
    ),
    (
        "worker TEXT COLLATE NOCASE",
        "CREATE TABLE workers (name TEXT COLLATE NOCASE, beat INT, PRIMARY KEY (name COLLATE BINARY));
         INSERT INTO workers VALUES ('WEB1', unixepoch() - 9000), ('web1', unixepoch())",
        "",
    ),
    (
        "worker TEXT",
        "CREATE TABLE workers (name TEXT, beat INT NOT NULL, RowId TEXT);
         INSERT INTO workers VALUES ('WEB1', unixepoch() - 9000, 1), ('WEB1', unixepoch(), 1)",
        ", rows = 'newest'",
    ),
];
const POSTGRES: [(&str, &str, &str); 2] = [
    (
        "worker citext",
        "CREATE TABLE workers (name citext PRIMARY KEY, beat timestamptz); INSERT INTO workers VALUES ('web1', now())",
        "",
    ),
    (
        "worker text",
        "CREATE TABLE workers (name text PRIMARY KEY, beat timestamptz); CREATE TABLE eu () INHERITS (workers);
         INSERT INTO eu VALUES ('WEB1', now() - interval '3 h'); INSERT INTO workers VALUES ('WEB1', now())",
        "",
    ),
];

fn is_refused((worker, owners, rows): (&str, &str, &str), time: &str, db: &str, sql: &dyn Fn(&str)) {
    let doctor = Doctor::new();
    fs::write(doctor.path("m.toml"), MAPPING.replace("ROWS", rows).replace("TIME", time)).unwrap();
    let ago = if time == "native" { "now() - interval '1 h'" } else { "unixepoch() - 3600" };
    let kind = if time == "native" { "timestamptz" } else { "INT" };
    sql(&format!(
        "CREATE TABLE q (id INT PRIMARY KEY, status TEXT, {worker}, at {kind}); {owners};
         INSERT INTO q VALUES (1, 'working', 'WEB1', {ago})"
    ));
    for command in [&["check"][..], &["stale"], &["reclaim", "--apply"]] {
        let ran = doctor.run(&[command, &["--config", "m.toml", "--preset", "m", "--db", db]].concat());
        assert!(ran.code == 78 && ran.whole().contains("match"), "{worker}, {owners}: {ran:#?}");
    }
}

#[test]
fn on_sqlite() {
    for case in SQLITE {
        let files = Doctor::new();
        let db = files.path("q.db");
        is_refused(case, "epoch s", db.to_str().unwrap(), &|sql| files.sql_in("q.db", sql));
    }
}

#[test]
fn on_postgres() {
    if without_server() {
        return;
    }
    for case in POSTGRES {
        let database = fresh();
        database.client().batch_execute("CREATE EXTENSION citext").unwrap();
        is_refused(case, "native", &database.url(), &|sql| database.client().batch_execute(sql).unwrap());
    }
}
