use super::cancel::Cancel;
use super::catalog;
use super::connect::{Connected, connect};
use super::connection_thread::{ConnectionThread, until};
use super::error::store_error;
use super::identity;
use super::lost_commit::is_an_answer;
use super::standby;
use super::trial;
use super::value::{Bound, Raw};
use crate::model::{Cell, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{ActionSpec, LiveSchema, QueueSpec};
use crate::store::conninfo::PostgresAddress;
use crate::store::reader::{Each, ReadSession};
use crate::store::rehearsal::Trial;
use crate::store::session::WriteSession;
use crate::store::session::{Commit, Session};
use crate::store::sql::{Dialect, Param, Postgres, Statement};
use crate::store::{Limits, Standby, StoreError, StoreErrorKind};
use ::postgres::types::{ToSql, Type};
use ::postgres::{Client, Error};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One connection to a server.
pub(super) struct PostgresSession {
    pub(super) line: ConnectionThread,
    cancel: Cancel,
    pub(super) address: PostgresAddress,
    /// User, the server that answered, and database.
    pub(super) label: String,
    pub(super) limits: Limits,
    /// True between the beginning and the end of a transaction of ours.
    in_transaction: bool,
    /// True for a snapshot, which an interrupt ends in the middle of a statement. Writers finish the batch in hand.
    is_reader: bool,
    /// True once the connection is known to be gone, so that asking what became of a commit takes another.
    pub(super) must_reconnect: bool,
    /// Which server this is, and in which of its lives; `None` until a writer has asked, or where it may not.
    pub(super) identity: Option<String>,
    /// The schemas that unqualified names would have been looked for in, before ours was set.
    pub(super) visible: Vec<String>,
    /// The search path that the role has of its own.
    own_path: String,
    /// The search path of the queue's own triggers and functions, for the transaction that has begun.
    path_of_queue: String,
    /// Gone with the session.
    alive: Arc<()>,
}

/// A transaction of ours that hangs longer than this between two statements is given up by the server.
const IDLE_IN_TRANSACTION: &str = "5s";
/// The search path of our own statements: every name in them is qualified, and so is every function.
pub(super) const PATH: &str = "pg_catalog, pg_temp";
/// How long a statement of an action may wait for another session's lock; and when it is tried again, which may be often. In that
/// time the batch's own locks stand in the workers' way.
const WAIT: &str = "100ms";
const WAIT_AGAIN: &str = "10ms";
/// Rows fetched at a time.
const FETCH: usize = 1000;
/// How long a server may take to end a statement once the time is up.
const GRACE: Duration = Duration::from_secs(2);
/// The longest time limit that a server understands.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);
/// How long it may take to end what is under way after an interrupt.
const INTERRUPTED: Duration = Duration::from_secs(3);
/// How long it may take to hear that a snapshot is over.
const FAREWELL: Duration = Duration::from_millis(300);

impl PostgresSession {
    /// Connects.
    pub(super) fn connect(address: &PostgresAddress, limits: &Limits) -> Result<PostgresSession, StoreError> {
        let Connected { line, server, label } = connect(address, limits)?;
        Ok(PostgresSession {
            line,
            cancel: Cancel::at(address, server, limits),
            address: address.clone(),
            label,
            limits: limits.clone(),
            in_transaction: false,
            is_reader: false,
            must_reconnect: false,
            identity: None,
            visible: Vec::new(),
            own_path: String::new(),
            path_of_queue: String::new(),
            alive: Arc::new(()),
        })
    }

    /// Has the server end the query under way when the operator interrupts.
    pub(super) fn cancel_on_interrupt(&self) {
        let cancel = self.cancel.clone();
        self.limits.interrupt.on_raise(&self.alive, Box::new(move || cancel.send()));
    }

    /// Begins the snapshot of a snapshot, and reads the clock. On a standby `now` is the moment up to which it has followed its
    /// primary: signs of life that have not arrived must not count as silence.
    pub(super) fn begin_read(&mut self) -> Result<(Timestamp, Option<Standby>), StoreError> {
        // Behind a pooler it is here that one waits for a server.
        self.is_reader = true;
        self.batch("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        self.in_transaction = true;
        let now = self.settings(None)?;
        if self.limits.interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while connecting"));
        }
        let standby = standby::ask(self, now)?;
        let lag = standby.and_then(|standby| standby.lag).unwrap_or_default();
        Ok((now.minus(lag), standby))
    }

    /// Runs statements that create things, all or none.
    pub(super) fn create(&mut self, statements: &[String]) -> Result<(), StoreError> {
        self.identify();
        self.batch("BEGIN")?;
        self.in_transaction = true;
        let (left, lock) = (self.limits.left().min(LONGEST).as_millis().max(1), self.limits.lock.as_millis().max(1));
        self.batch(&format!("SET LOCAL statement_timeout = {left}; SET LOCAL lock_timeout = {lock}"))?;
        for statement in statements {
            self.batch(statement)?;
        }
        match self.commit() {
            Commit::Done => Ok(()),
            Commit::Failed(error) => Err(error),
            Commit::Unknown(error) => Err(StoreError {
                kind: StoreErrorKind::Unknown,
                message: format!("{}; whether the tables were created is not known", error.message),
                hint: Some("`jobdoctor check` says whether they are there".to_owned()),
                ..error
            }),
        }
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let sql = sql.to_owned();
        self.ask(move |client| client.batch_execute(&sql))
    }

    /// Has something done with the connection, and gives up on a server that answers neither in time nor soon after.
    fn ask<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Client) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (limits, cancel, overdue) = (self.limits.clone(), self.cancel.clone(), std::cell::OnceCell::new());
        // The server's own limit counts anew for each statement; when the whole time is up, it is asked to end this one.
        let in_time = move || {
            let begun = || {
                cancel.send();
                Instant::now()
            };
            !limits.left().is_zero() || overdue.get_or_init(begun).elapsed() < GRACE
        };
        let (interrupt, raised) = (self.limits.interrupt.clone(), std::cell::OnceCell::new());
        let is_heeded = self.is_reader;
        // The server was asked to end the statement; one that does not even do that keeps nobody for long.
        let heeds =
            move || !(is_heeded && interrupt.is_raised()) || raised.get_or_init(Instant::now).elapsed() < INTERRUPTED;
        match self.line.ask(|| in_time() && heeds(), work) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.error(&error)),
            Err(_) => Err(self.silent()),
        }
    }

    pub(super) fn silent(&self) -> StoreError {
        if self.is_reader && self.limits.interrupt.is_raised() {
            return StoreError::new(StoreErrorKind::Interrupted, "interrupted while the server did not answer");
        }
        let message = format!("{}: the connection stands, but the server has stopped answering", self.label);
        StoreError::new(StoreErrorKind::Lost, message).hint("it may be frozen, or the network between may be gone")
    }

    /// Makes the settings of a transaction, in it and for it alone, and reads its clock.
    ///
    /// On the search path is only the system's own: whoever may create things in another schema could otherwise have an
    /// operator of theirs run as our role. The queue's triggers and functions get theirs in [`Session::begin_acting`].
    fn settings(&mut self, schema: Option<&str>) -> Result<Timestamp, StoreError> {
        let before = self.query(&Statement::plain(
            "SELECT pg_catalog.current_setting('search_path'), pg_catalog.getdatabaseencoding()::text, \
             pg_catalog.unnest(pg_catalog.current_schemas(false))::text",
        ))?;
        let told = |n: usize| before.first().and_then(|row| row.get(n)).and_then(Cell::to_text);
        self.visible = before.iter().filter_map(|row| row.get(2)).filter_map(Cell::to_text).collect();
        // A database in no encoding holds any bytes. Asked for UTF-8, it would end a statement at the first that are none.
        let encoding = if told(1).as_deref() == Some("SQL_ASCII") { "SQL_ASCII" } else { "UTF8" };
        self.own_path = told(0).unwrap_or_default();
        self.path_of_queue = self.path_of(schema.unwrap_or_default());
        // An integer of milliseconds to the server.
        let left = self.limits.left().min(LONGEST);
        let lock = self.lock_wait();
        let left = left.as_millis().max(1).to_string();
        let settings = [
            ("client_encoding", encoding),
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
            ("search_path", PATH),
        ];
        self.set(&settings)?;
        let clock = "SELECT pg_catalog.now(), pg_catalog.pg_backend_pid()::text, pg_catalog.now()::text";
        let rows = self.query(&Statement::plain(clock))?;
        let now = match rows.first().map(Vec::as_slice) {
            Some([Cell::Instant(micros), Cell::Text(process), Cell::Text(began)]) => {
                self.cancel.note(process.clone(), began.clone());
                Timestamp::from_micros(*micros)
            }
            _ => None,
        };
        now.ok_or_else(|| StoreError::new(StoreErrorKind::Other, "the server's clock is out of range"))
    }

    /// The search path while an action on a queue in that schema is carried out.
    pub(super) fn path_of(&self, schema: &str) -> String {
        let of_queue = Some(schema).filter(|schema| !schema.is_empty()).map(quoted);
        let own = Some(self.own_path.clone()).filter(|own| !own.trim().is_empty());
        let path = [Some("pg_catalog".to_owned()), of_queue, own, Some("pg_temp".to_owned())];
        path.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// How long to wait for a lock, in milliseconds. This ends before the time limit does, because its error says more.
    fn lock_wait(&self) -> String {
        let left = self.limits.left().min(LONGEST);
        self.limits.lock.min(left.mul_f32(0.9)).as_millis().max(1).to_string()
    }

    /// Sets them for the rest of the transaction.
    pub(super) fn set(&mut self, settings: &[(&str, &str)]) -> Result<(), StoreError> {
        let mut params = Vec::new();
        let mut calls = Vec::new();
        for (name, value) in settings {
            params.extend([*name, *value].map(|text| Param::Cell(Cell::Text(text.to_owned()))));
            calls.push(format!("pg_catalog.set_config(${}, ${}, true)", params.len() - 1, params.len()));
        }
        self.query(&Statement { sql: format!("SELECT {}", calls.join(", ")), params }).map(|_| ())
    }

    pub(super) fn error(&self, error: &::postgres::Error) -> StoreError {
        let mut error = store_error(error, &self.label, &self.address.user);
        let table = error.message.split_once("permission denied for table ").map(|(_, table)| quoted(table));
        if let Some(table) = table.filter(|_| self.is_reader) {
            // A snapshot does nothing but read.
            error.hint = Some(format!("GRANT SELECT ON {table} TO {}", quoted(&self.address.user)));
        }
        match error.kind {
            StoreErrorKind::TimedOut if self.limits.interrupt.is_raised() => {
                StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading")
            }
            StoreErrorKind::TimedOut => {
                // Whoever ends it, the server's own limit or we at ours, which comes a moment later: the time was up.
                error.message = error.message.replace("user request", "statement timeout");
                error
            }
            // A snapshot may stand about for as long as it may take in all, and then the server ends it: so was the time up.
            StoreErrorKind::Lost if self.is_reader && error.code.as_deref() == Some("25P03") => {
                StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out between two statements")
            }
            _ => error,
        }
    }
}

