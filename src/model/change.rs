use super::{Action, Cell, Key};
use serde::{Deserialize, Serialize};

/// A fingerprint of a whole row: SHA-256 in hexadecimal over the names of its columns and every value in them. Two rows have
/// the same one only if no column differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(pub String);

/// A row as a record keeps it: some values, and a fingerprint of them all.
#[derive(Debug, Clone, PartialEq)]
pub struct RowImage {
    /// The values of the columns that were asked for, in that order: exact text on Postgres, on SQLite the value in its own
    /// storage class.
    pub values: Vec<Cell>,
    /// Of the whole row.
    pub fingerprint: Fingerprint,
}

/// What one step of a batch did to its row, seen inside the transaction that did it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which step of the batch, counted from 0.
    pub step: usize,
    /// The row before and after; `None` where the action is more than one UPDATE of the claim's own table, so that nothing
    /// short of the queue's own knowledge would take it back.
    pub row: Option<RowChange>,
}

/// One row before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowChange {
    /// The columns that were assigned, and no other: a payload is never among them.
    pub values: Vec<ValueChange>,
    /// Of the whole row before.
    pub before: Fingerprint,
    /// Of the whole row after: as long as it is this, nobody has touched the row since.
    pub after: Fingerprint,
}

/// One column of a row before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueChange {
    /// Its name, as the catalog has it.
    pub column: String,
    /// The value before.
    pub before: Cell,
    /// The value after.
    pub after: Cell,
}

/// A row that is to be what it was, if nobody has touched it since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Restore {
    /// Which job.
    pub key: Key,
    /// What the row must still be.
    pub now: Fingerprint,
    /// What it was.
    pub was: Fingerprint,
    /// The columns that are set back, with the values they had.
    pub values: Vec<(String, Cell)>,
}

/// Rows that are set back together: one transaction, one kind of action, the same columns.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoreBatch<'a> {
    /// The action that is taken back.
    pub action: Action,
    /// The rows.
    pub rows: &'a [Restore],
}
