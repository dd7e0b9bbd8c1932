use super::catalog;
use super::error::store_error;
use super::value::{Bound, Raw};
use crate::model::{Cell, Timestamp};
use crate::spec::LiveSchema;
use crate::spec::ident::quoted;
use crate::store::apply::WriteSession;
use crate::store::reader::{Each, ReadSession};
use crate::store::session::{Commit, Session};
use crate::store::sql::{Dialect, Param, Postgres, Statement};
use crate::store::{Limits, StoreError, StoreErrorKind};
use ::postgres::types::{ToSql, Type};
use ::postgres::{Client, Config, NoTls};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// One connection to a server.
pub(super) struct PostgresSession {
    client: Client,
    config: Config,
    label: String,
    limits: Limits,
    /// The schemas that unqualified names would have been looked for in, before ours was set.
    pub(super) visible: Vec<String>,
}

/// A transaction of ours that hangs longer than this between two statements is given up by the server.
const IDLE_IN_TRANSACTION: &str = "5s";
/// Rows fetched at a time.
const FETCH: usize = 1000;
/// How long to ask whether a commit whose answer was lost went through.
const RESOLVE: Duration = Duration::from_secs(10);

impl PostgresSession {
    /// Connects. Nothing goes into the startup packet that a pooler might refuse.
    pub(super) fn connect(config: &Config, label: &str, limits: &Limits) -> Result<PostgresSession, StoreError> {
        let mut config = config.clone();
        config.application_name(&limits.application_name);
        config.connect_timeout(limits.connect.min(limits.left()).max(Duration::from_millis(1)));
        let client = connect(&config, label, limits)?;
        Ok(PostgresSession { client, config, label: label.to_owned(), limits: limits.clone(), visible: Vec::new() })
    }

    /// Has the server end the query under way when the operator interrupts.
    pub(super) fn cancel_on_interrupt(&self) {
        let token = self.client.cancel_token();
        self.limits.interrupt.on_raise(Box::new(move || {
            // A query that cannot be cancelled still ends with its statement timeout.
            let _ = token.cancel_query(NoTls);
        }));
    }

    /// Begins the snapshot of a look and reads the clock.
    pub(super) fn begin_read(&mut self) -> Result<Timestamp, StoreError> {
        self.batch("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        self.settings(None)
    }

    /// Runs statements that create things, all or none.
    pub(super) fn create(&mut self, statements: &[String]) -> Result<(), StoreError> {
        self.batch("BEGIN")?;
        for statement in statements {
            self.batch(statement)?;
        }
        self.batch("COMMIT")
    }

    fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(sql).map_err(|error| self.error(&error))
    }

    /// Makes the settings of a transaction, in it and for it alone, and reads its clock.
    ///
    /// The search path is there for the library's own triggers and functions; every name of ours is qualified.
    fn settings(&mut self, schema: Option<&str>) -> Result<Timestamp, StoreError> {
        let before = self.query(&Statement::plain(
            "SELECT pg_catalog.current_setting('search_path'), pg_catalog.unnest(pg_catalog.current_schemas(false))::text",
        ))?;
        self.visible = before.iter().filter_map(|row| row.get(1)).filter_map(Cell::to_text).collect();
        let own = before.first().and_then(|row| row.first()).and_then(Cell::to_text).unwrap_or_default();
        let mut path = vec!["pg_catalog".to_owned()];
        path.extend(schema.filter(|schema| !schema.is_empty()).map(quoted));
        if schema.is_some() {
            path.extend(Some(own).filter(|own| !own.trim().is_empty()));
        }
        path.push("pg_temp".to_owned());
        let left = self.limits.left().as_millis().max(1).to_string();
        let lock = self.limits.lock.as_millis().max(1).to_string();
        let settings = [
            ("TimeZone", "UTC"),
            ("DateStyle", "ISO, YMD"),
            ("IntervalStyle", "postgres"),
            ("extra_float_digits", "1"),
            ("bytea_output", "hex"),
            ("standard_conforming_strings", "on"),
            ("row_security", "off"),
            ("statement_timeout", &left),
            ("lock_timeout", &lock),
            ("idle_in_transaction_session_timeout", if schema.is_some() { IDLE_IN_TRANSACTION } else { &left }),
            ("search_path", &path.join(", ")),
        ];
        let mut params = Vec::new();
        let mut calls = Vec::new();
        for (name, value) in settings {
            params.extend([name, value].map(|text| Param::Cell(Cell::Text(text.to_owned()))));
            calls.push(format!("pg_catalog.set_config(${}, ${}, true)", params.len() - 1, params.len()));
        }
        self.query(&Statement { sql: format!("SELECT {}", calls.join(", ")), params })?;
        let clock = "SELECT pg_catalog.now()";
        match self.query(&Statement::plain(clock))?.first().and_then(|row| row.first()) {
            Some(Cell::Instant(micros)) => Timestamp::from_micros(*micros),
            _ => None,
        }
        .ok_or_else(|| StoreError::new(StoreErrorKind::Other, "the server's clock is out of range"))
    }

    fn error(&self, error: &::postgres::Error) -> StoreError {
        let error = store_error(error, &self.label);
        match error.kind {
            StoreErrorKind::TimedOut if self.limits.interrupt.is_raised() => {
                StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading")
            }
            _ => error,
        }
    }