impl Drop for PostgresSession {
    /// A pooler throws the server's connection away when its client goes in the middle of a transaction.
    fn drop(&mut self) {
        if self.in_transaction {
            let _ = self.line.ask(until(FAREWELL), |client| client.batch_execute("ROLLBACK"));
        }
    }
}

impl Session for PostgresSession {
    fn dialect(&self) -> &'static dyn Dialect {
        &Postgres
    }

    /// Through the unnamed statement: poolers keep no others.
    fn query(&mut self, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError> {
        let statement = statement.clone();
        self.ask(move |client| {
            let bound: Vec<Bound<'_>> = statement.params.iter().map(Bound).collect();
            let rows = client.query_typed(&statement.sql, &typed(&bound))?;
            rows.iter()
                .map(|row| (0..row.len()).map(|n| row.try_get::<_, Raw>(n).map(|raw| raw.0)).collect())
                .collect::<Result<_, _>>()
        })
    }

    fn execute(&mut self, statement: &Statement) -> Result<u64, StoreError> {
        let statement = statement.clone();
        self.ask(move |client| {
            let bound: Vec<Bound<'_>> = statement.params.iter().map(Bound).collect();
            client.execute_typed(&statement.sql, &typed(&bound))
        })
    }

    /// The driver keeps the whole answer in any case.
    fn each(&mut self, statement: &Statement, each: &mut dyn FnMut(&[Cell])) -> Result<(), StoreError> {
        self.query(statement)?.iter().for_each(|row| each(row));
        Ok(())
    }

    fn role(&self) -> Option<String> {
        Some(quoted(&self.address.user))
    }

    fn begin(&mut self, schema: &str) -> Result<Timestamp, StoreError> {
        self.identify();
        self.batch("BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        self.in_transaction = true;
        // A deferred constraint would otherwise refuse the whole batch at its commit, without naming the row.
        let constraints = "SET CONSTRAINTS ALL IMMEDIATE";
        let begun = self.settings(Some(schema)).and_then(|now| self.batch(constraints).map(|()| now));
        if begun.is_err() {
            self.rollback();
        }
        begun
    }

    fn begin_acting(&mut self, again: bool) -> Result<(), StoreError> {
        let (path, wait) = (self.path_of_queue.clone(), if again { WAIT_AGAIN } else { WAIT });
        self.set(&[("search_path", &path), ("lock_timeout", wait)])
    }

    fn end_acting(&mut self) -> Result<(), StoreError> {
        // The commit may have to wait its turn, where notifications are sent.
        let wait = self.lock_wait();
        self.set(&[("search_path", PATH), ("lock_timeout", &wait)])
    }

    fn commit(&mut self) -> Commit {
        // Fails in an aborted transaction, whose COMMIT the driver would report as success; and it is the receipt.
        let receipt = Statement::plain("SELECT pg_catalog.pg_current_xact_id()::text");
        let xid = match self.query(&receipt) {
            Ok(rows) => rows.first().and_then(|row| row.first()).and_then(Cell::to_text).unwrap_or_default(),
            Err(error) => return Commit::Failed(error),
        };
        self.in_transaction = false;
        let commit = self.line.ask(until(self.limits.left() + GRACE), |client| {
            // The server's own no; the end of a connection, even one with last words, leaves the question open.
            match client.batch_execute("COMMIT") {
                Err(error) if is_an_answer(&error) && !client.is_closed() => Ok(Err((error, true))),
                Err(error) => Ok(Err((error, false))),
                Ok(()) => Ok(Ok(())),
            }
        });
        match commit {
            Ok(Ok(Ok(()))) => Commit::Done,
            Ok(Ok(Err((error, true)))) => Commit::Failed(self.error(&error)),
            Ok(Ok(Err((error, false))) | Err(error)) => {
                self.must_reconnect = true;
                let lost = self.error(&error);
                self.resolve(&xid, lost)
            }
            Err(_) => {
                self.must_reconnect = true;
                let lost = self.silent();
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
        self.in_transaction = false;
        let _ = self.batch("ROLLBACK");
    }
}

impl ReadSession for PostgresSession {
    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let rows = self.query(&Statement::plain("SELECT pg_catalog.pg_postmaster_start_time()"))?;
        Ok(match rows.first().and_then(|row| row.first()) {
            Some(Cell::Instant(micros)) => Timestamp::from_micros(*micros),
            _ => None,
        })
    }

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

    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError> {
        self.batch("SAVEPOINT jobdoctor_short")?;
        let time = time.min(self.limits.left()).min(LONGEST).as_millis().max(1).to_string();
        self.set(&[("statement_timeout", &time)])
    }

    fn end_short(&mut self) -> Result<(), StoreError> {
        // What was set since goes back with it.
        self.batch("ROLLBACK TO SAVEPOINT jobdoctor_short; RELEASE SAVEPOINT jobdoctor_short")
    }

    fn explain(&mut self, spec: &QueueSpec, statement: &Statement, is_act: bool) -> Result<(), StoreError> {
        trial::explain(self, spec, statement, is_act)
    }

    fn try_out(
        &mut self,
        spec: &QueueSpec,
        moved: &ActionSpec,
        saying: (Timestamp, &str),
    ) -> Result<Vec<Trial>, StoreError> {
        trial::try_out(self, spec, moved, saying)
    }

    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        identity::identity(self)
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        catalog::live_schema(self, names)
    }
}

/// Parameters with the types that they are declared as.
fn typed<'p>(bound: &'p [Bound<'_>]) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    bound.iter().map(|param| (param as &(dyn ToSql + Sync), param.declared())).collect()
}

impl WriteSession for PostgresSession {
    fn shares_writes(&self) -> bool {
        true
    }
}
