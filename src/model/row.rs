//! Stored values of a row, as texts that are compared: what a verdict rests on, and what a step changed.

use super::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The exact stored values that a verdict rests on, as one text that is equal only if every value is.
///
/// The store makes it (`ROW(...)::text` on Postgres with all but ASCII escaped, a join of `quote()` on SQLite) and
/// compares it again inside the write. It holds raw values because decoding loses: two spellings of one instant are
/// different rows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition(pub String);

/// Preconditions hold tokens, and are never shown.
impl fmt::Debug for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Precondition(..)")
    }
}

/// A row of another table that the verdict rests on too: the owner's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceRow {
    None,
    /// There was no such row; its absence is part of the evidence.
    Absent,
    Row {
        key: Cell,
        /// Its image, made like a [`Precondition`].
        image: Precondition,
    },
}

/// A fingerprint of a whole row: SHA-256 in hexadecimal over the names of its columns and every value in them. Two rows
/// have the same one only if no column differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint(pub String);

/// A row as a record keeps it: some values, and a fingerprint of them all.
#[derive(Debug, Clone, PartialEq)]
pub struct RowImage {
    /// The values of the columns that were asked for, in that order: exact text on Postgres, on SQLite the value in its
    /// own storage class.
    pub values: Vec<Cell>,
    pub fingerprint: Fingerprint,
}

/// One row before and after a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowChange {
    /// The columns that were assigned, and no other: a payload is never among them.
    pub values: Vec<ValueChange>,
    /// Of the whole row before.
    pub before: Fingerprint,
    /// Of the whole row after: while the row has this fingerprint, it is unchanged.
    pub after: Fingerprint,
}

/// One column of a row before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueChange {
    /// Its name, as the catalog has it.
    pub column: Arc<str>,
    /// The value before, as it is stored.
    #[schemars(with = "serde_json::Value")]
    pub before: Cell,
    /// The value after, as it is stored.
    #[schemars(with = "serde_json::Value")]
    pub after: Cell,
}