    /// Asks the server, on a new connection, what became of a transaction.
    fn resolve(&mut self, xid: &str, lost: StoreError) -> Commit {
        let patience = Instant::now() + RESOLVE.min(self.limits.left()).max(Duration::from_secs(1));
        while Instant::now() < patience {
            match self.status(xid).as_deref() {
                Ok("committed") => return Commit::Done,
                Ok("aborted") => return Commit::Failed(lost),
                // The dead session has not noticed yet, or the server is still coming up.
                Ok("in progress") | Err(_) => std::thread::sleep(Duration::from_millis(200)),
                Ok(_) => break,
            }
        }
        Commit::Unknown(lost)
    }

    fn status(&mut self, xid: &str) -> Result<String, StoreError> {
        if self.client.is_closed() {
            self.client = connect(&self.config, &self.label, &self.limits)?;
        }
        let sql = "SELECT pg_catalog.pg_xact_status($1::xid8)".to_owned();
        let rows = self.query(&Statement { sql, params: vec![Param::Cell(Cell::Text(xid.to_owned()))] })?;
        Ok(rows.first().and_then(|row| row.first()).and_then(Cell::to_text).unwrap_or_default())
    }
}

/// Connects on a thread of its own: the driver's time limit ends with the TCP handshake, and a server that accepts and then
/// says nothing would keep us for ever. A thread that is given up ends with the process.
fn connect(config: &Config, label: &str, limits: &Limits) -> Result<Client, StoreError> {
    let (sender, receiver) = mpsc::channel();
    let config = config.clone();
    std::thread::spawn(move || {
        // Nobody may be waiting any more.
        let _ = sender.send(config.connect(NoTls));
    });
    let until = Instant::now() + limits.connect.min(limits.left());
    loop {
        match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(error)) => {
                let mut error = store_error(&error, label);
                if error.kind == StoreErrorKind::Lost {
                    error.kind = StoreErrorKind::Unreachable;
                }
                return Err(error);
            }
            Err(_) if limits.interrupt.is_raised() => {
                return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while connecting"));
            }
            Err(_) if Instant::now() >= until => {
                let message = format!("{label}: the server does not answer");
                return Err(StoreError::new(StoreErrorKind::Unreachable, message));
            }
            Err(_) => {}
        }
    }
}

impl Session for PostgresSession {
    fn dialect(&self) -> &'static dyn Dialect {
        &Postgres
    }

    /// Through the unnamed statement: poolers keep no others.
    fn query(&mut self, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError> {
        let bound: Vec<Bound<'_>> = statement.params.iter().map(Bound).collect();
        let params: Vec<(&(dyn ToSql + Sync), Type)> =
            bound.iter().map(|param| (param as &(dyn ToSql + Sync), param.declared())).collect();
        let rows = self.client.query_typed(&statement.sql, &params).map_err(|error| self.error(&error))?;
        rows.iter()
            .map(|row| (0..row.len()).map(|n| row.try_get::<_, Raw>(n).map(|raw| raw.0)).collect())
            .collect::<Result<_, _>>()
            .map_err(|error| self.error(&error))
    }

    fn execute(&mut self, statement: &Statement) -> Result<u64, StoreError> {
        let bound: Vec<Bound<'_>> = statement.params.iter().map(Bound).collect();
        let params: Vec<(&(dyn ToSql + Sync), Type)> =
            bound.iter().map(|param| (param as &(dyn ToSql + Sync), param.declared())).collect();
        self.client.execute_typed(&statement.sql, &params).map_err(|error| self.error(&error))
    }

    fn begin(&mut self, schema: &str) -> Result<Timestamp, StoreError> {
        self.batch("BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        let now = match self.settings(Some(schema)) {
            Ok(now) => now,
            Err(error) => {
                self.rollback();
                return Err(error);
            }
        };
        // A deferred constraint would otherwise refuse the whole batch at its commit, without naming the row.
        self.batch("SET CONSTRAINTS ALL IMMEDIATE")?;
        Ok(now)
    }

    fn commit(&mut self) -> Commit {
        // Fails in an aborted transaction, whose COMMIT the driver would report as success; and it is the receipt.
        let receipt = Statement::plain("SELECT pg_catalog.pg_current_xact_id()::text");
        let xid = match self.query(&receipt) {
            Ok(rows) => rows.first().and_then(|row| row.first()).and_then(Cell::to_text).unwrap_or_default(),
            Err(error) => return Commit::Failed(error),
        };
        match self.client.batch_execute("COMMIT") {
            Ok(()) => Commit::Done,
            Err(error) if error.code().is_some() && !self.client.is_closed() => Commit::Failed(self.error(&error)),
            Err(error) => {
                let lost = self.error(&error);
                self.resolve(&xid, lost)
            }
        }
    }

    /// Nothing but our own words ends one.
    fn in_transaction(&self) -> bool {
        true
    }

    fn rollback(&mut self) {
        // A connection on which this fails is gone, and its transaction with it.
        let _ = self.client.batch_execute("ROLLBACK");
    }
}

impl ReadSession for PostgresSession {
    /// Through a cursor of the read-only transaction: the driver would otherwise keep whatever the server sends.
    fn stream(&mut self, statement: &Statement, each: Each<'_>) -> Result<(), StoreError> {
        let declare = format!("DECLARE jobdoctor_listing NO SCROLL CURSOR FOR {}", statement.sql);
        self.execute(&Statement { sql: declare, params: statement.params.clone() })?;
        let fetch = Statement::plain(format!("FETCH {FETCH} FROM jobdoctor_listing"));
        loop {
            let rows = self.query(&fetch)?;
            let stopped = rows.iter().any(|row| each(row).is_break());
            if stopped || rows.len() < FETCH {
                return self.batch("CLOSE jobdoctor_listing");
            }
        }
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        catalog::live_schema(self, names)
    }
}

impl WriteSession for PostgresSession {
    fn shares_writes(&self) -> bool {
        true
    }
}
