use super::value::{values_from_json, values_to_json};
use super::{Action, Cell, Key, RecordedStep};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Its place in the batch, counted from 0.
    pub step: usize,
    /// The row before and after; `None` where the action is more than one UPDATE of the claim's own table, so that nothing
    /// short of the queue's own knowledge would revert it.
    pub row: Option<RowChange>,
}

/// One row before and after. Records keep it as two objects and two fingerprints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredChange", into = "StoredChange")]
pub struct RowChange {
    /// The columns that were assigned, and no other: a payload is never among them.
    pub values: Vec<ValueChange>,
    /// Of the whole row before.
    pub before: Fingerprint,
    /// Of the whole row after: while the row has this fingerprint, it is unchanged.
    pub after: Fingerprint,
}

/// One column of a row before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueChange {
    /// Its name, as the catalog has it.
    pub column: String,
    /// The value before.
    pub before: Cell,
    /// The value after.
    pub after: Cell,
}

/// A [`RowChange`] in the journal and in the ledger.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredChange {
    /// The columns that were assigned, with their values before.
    pub(crate) before: Value,
    /// The same columns with their values after.
    pub(crate) after: Value,
    pub(crate) fingerprint_before: Fingerprint,
    pub(crate) fingerprint_after: Fingerprint,
}

impl From<RowChange> for StoredChange {
    fn from(row: RowChange) -> StoredChange {
        let values = &row.values;
        StoredChange {
            before: values_to_json(values.iter().map(|value| (value.column.as_str(), &value.before))),
            after: values_to_json(values.iter().map(|value| (value.column.as_str(), &value.after))),
            fingerprint_before: row.before,
            fingerprint_after: row.after,
        }
    }
}

impl TryFrom<StoredChange> for RowChange {
    type Error = &'static str;

    fn try_from(stored: StoredChange) -> Result<RowChange, &'static str> {
        const UNREADABLE: &str = "`before` and `after` are no stored values";
        let pairs = values_from_json(&stored.before).zip(values_from_json(&stored.after));
        let (before, after) = pairs.filter(|(before, after)| before.len() == after.len()).ok_or(UNREADABLE)?;
        let pair = |((column, before), (same, after)): ((String, Cell), (String, Cell))| {
            (column == same).then_some(ValueChange { column, before, after })
        };
        Ok(RowChange {
            values: before.into_iter().zip(after).map(pair).collect::<Option<_>>().ok_or(UNREADABLE)?,
            before: stored.fingerprint_before,
            after: stored.fingerprint_after,
        })
    }
}

/// A row that is to be what it was, if it is unchanged since.
#[derive(Debug, Clone, PartialEq)]
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

impl Restore {
    /// What reverts a step; `None` where its row is not recorded.
    pub fn of(step: &RecordedStep) -> Option<Restore> {
        let row = step.row.as_ref()?;
        Some(Restore {
            key: step.key.clone(),
            now: row.after.clone(),
            was: row.before.clone(),
            values: row.values.iter().map(|value| (value.column.clone(), value.before.clone())).collect(),
        })
    }
}

/// Rows that are set back together: one transaction, one kind of action, the same columns.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoreBatch<'a> {
    /// The action that is reverted.
    pub action: Action,
    /// The rows.
    pub rows: &'a [Restore],
}
