//! A snapshot: one read-only transaction, its clock, and what the server says about itself.

use super::session::PostgresSession;
use super::{catalog, rehearsal};
use crate::model::{Cell, Timestamp};
use crate::preset::{ActionSpec, LiveSchema, QueueSpec};
use crate::store::rehearsal::Trial;
use crate::store::session::{Each, ReadSession, Session};
use crate::store::sql::Statement;
use crate::store::{Standby, StoreError, StoreErrorKind};
use std::time::Duration;

/// Whether the server is a standby; when the last transaction that it replayed was committed; and whether it has
/// replayed all that a primary which still sends has sent, as far as the role may see that. Only the last one means up
/// to date: an idle primary commits nothing for hours. The receiver asks the primary for a sign of life after half a
/// minute of silence.
const STANDBY: &str = "SELECT pg_catalog.pg_is_in_recovery(), \
    CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_xact_replay_timestamp() END, \
    CASE WHEN pg_catalog.pg_is_in_recovery() \
    THEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() \
    AND EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver WHERE status IS NULL \
    OR status = 'streaming' AND last_msg_receipt_time > pg_catalog.clock_timestamp() - interval '1 minute') END";

/// Asked before [`CLUSTER`], whose refusal would abort the snapshot's transaction.
const MAY_ASK_FOR_CLUSTER: &str =
    "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')";
/// The number that `initdb` gives a cluster, and the database. Standbys share it, so a failover does not change it.
const CLUSTER: &str = "SELECT system_identifier::text || '/' || pg_catalog.current_database() \
    FROM pg_catalog.pg_control_system()";

impl PostgresSession {
    /// Begins the transaction of a snapshot and reads the clock. On a standby `now` is the moment up to which it has
    /// followed its primary: signs of life that have not arrived must not count as silence.
    pub(super) fn begin_read(&mut self) -> Result<(Timestamp, Option<Standby>), StoreError> {
        self.is_reader = true;
        // A pooler makes the client wait for a free server here.
        self.batch("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        self.in_transaction = true;
        let now = self.begin_settings(None)?;
        if self.limits.interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while connecting"));
        }
        let standby = self.standby(now)?;
        let lag = standby.and_then(|standby| standby.lag).unwrap_or_default();
        Ok((now.minus(lag), standby))
    }

    fn standby(&mut self, now: Timestamp) -> Result<Option<Standby>, StoreError> {
        let rows = self.query(&Statement::plain(STANDBY))?;
        let Some([Cell::Integer(1), replayed, is_current]) = rows.first().map(Vec::as_slice) else { return Ok(None) };
        let lag = match (is_current, replayed) {
            (Cell::Integer(1), _) => Some(Duration::ZERO),
            (_, Cell::Instant(micros)) => Timestamp::from_micros(*micros).map(|replayed| now.since(replayed)),
            _ => None,
        };
        Ok(Some(Standby { lag }))
    }

    /// The only value that a query gives.
    fn value(&mut self, sql: &str) -> Result<Option<Cell>, StoreError> {
        Ok(self.query(&Statement::plain(sql))?.into_iter().flatten().next())
    }
}

impl ReadSession for PostgresSession {
    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(match self.value("SELECT pg_catalog.pg_postmaster_start_time()")? {
            Some(Cell::Instant(micros)) => Timestamp::from_micros(micros),
            _ => None,
        })
    }

    fn stream(&mut self, statement: &Statement, each: Each<'_>) -> Result<(), StoreError> {
        self.each_row(statement, each)
    }

    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError> {
        self.batch("SAVEPOINT jobdoctor_short")?;
        self.set_statement_timeout(time)
    }

    fn end_short(&mut self) -> Result<(), StoreError> {
        // This undoes the setting too.
        self.batch("ROLLBACK TO SAVEPOINT jobdoctor_short; RELEASE SAVEPOINT jobdoctor_short")
    }

    fn explain(&mut self, spec: &QueueSpec, statement: &Statement, is_act: bool) -> Result<(), StoreError> {
        rehearsal::explain(self, spec, statement, is_act)
    }

    fn try_out(
        &mut self,
        spec: &QueueSpec,
        action: &ActionSpec,
        clock_and_reason: (Timestamp, &str),
    ) -> Result<Vec<Trial>, StoreError> {
        rehearsal::try_out(self, spec, action, clock_and_reason)
    }

    /// The cluster and the database in it; `None` if the role may not ask.
    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        if self.value(MAY_ASK_FOR_CLUSTER)? != Some(Cell::Integer(1)) {
            return Ok(None);
        }
        Ok(self.value(CLUSTER)?.as_ref().and_then(Cell::to_text))
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        catalog::live_schema(self, names)
    }
}
