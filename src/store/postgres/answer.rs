//! How long a session waits for a server's answer, and what becomes of one that fails.

use super::connect_error::store_error;
use super::connection_thread::NoAnswer;
use super::session::PostgresSession;
use crate::preset::ident::quoted;
use crate::store::{StoreError, StoreErrorKind};
use ::postgres::Error;
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// How long a server may take to end a statement once the time is up.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// How long it may take to end the running statement after an interrupt.
const INTERRUPTED: Duration = Duration::from_secs(3);

impl PostgresSession {
    pub(super) fn answer<T>(&self, answered: Result<Result<T, Error>, NoAnswer>) -> Result<T, StoreError> {
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.error(&error)),
            Err(NoAnswer) => Err(self.no_answer()),
        }
    }

    /// Whether to wait on for a server that has not answered yet. A server that ignores a cancel request is given up
    /// soon.
    pub(super) fn keep_waiting(&self) -> impl Fn() -> bool + use<> {
        let (limits, cancel, is_reader) = (self.limits.clone(), self.cancel.clone(), self.is_reader);
        let (overdue, interrupted) = (OnceCell::new(), OnceCell::new());
        let is_over = move |since: &OnceCell<Instant>, patience: Duration, must_cancel: bool| {
            let begin = || {
                if must_cancel {
                    cancel.send();
                }
                Instant::now()
            };
            since.get_or_init(begin).elapsed() >= patience
        };
        move || {
            // The server's limit starts anew with each statement, so at the end of the whole time this one is cancelled.
            if limits.left().is_zero() && is_over(&overdue, GRACE, true) {
                return false;
            }
            let interrupt = &limits.interrupt;
            let is_interrupted = if is_reader { interrupt.is_raised() } else { interrupt.rolls_back() };
            // An interrupt has cancelled a reader's statement.
            !is_interrupted || !is_over(&interrupted, INTERRUPTED, !is_reader)
        }
    }

    /// Whether a second signal asked for the rollback of the batch in hand.
    pub(super) fn rolls_back(&self) -> bool {
        !self.is_reader && self.limits.interrupt.rolls_back()
    }

    pub(super) fn no_answer(&self) -> StoreError {
        if self.is_reader && self.limits.interrupt.is_raised() {
            return StoreError::interrupted("the server did not answer");
        }
        if self.rolls_back() {
            return StoreError::rolled_back();
        }
        let message = format!("{}: the connection is open, but the server has stopped answering", self.label);
        StoreError::new(StoreErrorKind::Lost, message).hint("it may be frozen, or the network between may be gone")
    }

    pub(super) fn error(&self, error: &Error) -> StoreError {
        let mut error = store_error(error, &self.label, &self.address.user);
        let table = error.message.split_once("permission denied for table ").map(|(_, table)| quoted(table));
        if let Some(table) = table.filter(|_| self.is_reader) {
            // A snapshot only reads.
            error.hint = Some(format!("GRANT SELECT ON {table} TO {}", quoted(&self.address.user)));
        }
        match error.kind {
            StoreErrorKind::TimedOut if self.rolls_back() => StoreError::rolled_back(),
            StoreErrorKind::TimedOut if self.is_reader && self.limits.interrupt.is_raised() => {
                StoreError::interrupted("reading")
            }
            StoreErrorKind::TimedOut => {
                // Our own cancel request, sent at the end of the whole time, counts as the time limit too.
                error.message = error.message.replace("user request", "statement timeout");
                error
            }
            // The server ends a snapshot that is idle until the end of its whole time.
            StoreErrorKind::Lost if self.is_reader && error.code.as_deref() == Some("25P03") => {
                StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out between two statements")
            }
            _ => error,
        }
    }
}
