//! One connection, as the code for both engines sees it.

use super::sql::{Dialect, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{Cell, Timestamp};
use crate::preset::{Jobs, LiveSchema};
use std::ops::ControlFlow;
use std::time::Duration;

pub(super) trait Session {
    fn dialect(&self) -> &'static dyn Dialect;

    fn query(&mut self, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError> {
        let answered = self.flight(std::slice::from_ref(statement))?.pop();
        Ok(answered.unwrap_or_default().rows)
    }

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

    /// See [`Writer::quiet`](super::Writer::quiet).
    fn quiet(&mut self) -> Duration {
        Duration::ZERO
    }

    /// Begins a write transaction for a queue in that schema. On SQLite this waits for the write lock, no longer than the
    /// limits allow. A server hears of it with the first statement, in one round trip: what it refuses, that one reports.
    fn begin(&mut self, schema: &str) -> Result<(), StoreError>;

    /// The database's clock in the transaction.
    fn clock(&mut self) -> Result<Timestamp, StoreError>;

    /// How long the statements of the transaction kept a server busy, without the way there, and the bytes that it logged
    /// meanwhile, as far as it says; `None` where there is no server.
    fn load(&self) -> Option<(Duration, u64)> {
        None
    }

    /// Runs statements of the transaction one after the other, on a server in one round trip. None is run behind one
    /// that fails.
    fn flight(&mut self, statements: &[Statement]) -> Result<Vec<Answered>, StoreError>;

    /// Runs statements that may run the queue's own triggers and functions, then `looks` in the same flight; gives the
    /// answers to all. These functions may need the names of their schema, and other sessions' locks are waited for only
    /// for a moment; for less than that when an action is tried `again`. On SQLite a trigger resolves names in its own
    /// schema, and the only lock is held already.
    fn act(
        &mut self,
        acts: Vec<Statement>,
        looks: Option<Statement>,
        _again: bool,
    ) -> Result<(Vec<Answered>, Option<Answered>), StoreError> {
        let acted = self.flight(&acts)?;
        let looked = self.flight(&looks.into_iter().collect::<Vec<_>>())?.pop();
        Ok((acted, looked))
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
    /// Limits the next statements to this time, until [`ReadSession::end_short`].
    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError>;

    /// Lifts the limit again. The snapshot continues, even if a statement has failed meanwhile.
    fn end_short(&mut self) -> Result<(), StoreError>;

    /// [`Session::stream`], with statements before it on a server in the same round trip. Each of these may take so long,
    /// and fails alone.
    fn stream_beside(
        &mut self,
        beside: Vec<Statement>,
        time: Duration,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<Vec<Result<Answered, StoreError>>, StoreError> {
        let mut answers = Vec::with_capacity(beside.len());
        for one in &beside {
            self.begin_short(time)?;
            answers.push(self.flight(std::slice::from_ref(one)).map(|mut answers| answers.pop().unwrap_or_default()));
            self.end_short()?;
        }
        self.stream(statement, each)?;
        Ok(answers)
    }

    /// Has the database explain a statement that a writer would send, and never runs it.
    fn explain(&mut self, jobs: &Jobs, statement: &Statement) -> Result<(), StoreError>;

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;
}

/// What a statement came to.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) rows: Vec<Vec<Cell>>,
    /// The rows that it changed.
    pub(super) touched: u64,
}

#[derive(Debug)]
pub(super) enum Commit {
    Done,
    /// The database does not have it.
    Failed(StoreError),
    /// The answer was lost, and the database could not be asked since.
    Unknown(StoreError),
}
