//! The settings of a transaction, made inside it and for it alone: poolers keep no session state.

use super::driver::Answer;
use super::session::{PostgresSession, lock_wait};
use super::snapshot::server_version;
use crate::model::{Cell, Timestamp};
use crate::preset::ident::{literal, quoted};
use crate::store::sql::{Param, Statement};
use crate::store::{StoreError, StoreErrorKind};
use std::time::Duration;

/// The server ends a write transaction that is idle for this long.
const IDLE_IN_TRANSACTION: &str = "5s";
/// Over TCP, a server asks a client that is silent for 10 s whether it is still there, and gives it up after 25 s.
/// Without that, a network that vanishes in the middle of a batch would leave its row locks for as long as the system's
/// keep-alive: two hours.
const TCP: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "25000"),
];
/// The search path of jobdoctor's own statements, which qualify every name and every function.
pub(super) const PATH: &str = "pg_catalog, pg_temp";
/// A database without an encoding holds any bytes. Asked for UTF-8, it would fail at the first byte that is not. The
/// role's own search path still counts here.
const ENCODING: &str = "pg_catalog.set_config('client_encoding', \
    CASE WHEN pg_catalog.getdatabaseencoding()::pg_catalog.text OPERATOR(pg_catalog.=) 'SQL_ASCII'::pg_catalog.text \
    THEN 'SQL_ASCII' ELSE 'UTF8' END, true)";
/// A crash of the server forgets what `off` committed last, and `moved` would be untrue. Any other value stays: the
/// operator chose which servers confirm a commit.
const SYNCHRONOUS_COMMIT: &str = "pg_catalog.set_config('synchronous_commit', \
    CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'::pg_catalog.text \
    THEN 'local' ELSE pg_catalog.current_setting('synchronous_commit') END, true)";
/// How values are spelled, whose rows are seen, and that nothing is compiled: where catalogs have changed much since they
/// were analysed, the planner takes statements about them for costly, and compiling those takes ten times their own time.
const FORMATS: [(&str, &str); 9] = [
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
    ("standard_conforming_strings", "on"),
    ("quote_all_identifiers", "off"),
    ("row_security", "off"),
    ("jit", "off"),
];
/// The path for creating tables: the role's own without `pg_catalog`, which Postgres then searches first.
const PATH_OF_NEW: &str = "pg_catalog.set_config('search_path', (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(s), ', ') \
    FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s WHERE s OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name), true)";
/// What to do where no trigger would fire.
const REPLICATION_ROLE: &str = "ALTER ROLE or ALTER DATABASE ... RESET session_replication_role";
/// The longest time limit that a server understands: an integer of milliseconds.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

/// The answer to [`PostgresSession::begin_with`] that holds the clock, the server process and the start of its transaction.
const CLOCK: usize = 3;

impl PostgresSession {
    /// The text that begins a transaction in that mode, sets it up, reads its clock and runs further statements, all in
    /// one round trip. [`PostgresSession::remember`] reads the answers.
    ///
    /// The search path holds the system's names only: a role that may create objects in another schema could otherwise
    /// have its own operator run as our role. The queue's triggers and functions get their path when an action begins.
    pub(super) fn begin_with(&self, mode: &str, writes: bool, further: &str) -> String {
        let left = milliseconds(self.limits.left());
        let lock = self.lock_timeout();
        let settings: [(&str, &str); 4] = [
            ("statement_timeout", &left),
            ("lock_timeout", &lock),
            ("idle_in_transaction_session_timeout", if writes { IDLE_IN_TRANSACTION } else { &left }),
            ("search_path", PATH),
        ];
        let set = |(name, value)| format!("pg_catalog.set_config('{name}', '{value}', true)");
        let settings: Vec<String> = FORMATS.into_iter().chain(settings).chain(TCP).map(set).collect();
        let settings = settings.join(", ");
        let now = epoch_micros("pg_catalog.now()");
        // Whoever may ask for the timeline may ask for this too, and no other server has it.
        let has_log = writes && self.timeline.as_ref().is_some_and(|timeline| !timeline.is_empty());
        let log_end = if has_log { "pg_catalog.pg_current_wal_insert_lsn()::pg_catalog.text" } else { "NULL" };
        format!(
            "BEGIN TRANSACTION {mode}; \
             SELECT pg_catalog.current_setting('search_path'); \
             SELECT pg_catalog.unnest(pg_catalog.current_schemas(false)); \
             SELECT {ENCODING}, {SYNCHRONOUS_COMMIT}, {settings}; \
             SELECT {now}, pg_catalog.pg_backend_pid(), pg_catalog.now()::pg_catalog.text, pg_catalog.version(), \
             pg_catalog.current_setting('session_replication_role'), {log_end}; \
             {further}"
        )
    }

