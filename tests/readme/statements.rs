//! The worker's statements of the page, for whoever plays a worker.

use super::block::text_of;
use postgres::{Client, NoTls, SimpleQueryMessage};
use rusqlite::types::Value;
use std::path::Path;
use std::time::Duration;

/// A row that came back; `None` is NULL.
pub(crate) type Row = Vec<Option<String>>;

/// Runs a statement; gives the rows that come back.
pub(crate) type Database = Box<dyn FnMut(&str) -> Vec<Row> + Send>;

pub(crate) const CLAIM: usize = 0;
pub(crate) const HEARTBEAT: usize = 1;
pub(crate) const FINISH: usize = 2;

pub(crate) fn statements(title: &str) -> [String; 4] {
    let text = text_of(title);
    let parts: Vec<String> =
        text.split(";\n").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    for (part, beginning) in parts.iter().zip(["-- claim", "-- heartbeat", "-- finish, well", "-- finish, badly"]) {
        assert!(part.starts_with(beginning), "{part}");
    }
    parts.try_into().expect("four statements")
}

pub(crate) fn filled(statement: &str, parameters: &[(&str, &str)]) -> String {
    let mut sql = statement.to_owned();
    for (name, value) in parameters {
        sql = sql.replace(&format!(":{name}"), &format!("'{value}'"));
    }
    sql
}

pub(crate) fn sqlite(path: &Path) -> Database {
    let connection = rusqlite::Connection::open(path).expect("the file");
    connection.busy_timeout(Duration::from_secs(20)).expect("a busy timeout");
    connection.pragma_update(None, "synchronous", "off").expect("no need to outlive a power cut");
    Box::new(move |sql| {
        let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let columns = statement.column_count();
        let text = |value: Value| match value {
            Value::Null => None,
            Value::Integer(n) => Some(n.to_string()),
            Value::Text(text) => Some(text),
            other => panic!("{other:?}"),
        };
        let rows = statement.query_map([], |row| (0..columns).map(|n| row.get(n).map(text)).collect());
        rows.expect("query").collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{sql}: {error}"))
    })
}

pub(crate) fn postgres(url: &str) -> Database {
    let mut client = Client::connect(url, NoTls).expect("the server");
    Box::new(move |sql| {
        let messages = client.simple_query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let row = |message| match message {
            SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|n| row.get(n).map(str::to_owned)).collect()),
            _ => None,
        };
        messages.into_iter().filter_map(row).collect()
    })
}
