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
    Json,
    /// An integer that may not be known.
    MaybeInteger,
    /// An instant: timestamptz on Postgres, RFC 3339 text on SQLite.
    Instant,
}

use LedgerKind::{Instant, Json, MaybeInteger, MaybeText, Text};

/// The columns of the ledger, in order: what a run's head says, and what each step says, by the names that a journal
/// has for it.
pub const LEDGER_COLUMNS: [(&str, LedgerKind); 23] = [
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
    ("key_columns", Json),
    ("id", Text),
    ("key", Json),
    ("queue", MaybeText),
    ("kind", MaybeText),
    ("owner", MaybeText),
    ("action", Text),
    ("state", Text),
    ("state_after", Text),
    ("attempts", MaybeInteger),
    ("attempts_after", MaybeInteger),
    ("rules", Json),
    ("row", Json),
];

/// The first column that is about a step.
pub const LEDGER_STEP: usize = 11;

/// The ledger in the schema of a queue's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSpec {
    pub table: Table,
    /// The columns that it should have and has not.
    pub lacks: Vec<String>,
    /// True if this role may add rows.
    pub may_insert: bool,
    /// True if this role may read them.
    pub may_read: bool,
}
