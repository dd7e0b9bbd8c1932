//! Tables on SQLite, in a file of their own.

use super::Database;
use crate::scenes::changes::Rows;
use crate::support::shm;
use jobdoctor::model::Engine;
use jobdoctor::store::{Address, Surroundings};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::PathBuf;
use tempfile::TempDir;

const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
ORDER BY name";
const KEY: &str = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
const JSONB: &str =
    "SELECT 'jsonb ' || json(?1) WHERE CASE WHEN json_valid(?1, 8) THEN json_type(?1) END IN ('array', 'object')";

pub struct Tables {
    connection: Connection,
    others: Vec<Connection>,
    file: PathBuf,
    _directory: TempDir,
}

impl Tables {
    pub fn new(schema: &str) -> Tables {
        let directory = shm::directory("jobdoctor-scene-");
        let file = directory.path().join("queue.db");
        let connection = Connection::open(&file).unwrap();
        run(&connection, schema);
        Tables { connection, others: Vec::new(), file, _directory: directory }
    }

    fn names(&self, sql: &str, of: &[&str]) -> Vec<String> {
        let mut statement = self.connection.prepare(sql).unwrap();
        let names = statement.query_map(rusqlite::params_from_iter(of), |row| row.get(0)).unwrap();
        names.collect::<Result<_, _>>().unwrap()
    }
}

impl Database for Tables {
    fn address(&self) -> Address {
        Address::parse(self.file.to_str().unwrap(), &Surroundings::default()).unwrap()
    }

    fn run(&mut self, sql: &str) {
        run(&self.connection, sql);
    }

    fn run_beside(&mut self, sql: &str) {
        let other = Connection::open(&self.file).unwrap();
        run(&other, sql);
        self.others.push(other);
    }

    fn run_elsewhere(&mut self, sql: &str) {
        panic!("a file of SQLite has no other database that {sql} could run in");
    }

    fn listen(&mut self, channel: &str) {
        panic!("SQLite notifies nobody, on {channel} or elsewhere");
    }

    fn heard(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn rows(&mut self) -> Rows {
        let now = self.names("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", &[]).concat();
        let mut rows = Rows::new(Engine::Sqlite, now.parse().unwrap());
        for table in self.names(TABLES, &[]) {
            let key = self.names(KEY, &[&table]);
            let mut statement = self.connection.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
            let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let all = statement.query_map([], |row| Ok(object(&self.connection, &columns, row))).unwrap();
            for row in all {
                rows.add(&table, &key, row.unwrap());
            }
        }
        rows
    }
}

fn run(connection: &Connection, sql: &str) {
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{error}\nin {sql}"));
}

fn object(connection: &Connection, columns: &[String], row: &Row<'_>) -> Map<String, Value> {
    let value = |n| value(connection, row.get_ref(n).unwrap());
    columns.iter().enumerate().map(|(n, column)| (column.clone(), value(n))).collect()
}

fn value(connection: &Connection, stored: ValueRef<'_>) -> Value {
    match stored {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => blob(connection, bytes).into(),
    }
}

/// An array or object in JSONB as `jsonb {}`, all other bytes as SQLite spells them: `x'00ff'`.
fn blob(connection: &Connection, bytes: &[u8]) -> String {
    let json: Option<String> = connection.query_row(JSONB, [bytes], |row| row.get(0)).optional().unwrap();
    json.unwrap_or_else(|| {
        let mut hex = String::from("x'");
        bytes.iter().for_each(|byte| write!(hex, "{byte:02x}").unwrap());
        hex + "'"
    })
}
