//! A snapshot: one read-only transaction, its clock, and what the server says about itself.

use super::catalog;
use super::session::{END_SHORT, PostgresSession, is_true};
use super::settings::{epoch_micros, instant};
use crate::model::{Cell, Timestamp};
use crate::preset::{Jobs, LiveSchema};
use crate::store::session::{Answered, ReadSession, Session};
use crate::store::sql::Statement;
use crate::store::{LiveServer, ServerVersion, Standby, StoreError, StoreErrorKind};
use std::ops::ControlFlow;
use std::time::Duration;

/// What a snapshot asks of the server: whether it is a standby; when the last transaction that it replayed was
/// committed; whether it has replayed all that a primary which still sends has sent, as far as the role may see that;
/// since when it is up. Only the third one means up to date: an idle primary commits nothing for hours. The receiver asks
/// the primary for a sign of life after half a minute of silence.
fn server() -> String {
    let replayed = epoch_micros("pg_catalog.pg_last_xact_replay_timestamp()");
    let started = epoch_micros("pg_catalog.pg_postmaster_start_time()");
    format!(
        "SELECT pg_catalog.pg_is_in_recovery(), CASE WHEN pg_catalog.pg_is_in_recovery() THEN {replayed} END, \
         CASE WHEN pg_catalog.pg_is_in_recovery() \
         THEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() \
         AND EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver WHERE status IS NULL \
         OR status = 'streaming' AND last_msg_receipt_time > pg_catalog.clock_timestamp() - interval '1 minute') END, \
         {started}"
    )
}

/// The number that `initdb` gives a cluster, and the database. Standbys share it, so a failover does not change it.
/// Asked outside of the transaction, which a role that may not ask would abort, and so under its own search path.
pub(super) const CLUSTER: &str = "SELECT system_identifier::pg_catalog.text OPERATOR(pg_catalog.||) '/'::pg_catalog.text \
    OPERATOR(pg_catalog.||) pg_catalog.current_database()::pg_catalog.text FROM pg_catalog.pg_control_system()";

impl PostgresSession {
    /// Begins the transaction of a snapshot and reads the clock. On a standby `now` is the moment up to which it has
    /// followed its primary: signs of life that have not arrived must not count as silence.
    pub(super) fn begin_read(&mut self, tables: &[String]) -> Result<(Timestamp, LiveServer), StoreError> {
        self.is_reader = true;
        let catalog = Some(tables).filter(|tables| !tables.is_empty()).map(catalog::questions);
        let further = std::iter::once(server()).chain(catalog).collect::<Vec<_>>().join("; ");
        // A pooler makes the client wait for a free server here.
        let (now, mut further) = self.begin_reader("ISOLATION LEVEL REPEATABLE READ READ ONLY", &further)?;
        self.catalog = (tables.to_vec(), further.split_off(further.len().min(1)));
        if self.limits.interrupt.is_raised() {
            return Err(StoreError::interrupted("connecting"));
        }
        let server = further.first().and_then(|rows| rows.first()).map(Vec::as_slice).unwrap_or_default();
        let at = |n: usize| server.get(n).and_then(Cell::to_text).as_deref().and_then(instant);
        let lag = || if is_true(server, 2) { Some(Duration::ZERO) } else { at(1).map(|replayed| now.since(replayed)) };
        let standby = is_true(server, 0).then(|| Standby { lag: lag() });
        let lag = standby.and_then(|standby| standby.lag).unwrap_or_default();
        let (label, version) = (self.label.clone(), self.server_version.clone());
        Ok((now.minus(lag), LiveServer { label, version, standby, up_since: at(3) }))
    }

    /// Begins a savepoint within which statements may take so long.
    fn short(&self, time: Duration) -> String {
        format!("SAVEPOINT jobdoctor_short; {};", self.statement_timeout(time))
    }
}

impl ReadSession for PostgresSession {
    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError> {
        let begin = self.short(time);
        self.ahead.push_str(&begin);
        Ok(())
    }

