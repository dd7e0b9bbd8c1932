//! A file, in either of its journal modes.

use super::{Sessions, World, spelled, world};
use crate::simulation::deed::{WORKERS, Worker};
use crate::simulation::log::{Entry, Image, Rows, values_sql};
use crate::simulation::queue::Queue;
use crate::support::labs::Journal;
use crate::support::labs::sqlite::declare;
use crate::support::shm;
use crate::support::tables::{Table, ddl};
use jobdoctor::store::{Address, open};
use rusqlite::{Connection, Error, ErrorCode, Row};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

pub fn sqlite(journal: Journal, queue: Queue) -> World {
    let directory = shm::directory("jobdoctor-history-");
    let path = directory.path().join("queue.db");
    let (name, mode) = match journal {
        Journal::Wal => ("SQLite, WAL", "wal"),
        Journal::Rollback => ("SQLite, rollback journal", "delete"),
    };
    let own = connect(&path);
    own.pragma_update(None, "journal_mode", mode).unwrap();
    own.execute_batch(&queue.tables().iter().map(|table| ddl(table, declare) + &triggers(table)).collect::<String>())
        .and_then(|()| own.execute_batch(LOG))
        .unwrap();
    let workers = (0..WORKERS).map(|_| connect(&path)).collect();
    let sessions = SqliteSessions { queue, own, workers, opened: None, histories: 0, _directory: directory };
    let address = Address::file(path);
    world(name, queue, open(&address), &*open(&address), Box::new(sessions), 1)
}

/// Nobody waits: what cannot be done is not done.
fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    connection.set_prepared_statement_cache_capacity(512);
    connection
}

const LOG: &str = "CREATE TABLE log (seq INTEGER PRIMARY KEY, at INTEGER, tab TEXT, key TEXT, old TEXT, new TEXT)";

/// Short, because every new connection reads what the triggers are made of.
fn image(table: &Table, row: &str) -> String {
    format!("json_array({})", values_sql(table, row, str::to_owned))
}

fn triggers(table: &Table) -> String {
    let (name, key) = (table.name, table.columns[0].0);
    let image = |row| image(table, row);
    let trigger = |event: &str, row: &str, old: &str, new: &str| {
        format!(
            "CREATE TRIGGER {name}_{event} AFTER {event} ON {name} BEGIN INSERT INTO log (at, tab, key, old, new) VALUES \
             (unixepoch('now'), '{name}', {row}.{key}, {old}, {new}); END;"
        )
    };
    let (old, new) = (image("OLD"), image("NEW"));
    trigger("INSERT", "NEW", "NULL", &new)
        + &trigger("UPDATE", "NEW", &old, &new)
        + &trigger("DELETE", "OLD", &old, "NULL")
}

struct SqliteSessions {
    queue: Queue,
    own: Connection,
    workers: Vec<Connection>,
    /// Whose transaction is open: there is one at most.
    opened: Option<Worker>,
    histories: usize,
    _directory: TempDir,
}

/// After so many histories the WAL goes back into the file.
const CHECKPOINT: usize = 500;

/// Runs a statement; not where the file is locked.
fn run(connection: &Connection, sql: &str) -> bool {
    match connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])) {
        Ok(_) => true,
        Err(Error::SqliteFailure(error, _)) if error.code == ErrorCode::DatabaseBusy => false,
        Err(error) => panic!("{error} in {sql}"),
    }
}

fn spell(sql: &str) -> String {
    spelled(sql, &[(":now", "unixepoch('now')"), (":later", "(unixepoch('now') + 600)"), (":back", " - 4000")])
}

fn entry(row: &Row<'_>) -> Result<Entry, Error> {
    Ok(Entry {
        seq: row.get(0)?,
        who: None,
        at: row.get(1)?,
        row: (row.get(2)?, row.get(3)?),
        old: row.get::<_, Option<String>>(4)?.map(Image),
        new: row.get::<_, Option<String>>(5)?.map(Image),
    })
}

impl Sessions for SqliteSessions {
    fn reset(&mut self, rows: &[String]) {
        (0..WORKERS).for_each(|worker| self.end(worker, false));
        assert!(run(&self.own, "BEGIN IMMEDIATE"));
        let tables = self.queue.tables();
        tables.iter().for_each(|table| assert!(run(&self.own, &format!("DELETE FROM {}", table.name))));
        assert!(run(&self.own, "DELETE FROM log"));
        rows.iter().for_each(|row| assert!(run(&self.own, &spell(row))));
        assert!(run(&self.own, "COMMIT"));
        self.histories += 1;
        if self.histories.is_multiple_of(CHECKPOINT) {
            self.own.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        }
    }

    fn begin(&mut self, worker: Worker) {
        if self.opened.is_none() && run(&self.workers[worker], "BEGIN IMMEDIATE") {
            self.opened = Some(worker);
        }
    }

    fn end(&mut self, worker: Worker, well: bool) {
        if self.opened == Some(worker) {
            assert!(run(&self.workers[worker], if well { "COMMIT" } else { "ROLLBACK" }));
            self.opened = None;
        }
    }

    fn work(&mut self, worker: Worker, sql: &str) {
        run(&self.workers[worker], &spell(sql));
    }

    fn happen(&mut self, sql: &str) {
        run(&self.own, &spell(sql));
    }

    fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    fn mark(&mut self) -> i64 {
        let mut last = self.own.prepare_cached("SELECT coalesce(max(seq), 0) FROM log").unwrap();
        last.query_row([], |row| row.get(0)).unwrap()
    }

    fn by_doctors(&mut self, since: i64) -> Vec<Entry> {
        let sql = "SELECT seq, at, tab, key, old, new FROM log WHERE seq > ?1 ORDER BY seq";
        let mut log = self.own.prepare_cached(sql).unwrap();
        log.query_map([since], entry).unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn log(&mut self) -> Vec<Entry> {
        self.by_doctors(0)
    }

    fn rows(&mut self) -> Rows {
        let mut rows = Rows::new();
        for table in self.queue.tables() {
            let (key, image) = (table.columns[0].0, image(&table, "t"));
            let sql = format!("SELECT t.{key}, {image} FROM {} AS t", table.name);
            let mut all = self.own.prepare_cached(&sql).unwrap();
            let read = |row: &Row<'_>| {
                let key = match row.get::<_, rusqlite::types::Value>(0)? {
                    rusqlite::types::Value::Integer(id) => id.to_string(),
                    _ => row.get(0)?,
                };
                Ok(((table.name.to_owned(), key), Image(row.get(1)?)))
            };
            let all: Vec<_> = all.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap();
            rows.extend(all);
        }
        rows
    }
}
