use super::Cell;
use serde::{Deserialize, Serialize};

/// The exact stored values that a verdict rested on, as one text that is equal only if every value is.
///
/// The store makes it (`ROW(...)::text` on Postgres with all but ASCII escaped, a join of `quote()` on SQLite) and the store compares it again
/// inside the write. Raw values are kept instead of decoded ones because decoding loses: two spellings of one instant
/// are different rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition(pub String);

/// A row of another table that the verdict rested on too: the owner's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceRow {
    /// The preset asks no other table.
    None,
    /// There was no such row; its absence is part of the evidence.
    Absent,
    /// The row, by its key, as it was.
    Row {
        /// Its key.
        key: Cell,
        /// Its image, made like a [`Precondition`].
        image: Precondition,
    },
}
