//! What the database itself says of every change of a row: triggers write it down in the transaction that makes the change.
//! This is the truth that everything else is held against.

use super::queue::Queue;
use crate::support::tables::{Kind, Table};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, counted by the database.
    pub seq: i64,
    /// Who, as the database knows its session; `None` where it knows none.
    pub who: Option<String>,
    /// When, by the store's clock, in the unit of its time columns.
    pub at: i64,
    pub row: RowName,
    pub old: Option<Image>,
    pub new: Option<Image>,
}

pub type RowName = (String, String);

pub type Rows = BTreeMap<RowName, Image>;

/// Every value of a row, in the order of its table's columns, as a JSON array. No text in it has a comma.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image(pub String);

impl Image {
    pub fn get(&self, table: &Table, column: &str) -> Option<&str> {
        let at = table.columns.iter().position(|(name, _)| *name == column);
        let values = self.0.trim_matches(['[', ']']);
        let value =
            values.split(',').nth(at.unwrap_or_else(|| panic!("{} has no {column}", table.name))).unwrap().trim();
        (value != "null").then_some(value.trim_matches('"'))
    }

    pub fn number(&self, table: &Table, column: &str) -> Option<i64> {
        self.get(table, column).map(|value| value.parse().unwrap())
    }
}

/// The values of a row that goes by that name, as arguments of a function.
pub fn values_sql(table: &Table, row: &str, time: fn(&str) -> String) -> String {
    let value = |(name, kind): &(&str, Kind)| {
        let column = format!("{row}.{name}");
        if *kind == Kind::Time { time(&column) } else { column }
    };
    table.columns.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// Whether a claim is dead: by hand, and by the same evidence that an operator would go by.
pub fn is_dead(queue: Queue, job: &Image, worker: Option<&Image>, at: i64, second: i64) -> bool {
    let table = queue.jobs();
    let of_job = |column| job.number(&table, column);
    let of_worker = |column| worker.zip(queue.workers()).and_then(|(row, table)| row.number(&table, column));
    // Of several signs the last one counts.
    let silent = |signs: &[Option<i64>], seconds: i64| {
        signs.iter().flatten().max().is_some_and(|last| at - last >= seconds * second)
    };
    match queue {
        Queue::Lease => silent(&[of_job("lease_expires_at")], 0),
        Queue::Heartbeat => silent(&[of_job("heartbeat_at")], 300),
        Queue::Owners if job.get(&table, "worker").is_none() => silent(&[of_job("started")], 1800),
        Queue::Owners => {
            let (started, booted) = (of_job("started"), of_worker("booted_at"));
            let is_new = booted.zip(started).is_some_and(|(booted, started)| booted > started);
            worker.is_none() || is_new || silent(&[of_worker("seen_at"), started], 120)
        }
    }
}
