use super::sql::{Dialect, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{Cell, Timestamp};

/// One connection, as the code that is the same on every engine sees it.
pub(super) trait Session {
    /// How this engine spells things.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Runs a statement that gives rows.
    fn query(&mut self, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError>;

    /// Runs a statement and hands over its rows; without keeping them all, where the engine can.
    fn each(&mut self, statement: &Statement, each: &mut dyn FnMut(&[Cell])) -> Result<(), StoreError>;

    /// Who we are to the database, as a statement names a role; `None` where it knows no roles.
    fn role(&self) -> Option<String>;

    /// Runs a statement and says how many rows it touched.
    fn execute(&mut self, statement: &Statement) -> Result<u64, StoreError>;

    /// Begins a write transaction for a queue in that schema and reads its clock. On SQLite this waits for the write lock,
    /// no longer than the limits allow.
    fn begin(&mut self, schema: &str) -> Result<Timestamp, StoreError>;

    /// From here on the queue's own triggers and functions run, which may need the names of their schema. Other sessions' locks
    /// on rows of other tables are waited for a moment at most, and for less when it is tried again.
    fn begin_acting(&mut self, again: bool) -> Result<(), StoreError>;

    /// The statements after it are ours alone again.
    fn end_acting(&mut self) -> Result<(), StoreError>;

    /// Commits. Before that it makes sure that the transaction is still alive, because a driver may report the commit of an
    /// aborted one as success.
    fn commit(&mut self) -> Commit;

    /// Whether our transaction is still there. A trigger of SQLite may have rolled back the whole of it.
    fn in_transaction(&self) -> bool;

    /// Gives everything back. Errors do not matter: a transaction that cannot be rolled back is gone already.
    fn rollback(&mut self);
}

/// What an engine adds to a [`Session`] so that it can be written through.
pub(super) trait WriteSession: Session {
    /// Whether other sessions may be writing while our transaction is open; then evidence rows must be locked.
    fn shares_writes(&self) -> bool;
}

/// How a commit ended.
#[derive(Debug)]
pub(super) enum Commit {
    /// The database has it.
    Done,
    /// The database does not have it.
    Failed(StoreError),
    /// The answer was lost and the database could not be asked since.
    Unknown(StoreError),
}

/// Runs a statement whose whole answer is one number.
pub(super) fn query_count(session: &mut dyn Session, statement: &Statement) -> Result<u64, StoreError> {
    let rows = session.query(statement)?;
    match rows.first().and_then(|row| row.first()) {
        Some(Cell::Integer(count)) => Ok(u64::try_from(*count).unwrap_or(0)),
        other => Err(StoreError::new(StoreErrorKind::Other, format!("expected a count and got {other:?}"))),
    }
}
