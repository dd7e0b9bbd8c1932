//! The rows that every order begins with, and how they are compared with the model's.

use super::step::{Place, literal};
use super::world::Row;
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::{Cells, Value};
use crate::support::labs::SqlLab;
use std::collections::BTreeMap;

/// Which queue it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// The reference schema.
    Lease,
    /// A home-made table whose heartbeats are the workers'.
    Orders,
}

/// Whatever is younger than so many seconds, or lies ahead, is a sign of life.
const FRESH: i64 = 60;

/// The columns that tell what became of a row.
fn told(place: Place) -> &'static [&'static str] {
    match place {
        Place::Job(_) => &["status", "owner_id", "lease_token", "lease_expires_at", "attempts"],
        Place::Order(_) => &["status", "worker", "tries"],
        Place::Ping(_) => &["seen_at"],
    }
}

/// The rows of a queue. Of the jobs, 1 and 2 are stuck, 3 is alive; of the orders, 1 and 2 are held by one dead owner.
pub(super) fn rows(queue: Queue) -> BTreeMap<Place, Row> {
    let row = |place, cells: &[(&'static str, Value)]| (place, cells.iter().copied().collect::<Row>());
    let job = |id, owner, ended| {
        let cells = [
            ("status", Text("RUNNING")),
            ("owner_id", Text(owner)),
            ("lease_token", Text("t1")),
            ("lease_expires_at", Ago(ended)),
            ("attempts", Int(1)),
        ];
        row(Place::Job(id), &cells)
    };
    let order =
        |id, worker| row(Place::Order(id), &[("status", Text("working")), ("worker", Text(worker)), ("tries", Int(0))]);
    let ping = |name, seen| row(Place::Ping(name), &[("seen_at", Ago(seen))]);
    match queue {
        Queue::Lease => BTreeMap::from([job(1, "w1", 1000), job(2, "w2", 900), job(3, "w3", -900)]),
        Queue::Orders => {
            BTreeMap::from([order(1, "w1"), order(2, "w1"), order(3, "w3"), ping("w1", 1000), ping("w3", 0)])
        }
    }
}

/// A row of each table.
fn tables(rows: &BTreeMap<Place, Row>) -> Vec<Place> {
    let mut places: Vec<Place> = rows.keys().copied().collect();
    places.dedup_by_key(|place| place.table());
    places
}

/// What else stands in a row, and never changes but with these.
fn beside(place: Place) -> Cells {
    match place {
        Place::Job(_) => vec![("claimed_at", Ago(2000)), ("heartbeat_at", Ago(1900)), ("max_attempts", Int(5))],
        Place::Order(_) => vec![("started", Ago(2400)), ("paused", Int(0))],
        Place::Ping(_) => Vec::new(),
    }
}

/// Puts them into the tables, and nothing else.
pub(super) fn plant(lab: &dyn SqlLab, queue: Queue) {
    let rows = rows(queue);
    let mut script: String = tables(&rows).iter().map(|place| format!("DELETE FROM {};", place.table())).collect();
    for (place, row) in rows {
        let mut cells = vec![place.key()];
        cells.extend(row);
        cells.extend(beside(place));
        let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
        let values: Vec<String> = cells.iter().map(|(_, value)| literal(lab, *value)).collect();
        script += &format!("INSERT INTO {} ({}) VALUES ({});", place.table(), names.join(", "), values.join(", "));
    }
    lab.run(&script);
}

/// A row of the model in words.
pub(super) fn words(place: Place, row: &Row) -> String {
    let word = |name: &&str| match row.get(name) {
        None | Some(Value::Null) => "NULL".to_owned(),
        Some(Value::Int(n)) => n.to_string(),
        Some(Value::Text(text)) => (*text).to_owned(),
        Some(Value::Ago(seconds)) => if *seconds < FRESH { "fresh" } else { "past" }.to_owned(),
    };
    let (_, key) = place.key();
    let key = match key {
        Value::Int(n) => n.to_string(),
        Value::Text(text) => text.to_owned(),
        other => unreachable!("no key is {other:?}"),
    };
    let words: Vec<String> = told(place).iter().map(word).collect();
    format!("{} {key}: {}", place.table(), words.join(" "))
}

/// A query for the same words of what is in the tables.
pub(super) fn query(lab: &dyn SqlLab, queue: Queue) -> String {
    let mut selects = Vec::new();
    for place in tables(&rows(queue)) {
        let word = |name: &&str| match *name {
            "lease_expires_at" | "seen_at" => format!(
                "CASE WHEN {name} IS NULL THEN 'NULL' WHEN {name} > {} THEN 'fresh' ELSE 'past' END",
                lab.ago(FRESH)
            ),
            _ => format!("coalesce(CAST({name} AS text), 'NULL')"),
        };
        let words: Vec<String> = told(place).iter().map(word).collect();
        let (table, (key, _)) = (place.table(), place.key());
        selects
            .push(format!("SELECT '{table} ' || {key} || ': ' || {} AS words FROM {table}", words.join(" || ' ' || ")));
    }
    format!("{} ORDER BY words", selects.join(" UNION ALL "))
}
