//! One connection, as the code for both engines sees it.

use super::sql::{Dialect, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{Cell, Timestamp};
use crate::preset::{LiveSchema, QueueSpec};
use std::ops::ControlFlow;
use std::time::Duration;

pub(super) trait Session {
    fn dialect(&self) -> &'static dyn Dialect;

    fn query(&mut self, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError>;

    /// Runs a statement and hands over its rows as they come, without keeping them, until `each` breaks off: their
    /// values may be taken out. An interrupt ends it.
    fn stream(
        &mut self,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Runs a statement and gives its first value.
    fn value(&mut self, statement: &Statement) -> Result<Option<Cell>, StoreError> {
        Ok(self.query(statement)?.into_iter().next().and_then(|row| row.into_iter().next()))
    }

    /// Runs a statement that gives one number.
    fn count(&mut self, statement: &Statement) -> Result<u64, StoreError> {
        let answer = self.value(statement)?;
        let not_counted = || StoreError::new(StoreErrorKind::Other, format!("expected a count and got {answer:?}"));
        answer.as_ref().and_then(Cell::as_count).ok_or_else(not_counted)
    }

    /// Whether other sessions may write while our transaction is open; then evidence rows must be locked.
    fn shares_writes(&self) -> bool {
        !self.dialect().engine().has_one_writer()
    }

    /// Our role, quoted for a GRANT; `None` if the engine has no roles.
    fn role(&self) -> Option<String> {
        None
    }

    /// Runs a statement and gives the number of rows that it touched.
    fn execute(&mut self, statement: &Statement) -> Result<u64, StoreError>;

    /// See [`Writer::quiet`](super::Writer::quiet).
    fn quiet(&mut self) -> Duration {
        Duration::ZERO
    }

    /// Begins a write transaction for a queue in that schema and reads the database's clock. On SQLite this waits for
    /// the write lock, no longer than the limits allow.
    fn begin(&mut self, schema: &str) -> Result<Timestamp, StoreError>;

    /// Fails unless every name in a statement of an action is found with only the system's names on the search path.
    /// Postgres takes `x.name` for a call `name(x)` where the column is missing: with the queue's schema on the path,
    /// that may be another role's function. Waits for locks as [`Session::begin_acting`] does. SQLite has no search
    /// path.
    fn names_are_found(&mut self, _act: &Statement, _again: bool) -> Result<(), StoreError> {
        Ok(())
    }

    /// Prepares for statements that run the queue's own triggers and functions: these may need the names of their
    /// schema, and other sessions' locks are waited for only for a moment. For less than that when the action is tried
    /// `again`. On SQLite a trigger resolves names in its own schema, and the only lock is held already.
    fn begin_acting(&mut self, _again: bool) -> Result<(), StoreError> {
        Ok(())
    }

    /// Ends what [`Session::begin_acting`] began.
    fn end_acting(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Rows that a constraint would refuse at the commit, those included that were so before; 0 where the engine has
    /// checked the constraints already.
    fn broken_at_commit(&mut self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Commits, after making sure that the transaction is still alive: a driver may report the commit of an aborted one
    /// as success.
    fn commit(&mut self) -> Commit;

    /// Whether the transaction is still open. A trigger of SQLite may roll back the whole of it.
    fn in_transaction(&self) -> bool;

    /// Rolls back. Errors do not matter: a transaction that cannot be rolled back has ended already.
    fn rollback(&mut self);
}

/// A connection that a snapshot reads through.
pub(super) trait ReadSession: Session {
    /// Limits the statements that follow to this time, until [`ReadSession::end_short`].
    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError>;

    /// Lifts the limit again. The snapshot continues, even if a statement has failed meanwhile.
    fn end_short(&mut self) -> Result<(), StoreError>;

    /// Has the database explain a statement that a writer would send, and never runs it.
    fn explain(&mut self, spec: &QueueSpec, statement: &Statement) -> Result<(), StoreError>;

    fn identity(&mut self) -> Result<Option<String>, StoreError>;

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;
}

#[derive(Debug)]
pub(super) enum Commit {
    Done,
    /// The database does not have it.
    Failed(StoreError),
    /// The answer was lost, and the database could not be asked since.
    Unknown(StoreError),
}
