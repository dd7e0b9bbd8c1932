//! A SQLite file, in either of its journal modes.

use super::{Lab, OpenTransaction, SqlLab};
use crate::support::edit::Edit;
use crate::support::shm;
use crate::support::tables::{self, Kind, Table};
use jobdoctor::model::Engine;
use jobdoctor::store::{Address, Store, open};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How the file keeps what is not committed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    Wal,
    Rollback,
}

pub struct SqliteLab {
    journal: Journal,
    directory: TempDir,
}

impl SqliteLab {
    pub fn new(journal: Journal) -> SqliteLab {
        let lab = SqliteLab { journal, directory: shm::directory("jobdoctor-lab-") };
        let mode = if journal == Journal::Wal { "wal" } else { "delete" };
        connect(&lab.path()).pragma_update(None, "journal_mode", mode).unwrap();
        lab
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }
}

fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    connection
}

pub fn declare(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "INTEGER PRIMARY KEY",
        Kind::Name => "TEXT NOT NULL PRIMARY KEY",
        Kind::Int | Kind::Time => "INTEGER",
        Kind::Text => "TEXT",
    }
}

fn image(connection: &Connection, table: &str) -> String {
    let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    let columns: Vec<String> = columns.query_map([table], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let values: Vec<String> =
        columns.iter().map(|c| format!("'{c}=' || typeof(\"{c}\") || ':' || hex(quote(\"{c}\"))")).collect();
    let sql = format!("SELECT {} FROM \"{table}\" ORDER BY 1", values.join(" || ' ' || "));
    let mut rows = connection.prepare(&sql).unwrap();
    let rows: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    rows.join("\n")
}

impl Lab for SqliteLab {
    fn name(&self) -> &'static str {
        match self.journal {
            Journal::Wal => "sqlite, WAL",
            Journal::Rollback => "sqlite, rollback journal",
        }
    }

    fn store(&self) -> Box<dyn Store> {
        open(&Address::file(self.path()))
    }

    fn create(&self, tables: &[Table]) {
        self.run(&tables.iter().map(|table| tables::ddl(table, declare)).collect::<String>());
    }

    fn clear(&self) {
        let connection = connect(&self.path());
        let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
        let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        self.run(&tables.iter().map(|table| format!("DROP TABLE \"{table}\";")).collect::<String>());
    }

    fn edit(&self, edits: &[Edit]) {
        self.run(&self.script(edits));
    }

    fn hold(&self, edits: &[Edit]) -> Box<dyn OpenTransaction> {
        self.hold_sql(&self.script(edits))
    }

    fn image(&self, table: &str) -> String {
        image(&connect(&self.path()), table)
    }

    fn row(&self, table: &Table, id: i64) -> Vec<String> {
        let now = |name: &str| format!("abs(\"{name}\" - unixepoch('now')) < 60");
        let sql = tables::row_sql(table, id, now);
        let connection = connect(&self.path());
        let row = connection.query_row(&sql, [], |row| (0..table.columns.len()).map(|n| row.get(n)).collect());
        row.unwrap()
    }

    fn locks_rows(&self) -> bool {
        false
    }

    fn sql(&self) -> Option<&dyn SqlLab> {
        Some(self)
    }
}

impl SqlLab for SqliteLab {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn address(&self) -> String {
        self.path().display().to_string()
    }

    fn run(&self, sql: &str) {
        let done = connect(&self.path()).execute_batch(&format!("BEGIN IMMEDIATE; {sql}; COMMIT;"));
        done.unwrap_or_else(|error| panic!("{error} in {sql}"));
    }

    fn ask(&self, sql: &str) -> bool {
        connect(&self.path()).query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{error} in {sql}"))
    }

    fn hold_sql(&self, sql: &str) -> Box<dyn OpenTransaction> {
        let connection = connect(&self.path());
        let begun = connection.execute_batch(&format!("BEGIN IMMEDIATE; {sql};"));
        begun.unwrap_or_else(|error| panic!("{error} in {sql}"));
        Box::new(Held(connection))
    }

    fn ago(&self, seconds: i64) -> String {
        format!("(unixepoch('now') - ({seconds}))")
    }
}

struct Held(Connection);

impl OpenTransaction for Held {
    fn image(&mut self, table: &str) -> String {
        image(&self.0, table)
    }

    fn commit(self: Box<Self>) {
        self.0.execute_batch("COMMIT").unwrap();
    }

    fn rollback(self: Box<Self>) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}
