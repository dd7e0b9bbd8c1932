use super::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Of the whole row.
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
    pub column: String,
    /// The value before, as it is stored.
    #[schemars(with = "serde_json::Value")]
    pub before: Cell,
    /// The value after, as it is stored.
    #[schemars(with = "serde_json::Value")]
    pub after: Cell,
}
