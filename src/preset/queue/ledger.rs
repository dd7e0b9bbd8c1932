use super::Table;

/// The name of the ledger's table. It is only ever looked for where the queue's own tables are.
pub const LEDGER: &str = "jobdoctor_ledger";

/// A column of the ledger, by what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerKind {
    /// Text that is always there.
    Text,
    /// Text that may not be known.
    MaybeText,
    /// An integer that may not be known.
    MaybeInteger,
    /// An instant: timestamptz on Postgres, RFC 3339 text on SQLite.
    Instant,
}

use LedgerKind::{Instant, MaybeInteger, MaybeText, Text};

/// The columns of the ledger, in order.
pub const LEDGER_COLUMNS: [(&str, LedgerKind); 26] = [
    ("run_id", Text),
    ("moved_at", Instant),
    ("command", Text),
    ("version", Text),
    ("actor", MaybeText),
    ("host", MaybeText),
    ("reason", MaybeText),
    ("undoes", MaybeText),
    ("preset", Text),
    ("job_table", Text),
    ("job_id", Text),
    ("job_key", Text),
    ("key_columns", Text),
    ("queue", MaybeText),
    ("kind", MaybeText),
    ("owner", MaybeText),
    ("action", Text),
    ("state_before", Text),
    ("state_after", Text),
    ("attempts_before", MaybeInteger),
    ("attempts_after", MaybeInteger),
    ("rules", Text),
    ("before", MaybeText),
    ("after", MaybeText),
    ("fingerprint_before", MaybeText),
    ("fingerprint_after", MaybeText),
];

/// The ledger in the schema of a queue's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSpec {
    /// Its table.
    pub table: Table,
    /// The columns that it should have and has not.
    pub lacks: Vec<String>,
    /// True if this role may add rows.
    pub may_insert: bool,
    /// True if this role may read them.
    pub may_read: bool,
}
