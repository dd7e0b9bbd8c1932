//! Every row of every table of a database, and what became of it.

use super::times::Telling;
use jobdoctor::model::Engine;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The rows of a database at one instant, by table and key.
pub struct Rows {
    rows: BTreeMap<(String, String), Map<String, Value>>,
    engine: Engine,
    pub now: jiff::Timestamp,
}

impl Rows {
    pub fn new(engine: Engine, now: jiff::Timestamp) -> Rows {
        Rows { rows: BTreeMap::new(), engine, now }
    }

    /// One more, with the columns of its primary key. Without a key, the n-th of equal rows is a row of its own.
    pub fn add(&mut self, table: &str, key: &[String], row: Map<String, Value>) {
        let parts: Vec<String> = key.iter().map(|column| plain(row.get(column).unwrap())).collect();
        let nth = || self.rows.keys().filter(|(of, _)| of == table).count();
        let id = if parts.is_empty() { format!("{:04}", nth()) } else { parts.join("/") };
        self.rows.insert((table.to_owned(), id), row);
    }

    /// How values of that scene are told at that time.
    pub fn telling<'a>(&self, written: &'a str) -> Telling<'a> {
        // Postgres spells a time in one way only, whatever has written it.
        Telling { now: self.now, written, spelling: self.engine == Engine::Sqlite }
    }

    /// What is different in `later`, one line a column. `written` is the text of the scene.
    pub fn changes(&self, later: &Rows, written: &str) -> Vec<String> {
        let telling = later.telling(written);
        let show = |value: &Value| telling.told(value).to_string();
        let mut lines = Vec::new();
        let keys: BTreeSet<_> = self.rows.keys().chain(later.rows.keys()).collect();
        for key in keys {
            let (table, id) = key;
            let id = plain(&telling.told(&Value::String(id.clone())));
            match (self.rows.get(key), later.rows.get(key)) {
                (Some(row), None) => lines.push(format!("- {table} {}", show(&Value::Object(row.clone())))),
                (None, Some(row)) => lines.push(format!("+ {table} {}", show(&Value::Object(row.clone())))),
                (Some(before), Some(after)) => {
                    for (column, value) in after {
                        let old = before.get(column).unwrap();
                        let (from, to) = (show(old), show(value));
                        // Where times are whole seconds, one that is written again is the same or the next.
                        if old != value && (self.engine == Engine::Postgres || from != to) {
                            lines.push(format!("{table} {id} {column}: {from} -> {to}"));
                        }
                    }
                }
                (None, None) => {}
            }
        }
        lines.sort_by_key(|line| (line.starts_with('+'), line.starts_with('-')));
        lines
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
