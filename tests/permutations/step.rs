//! What a session does next, as data: the database and the model carry out the same.

use crate::support::edit::{Cells, Value};
use crate::support::labs::SqlLab;
use jobdoctor::model::{Engine, Outcome};
use std::fmt;

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Of the reference schema.
    Job(i64),
    /// Of the home-made queue.
    Order(i64),
    /// The heartbeats of an owner there.
    Ping(&'static str),
}

/// One step.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A worker begins a transaction; on SQLite with the write lock.
    Begin,
    /// It ends well.
    Commit,
    /// It is taken back.
    Rollback,
    /// A worker's statement, in its transaction or by itself.
    Change(Change),
    /// A doctor looks, and judges.
    Snapshot,
    /// It verifies what it judged, and writes; its transaction stays open.
    Act,
    /// It commits.
    Settle,
}

/// A statement on one row.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// What the worker means by it.
    pub(super) words: &'static str,
    /// The row.
    pub(super) place: Place,
    /// The statement finds it only with these values.
    pub(super) only_if: Cells,
    /// What is done to it then.
    pub(super) effect: Effect,
}

/// What is done to a row.
#[derive(Debug, Clone)]
pub(super) enum Effect {
    /// It is given these values.
    Set(Cells),
    /// It is deleted.
    Delete,
    /// It is locked; on SQLite, where rows have no locks, only read.
    Lock,
}

/// What comes of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A statement has found so many rows.
    Ran(usize),
    /// It waits for another session.
    Waits,
    /// These jobs are stuck.
    Looked(Vec<i64>),
    /// It has written, and has yet to commit.
    Acted,
    /// The batch has come to its end, with an outcome for each job.
    Ended(Vec<Outcome>),
}

impl Place {
    pub(super) fn table(self) -> &'static str {
        match self {
            Place::Job(_) => "jobs",
            Place::Order(_) => "order_queue",
            Place::Ping(_) => "worker_pings",
        }
    }

    pub(super) fn key(self) -> (&'static str, Value) {
        match self {
            Place::Job(id) | Place::Order(id) => ("id", Value::Int(id)),
            Place::Ping(name) => ("name", Value::Text(name)),
        }
    }
}

impl Change {
    /// The statement; it gives back a row for each that it found.
    pub(super) fn sql(&self, lab: &dyn SqlLab) -> String {
        let table = self.place.table();
        let pairs = |cells: &[(&'static str, Value)], between: &str| {
            let pair = |(name, value): &(&'static str, Value)| format!("{name} = {}", literal(lab, *value));
            cells.iter().map(pair).collect::<Vec<_>>().join(between)
        };
        let mut conditions = vec![self.place.key()];
        conditions.extend(self.only_if.iter().copied());
        let found = pairs(&conditions, " AND ");
        match &self.effect {
            Effect::Set(cells) => format!("UPDATE {table} SET {} WHERE {found} RETURNING 1", pairs(cells, ", ")),
            Effect::Delete => format!("DELETE FROM {table} WHERE {found} RETURNING 1"),
            Effect::Lock if lab.engine() == Engine::Postgres => {
                format!("SELECT 1 FROM {table} WHERE {found} FOR UPDATE")
            }
            Effect::Lock => format!("SELECT 1 FROM {table} WHERE {found}"),
        }
    }
}

/// A value in SQL.
pub(super) fn literal(lab: &dyn SqlLab, value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Text(text) => format!("'{text}'"),
        Value::Ago(seconds) => lab.ago(seconds),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Change(change) => write!(f, "{} ({:?})", change.words, change.place),
            other => write!(f, "{other:?}"),
        }
    }
}