    /// Reads the answers to [`PostgresSession::begin_with`]: gives the clock and the answers to the further statements.
    /// A write transaction names the queue's schema.
    pub(super) fn remember(
        &mut self,
        mut answers: Vec<Answer>,
        schema: Option<&str>,
    ) -> Result<(Timestamp, Vec<Answer>), StoreError> {
        let further = answers.split_off(answers.len().min(4));
        self.own_path = first(&answers, 0, 0).unwrap_or_default();
        self.visible = answers.get(1).into_iter().flatten().filter_map(|row| row.first()?.to_text()).collect();
        self.server_version = server_version(&first(&answers, CLOCK, 3).unwrap_or_default());
        self.log_end = first(&answers, CLOCK, 5);
        self.path_of_queue = self.path_of(schema.unwrap_or_default());
        if schema.is_some() && first(&answers, CLOCK, 4).as_deref() == Some("replica") {
            let what = "session_replication_role is replica: Postgres would fire no trigger and check no foreign key or deferrable key";
            return Err(StoreError::new(StoreErrorKind::Unfit, what).hint(REPLICATION_ROLE));
        }
        let now = first(&answers, CLOCK, 0).as_deref().and_then(instant);
        let out_of_range = || StoreError::new(StoreErrorKind::Other, "the server's clock is out of range");
        Ok((now.ok_or_else(out_of_range)?, further))
    }

    /// Limits the statements of a transaction that creates things.
    pub(super) fn create_settings(&mut self) -> Result<(), StoreError> {
        let (left, lock) = (milliseconds(self.limits.left()), milliseconds(self.limits.lock));
        self.batch(&format!(
            "SET LOCAL statement_timeout = {left}; SET LOCAL lock_timeout = {lock}; SELECT {SYNCHRONOUS_COMMIT}, {PATH_OF_NEW}"
        ))
    }

    /// Sets what an action of the queue and its triggers need.
    pub(super) fn begin_acting(&self, again: bool) -> Statement {
        setting(&[("search_path", &self.path_of_queue), ("lock_timeout", lock_wait(again))])
    }

    /// Undoes what [`PostgresSession::begin_acting`] and triggers have set, and asks for the transaction's id.
    pub(super) fn end_acting(&self) -> Statement {
        // A commit that sends notifications may have to wait for a lock.
        let wait = self.lock_timeout();
        let mut unset = setting(&[&FORMATS[..], &[("search_path", PATH), ("lock_timeout", &wait)]].concat());
        let log_end = self.log_end.as_ref().map(|end| {
            format!("pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), {})::bigint", literal(end))
        });
        let log_end = log_end.as_deref().unwrap_or("0::bigint");
        unset.sql.push_str(&format!(", {SYNCHRONOUS_COMMIT}, {log_end}, pg_catalog.pg_current_xact_id()::text"));
        unset
    }

    /// Limits the statements that follow to this time, until the savepoint before it is rolled back to.
    pub(super) fn statement_timeout(&self, time: Duration) -> String {
        format!("SET LOCAL statement_timeout = {}", milliseconds(time.min(self.limits.left())))
    }

    /// The search path while an action on a queue in that schema runs.
    pub(super) fn path_of(&self, schema: &str) -> String {
        let of_queue = Some(schema).filter(|schema| !schema.is_empty()).map(quoted);
        let own = Some(self.own_path.clone()).filter(|own| !own.trim().is_empty());
        let path = [Some("pg_catalog".to_owned()), of_queue, own, Some("pg_temp".to_owned())];
        path.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// How long to wait for a lock, in milliseconds. Shorter than the time limit, because its error says more.
    fn lock_timeout(&self) -> String {
        milliseconds(self.limits.lock.min(self.limits.left().min(LONGEST).mul_f32(0.9)))
    }
}

/// Reads which server process runs the transaction, and since when, from the answers to its beginning.
pub(super) fn process_and_start(answers: &[Answer]) -> Option<(String, String)> {
    first(answers, CLOCK, 1).zip(first(answers, CLOCK, 2))
}

/// The value of the first row in that answer and column.
pub(super) fn first(answers: &[Answer], answer: usize, column: usize) -> Option<String> {
    answers.get(answer)?.first()?.get(column)?.to_text()
}

/// The statement that changes settings for the rest of the transaction.
pub(super) fn setting(settings: &[(&str, &str)]) -> Statement {
    let mut params = Vec::new();
    let mut calls = Vec::new();
    for (name, value) in settings {
        params.extend([*name, *value].map(|text| Param::Cell(Cell::Text(text.to_owned()))));
        calls.push(format!("pg_catalog.set_config(${}, ${}, true)", params.len() - 1, params.len()));
    }
    Statement { sql: format!("SELECT {}", calls.join(", ")), params }
}

/// An instant as text: microseconds since 1970. [`instant`] reads it.
pub(super) fn epoch_micros(instant: &str) -> String {
    format!("(pg_catalog.date_part('epoch', {instant}) * 1000000)::bigint")
}

/// The instant that [`epoch_micros`] writes.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok().and_then(Timestamp::from_micros)
}

/// As a server takes it: at least 1, because 0 is no limit.
fn milliseconds(time: Duration) -> String {
    time.min(LONGEST).as_millis().max(1).to_string()
}
