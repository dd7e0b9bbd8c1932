//! What became of a commit whose answer was lost: the server is asked, on a new connection, and only if it is the same one.

use super::connect::{Connected, connect};
use super::connection_thread::until;
use super::session::PostgresSession;
use crate::model::Cell;
use crate::store::StoreError;
use crate::store::session::{Commit, Session};
use crate::store::sql::Statement;
use ::postgres::Error;
use ::postgres::error::Severity;
use ::postgres::types::Type;
use std::time::{Duration, Instant};

/// How long to ask whether a commit whose answer was lost went through.
const RESOLVE: Duration = Duration::from_secs(10);

/// Which cluster it is and which timeline it is on: after a failover one of them is another, and numbers of transactions may
/// mean other ones. Fails on a standby.
const IDENTITY: &str = "SELECT system_identifier::text || '/' || \
    pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) FROM pg_catalog.pg_control_system()";

impl PostgresSession {
    /// Takes note of which server this is. A role that may not ask it gets fewer answers about lost commits, and nothing else.
    pub(super) fn identify(&mut self) {
        if self.identity.is_none() {
            self.identity = self.query(&Statement::plain(IDENTITY)).ok().as_deref().and_then(first_text);
        }
    }

    /// Asks the server, on a new connection, what became of a transaction.
    pub(super) fn resolve(&mut self, xid: &str, lost: StoreError) -> Commit {
        let patience = Instant::now() + RESOLVE.min(self.limits.left()).max(Duration::from_secs(1));
        while let Some(left) = patience.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            match self.status(xid, left).as_deref() {
                Ok("committed") => return Commit::Done,
                Ok("aborted") => return Commit::Failed(lost),
                // The dead session has not noticed yet, or the server is still coming up.
                Ok("in progress") | Err(_) => std::thread::sleep(Duration::from_millis(200)),
                Ok(_) => break,
            }
        }
        Commit::Unknown(lost)
    }

    /// What the server says of a transaction; nothing if it is another server by now, to which the number means something
    /// else.
    fn status(&mut self, xid: &str, patience: Duration) -> Result<String, StoreError> {
        if self.must_reconnect {
            let limits = self.limits.for_at_most(patience);
            let Connected { line, label, .. } = connect(&self.address, &limits)?;
            (self.line, self.label, self.must_reconnect) = (line, label, false);
        }
        let (xid, known) = (xid.to_owned(), self.identity.clone());
        let asked = self.line.ask(until(patience), move |client| {
            let text =
                |rows: &[::postgres::Row]| rows.first().map_or(Ok(None), |row| row.try_get::<_, Option<String>>(0));
            if known.is_none() || text(&client.query_typed(IDENTITY, &[])?)? != known {
                return Ok(None);
            }
            let status = "SELECT pg_catalog.pg_xact_status($1::xid8)";
            text(&client.query_typed(status, &[(&xid, Type::TEXT)])?)
        });
        match asked {
            Ok(Ok(status)) => Ok(status.unwrap_or_default()),
            Ok(Err(error)) => {
                self.must_reconnect = !is_an_answer(&error);
                Err(self.error(&error))
            }
            Err(_) => {
                self.must_reconnect = true;
                Err(self.silent())
            }
        }
    }
}

fn first_text(rows: &[Vec<Cell>]) -> Option<String> {
    rows.first()?.first()?.to_text()
}

/// Whether an error is the server's answer to a statement, after which the connection goes on. A pooler's last words before it
/// hangs up, and those of a server that stops, are none.
pub(super) fn is_an_answer(error: &Error) -> bool {
    error.as_db_error().is_some_and(|db| {
        let code = db.code().code();
        let hangs_up = code.starts_with("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(&code);
        db.parsed_severity() == Some(Severity::Error) && !hangs_up
    })
}