    fn stream_beside(
        &mut self,
        beside: Vec<Statement>,
        time: Duration,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<Vec<Result<Answered, StoreError>>, StoreError> {
        self.streamed(self.short(time), beside, statement, each)
    }

    fn end_short(&mut self) -> Result<(), StoreError> {
        // This undoes the setting too.
        self.ahead.push_str(END_SHORT);
        Ok(())
    }

    fn explain(&mut self, _spec: &Jobs, statement: &Statement) -> Result<(), StoreError> {
        // The search path is the snapshot's: no name may lead to a function or operator that another role made in the
        // queue's schema. A failure must not abort the snapshot, hence the savepoint.
        self.ahead.push_str("SAVEPOINT jobdoctor_explain;");
        let explained =
            self.query(&Statement { sql: format!("EXPLAIN {}", statement.sql), params: statement.params.clone() });
        self.ahead.push_str("ROLLBACK TO SAVEPOINT jobdoctor_explain; RELEASE SAVEPOINT jobdoctor_explain;");
        explained.map(drop).map_err(|error| match error.kind {
            StoreErrorKind::Denied => {
                error.hint("this role lacks a right that the action takes: grant it on what the message names")
            }
            _ => error,
        })
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        catalog::live_schema(self, names)
    }
}

/// The versions that the tests run on.
const TESTED: std::ops::RangeInclusive<u32> = 13..=18;
/// Programs that speak Postgres' protocol and lock rows in ways of their own, by a word that only their `version()`
/// has.
const OTHERS: [(&str, &str); 9] = [
    ("CockroachDB", "CockroachDB"),
    ("-YB-", "YugabyteDB"),
    ("Redshift", "Amazon Redshift"),
    ("Greenplum", "Greenplum"),
    ("Cloudberry", "Apache Cloudberry"),
    ("Materialize", "Materialize"),
    ("RisingWave", "RisingWave"),
    ("CrateDB", "CrateDB"),
    ("QuestDB", "QuestDB"),
];

/// The server by what its `version()` says. Aurora, Cloud SQL, Neon, Supabase, AlloyDB and Citus are Postgres and say
/// so.
pub(super) fn server_version(version: &str) -> ServerVersion {
    let mut words = version.split(' ');
    let (program, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let known = OTHERS.iter().find(|(word, _)| version.contains(word)).map(|(_, name)| *name);
    let other = known.or((!matches!(program, "PostgreSQL" | "EnterpriseDB")).then_some(program));
    let major = number.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    ServerVersion {
        name: other.map_or_else(|| format!("{program} {number}"), str::to_owned),
        is_postgres: other.is_none(),
        is_tested: other.is_none() && major.is_some_and(|major| TESTED.contains(&major)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_is_told_from_what_speaks_like_it() {
        let postgres = |version| (server_version(version).is_postgres, server_version(version).is_tested);
        assert_eq!(postgres("PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, 64-bit"), (true, true));
        assert_eq!(postgres("PostgreSQL 18beta1 on x86_64-pc-linux-gnu"), (true, true));
        assert_eq!(postgres("PostgreSQL 12.4 on aarch64-unknown-linux-gnu"), (true, false));
        assert_eq!(postgres("PostgreSQL 19.1 on aarch64-unknown-linux-gnu"), (true, false));
        for version in [
            "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)",
            "PostgreSQL 11.2-YB-2.19.0.0-b0 on x86_64-pc-linux-gnu",
            "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.48805",
            "PostgreSQL 14.4 (Apache Cloudberry 1.6.0)",
            "Gizmo 3",
            "",
        ] {
            assert_eq!(postgres(version), (false, false), "{version}");
        }
        assert_eq!(server_version("PostgreSQL 15.18 (Debian)").name, "PostgreSQL 15.18");
        assert_eq!(server_version("PostgreSQL 11.2-YB-2.19").name, "YugabyteDB");
    }
}
