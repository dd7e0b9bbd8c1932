//! Finds out whether a commit went through whose answer was lost, by asking the same server on a new connection.

use super::connect::{Connected, connect};
use super::connect_error::is_an_answer;
use super::connection_thread::for_at_most;
use super::session::PostgresSession;
use crate::store::StoreError;
use crate::store::session::Commit;
use ::postgres::Error;
use ::postgres::types::Type;
use std::time::{Duration, Instant};
use tokio_postgres::Client;

/// How long the server is asked.
const RESOLVE: Duration = Duration::from_secs(10);

/// Cluster and timeline. After a failover one of them differs, and a transaction id may mean another transaction. Fails
/// on a standby.
const TIMELINE: &str = "SELECT system_identifier::pg_catalog.text OPERATOR(pg_catalog.||) '/'::pg_catalog.text \
    OPERATOR(pg_catalog.||) pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8) FROM pg_catalog.pg_control_system()";

/// Asks for the server's timeline, which the role may not do everywhere. Without it, a lost commit stays unknown.
pub(super) async fn timeline(client: &Client) -> Result<Option<String>, Error> {
    let rows = client.query_typed(TIMELINE, &[]).await?;
    rows.first().map_or(Ok(None), |row| row.try_get(0))
}

impl PostgresSession {
    /// Asks the server about a transaction until it answers or the time is up.
    pub(super) fn resolve(&mut self, xid: &str, lost: StoreError) -> Commit {
        let end = Instant::now() + RESOLVE.min(self.limits.left()).max(Duration::from_secs(1));
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            match self.status(xid, left).as_deref() {
                Ok("committed") => return Commit::Done,
                Ok("aborted") => return Commit::Failed(lost),
                // The old session has not ended yet, or the server is still starting.
                Ok("in progress") | Err(_) => std::thread::sleep(Duration::from_millis(200)),
                Ok(_) => break,
            }
        }
        Commit::Unknown(lost)
    }

    /// The status of a transaction; empty if the address now leads to another server, where the id means something
    /// else.
    fn status(&mut self, xid: &str, time: Duration) -> Result<String, StoreError> {
        if self.must_reconnect {
            let limits = self.limits.for_at_most(time);
            let Connected { connection, label, .. } = connect(&self.address, &limits)?;
            (self.connection, self.label, self.must_reconnect) = (connection, label, false);
        }
        let (xid, known) = (xid.to_owned(), self.timeline.clone());
        let asked = self.connection.run(for_at_most(time), async move |client| {
            let known = known.filter(|known| !known.is_empty());
            if known.is_none() || timeline(client).await? != known {
                return Ok(None);
            }
            let status = "SELECT pg_catalog.pg_xact_status($1::pg_catalog.xid8)";
            let rows = client.query_typed(status, &[(&xid, Type::TEXT)]).await?;
            rows.first().map_or(Ok(None), |row| row.try_get::<_, Option<String>>(0))
        });
        match asked {
            Ok(Ok(status)) => Ok(status.unwrap_or_default()),
            Ok(Err(error)) => {
                self.must_reconnect = !is_an_answer(&error);
                Err(self.error(&error))
            }
            Err(_) => {
                self.must_reconnect = true;
                Err(self.no_answer())
            }
        }
    }
}
