//! One connection to a file, its transactions and its reads.

use super::error::{locked, store_error};
use super::file::DatabaseFile;
use super::open::{explains_only, limit_statements, reads_only};
use super::schema::{self, SchemaSeen};
use crate::model::{Cell, Remedy, Timestamp};
use crate::preset::{Jobs, LiveSchema};
use crate::store::session::{Answered, Commit, ReadSession, Session};
use crate::store::sql::{Dialect, Param, Sqlite, Statement, text};
use crate::store::{Limits, StoreError, StoreErrorKind};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Params, ToSql};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The page cache of a writer in KiB: the pages that a batch of 2,000 jobs dirties fit in, or SQLite would write them
/// out and read them again. A reader reads each page once and keeps the usual 2,000. Neither maps the file: where it is
/// cut short meanwhile, that would end the process.
const WRITER_CACHE_KIB: i64 = 32_000;

pub(super) struct SqliteSession {
    pub(super) connection: Connection,
    pub(super) file: DatabaseFile,
    pub(super) limits: Limits,
    pub(super) seen: SchemaSeen,
    /// The version of the file's data, which other connections change, and since when it is that.
    pub(super) others: Option<(Cell, Instant)>,
}

impl SqliteSession {
    /// Begins the transaction of a snapshot and reads the clock.
    pub(super) fn begin_read(&mut self) -> Result<Timestamp, StoreError> {
        self.connection.execute_batch("BEGIN").map_err(|error| self.error(error))?;
        // A deferred transaction has no snapshot before its first read.
        self.patiently("SELECT count(*) FROM sqlite_schema")?;
        self.now()
    }

    /// The host's clock, as SQLite reads it, to the millisecond.
    pub(super) fn now(&mut self) -> Result<Timestamp, StoreError> {
        let sql = "SELECT CAST(round(unixepoch('now', 'subsec') * 1000) AS INTEGER)";
        let millis = self.value(&Statement::plain(sql))?.as_ref().and_then(Cell::as_integer);
        let now = millis.and_then(|millis| Timestamp::from_micros(millis.saturating_mul(1000)));
        now.ok_or_else(|| StoreError::new(StoreErrorKind::Other, "the host's clock is out of range"))
    }

    fn limit_until(&mut self, deadline: Instant) -> Result<(), StoreError> {
        let interrupt = self.limits.interrupt.clone();
        limit_statements(&mut self.connection, deadline, interrupt, true).map_err(|error| self.error(error))
    }

    /// Runs a statement that may have to wait for other processes, until the limits or an interrupt end the wait.
    pub(super) fn patiently(&mut self, sql: &str) -> Result<(), StoreError> {
        let begun = Instant::now();
        let limit = self.limits.lock.min(self.limits.left());
        loop {
            match self.query(&Statement::plain(sql)) {
                Err(error) if error.kind == StoreErrorKind::Busy => {
                    if self.limits.interrupt.is_raised() {
                        return Err(StoreError::interrupted("waiting for a lock"));
                    }
                    if begun.elapsed() >= limit {
                        return Err(locked(&self.file, Some(begun.elapsed())));
                    }
                }
                other => return other.map(|_| ()),
            }
        }
    }

    /// Runs statements that create things, all in one transaction.
    pub(super) fn create(&mut self, statements: &[String]) -> Result<(), StoreError> {
        self.patiently("BEGIN IMMEDIATE")?;
        let created = statements
            .iter()
            .try_for_each(|statement| self.connection.execute_batch(statement).map_err(|error| self.error(error)))
            .and_then(|()| self.patiently("COMMIT"));
        if created.is_err() {
            self.rollback();
        }
        created
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> StoreError {
        let error = store_error(&self.file, error);
        match error.kind {
            StoreErrorKind::TimedOut if self.limits.interrupt.rolls_back() => StoreError::rolled_back(),
            StoreErrorKind::TimedOut if self.limits.interrupt.is_raised() => StoreError::interrupted("reading"),
            StoreErrorKind::TimedOut => {
                StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out").remedy(Remedy::AllowMoreTime)
            }
            _ => error,
        }
    }
}

impl Session for SqliteSession {
    fn dialect(&self) -> &'static dyn Dialect {
        &Sqlite
    }

    fn stream(
        &mut self,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut prepared = self.connection.prepare(&statement.sql).map_err(|error| self.error(error))?;
        each_row(&mut prepared, &statement.params, each).map_err(|error| self.error(error))
    }

    fn flight(&mut self, statements: &[Statement]) -> Result<Vec<Answered>, StoreError> {
        let one = |statement: &Statement| {
            let mut prepared = self.connection.prepare_cached(&statement.sql)?;
            let mut answered = Answered::default();
            if prepared.column_count() == 0 {
                answered.touched = prepared.execute(bound(&statement.params))? as u64;
            } else {
                each_row(&mut prepared, &statement.params, &mut |row| {
                    answered.rows.push(row.iter_mut().map(std::mem::take).collect());
                    ControlFlow::Continue(())
                })?;
            }
            Ok(answered)
        };
        statements.iter().map(one).collect::<rusqlite::Result<_>>().map_err(|error| self.error(error))
    }

    fn quiet(&mut self) -> Duration {
        let Ok(Some(version)) = self.value(&Statement::plain("PRAGMA data_version")) else { return Duration::ZERO };
        let since = match self.others.take() {
            Some((known, since)) if known == version => since,
            Some(_) => Instant::now(),
            None => Instant::now().checked_sub(self.file.age()).unwrap_or_else(Instant::now),
        };
        self.others = Some((version, since));
        since.elapsed()
    }

    /// Always immediate: a deferred transaction that reads first fails at once when another one writes.
    fn begin(&mut self, _schema: &str) -> Result<(), StoreError> {
        self.patiently("BEGIN IMMEDIATE")?;
        let seen = self.seen.clone();
        // The cache is set in the transaction: outside of one that might have to wait for a lock.
        let enlarge = |session: &Self| session.connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB);
        let begun = seen.verify(self).and_then(|()| enlarge(self).map_err(|error| self.error(error)));
        if begun.is_err() {
            self.rollback();
        }
        begun
    }

    fn clock(&mut self) -> Result<Timestamp, StoreError> {
        self.now()
    }

    fn commit(&mut self) -> Commit {
        if self.limits.interrupt.rolls_back() {
            return Commit::Failed(StoreError::rolled_back());
        }
        match self.patiently("COMMIT") {
            Ok(()) => Commit::Done,
            Err(error) => Commit::Failed(error),
        }
    }

    /// Of deferred foreign keys; the check reads every table that has foreign keys, so it is left out where none is
    /// deferred.
    fn broken_at_commit(&mut self) -> Result<u64, StoreError> {
        let deferred = "SELECT count(*) FROM main.sqlite_schema, pragma_foreign_keys WHERE foreign_keys AND sql LIKE '%DEFERRABLE%'";
        if self.count(&Statement::plain(deferred))? == 0 {
            return Ok(0);
        }
        self.count(&Statement::plain("SELECT count(*) FROM pragma_foreign_key_check"))
    }

    fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn rollback(&mut self) {
        // If this fails, SQLite has rolled back already.
        let _ = self.query(&Statement::plain("ROLLBACK"));
    }
}

impl ReadSession for SqliteSession {
    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError> {
        let until = Instant::now().checked_add(time).unwrap_or(self.limits.deadline);
        self.limit_until(self.limits.deadline.min(until))
    }

    fn end_short(&mut self) -> Result<(), StoreError> {
        self.limit_until(self.limits.deadline)
    }

    fn explain(&mut self, jobs: &Jobs, statement: &Statement) -> Result<(), StoreError> {
        let allowed = self.connection.authorizer(Some(explains_only));
        let explained = allowed.and_then(|()| self.connection.prepare(&format!("EXPLAIN {}", statement.sql)).map(drop));
        // The session must be a reader again, whatever the result.
        self.connection.authorizer(Some(reads_only)).map_err(|error| self.error(error))?;
        match explained {
            Ok(()) => Ok(()),
            // A virtual table that a trigger writes to may need more rights; then nothing is known.
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::AuthorizationForStatementDenied =>
            {
                Ok(())
            }
            Err(error) => {
                let error = self.error(error);
                Err(name_foreign_key(self, jobs, error))
            }
        }
    }

    /// The file's real path: a copy of it is another database.
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        let seen = self.seen.clone();
        seen.remember(self, names)?;
        schema::live_schema(self, names)
    }
}

/// Names the foreign key if an explanation failed because the claims' table declares one without its parent table.
fn name_foreign_key(session: &mut SqliteSession, jobs: &Jobs, error: StoreError) -> StoreError {
    let Some(table) = jobs.queue.tables.get(&jobs.claim.lock_table) else { return error };
    let parents = schema::ask(session, "SELECT \"table\" FROM pragma_foreign_key_list(?1, 'main')", &table.name);
    let parents = parents.unwrap_or_default();
    let missing = error.message.strip_prefix("no such table: main.");
    if missing.is_some_and(|missing| parents.iter().any(|parent| text(parent, 0).eq_ignore_ascii_case(missing))) {
        let message = format!("a foreign key of table {} cannot be enforced: {}", table.name, error.message);
        return super::error::of_foreign_key(StoreError { message, ..error });
    }
    error
}

fn bound(params: &[Param]) -> impl Params + '_ {
    rusqlite::params_from_iter(params.iter().map(Bound))
}

fn each_row(
    prepared: &mut rusqlite::Statement<'_>,
    params: &[Param],
    each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let width = prepared.column_count();
    let mut rows = prepared.query(bound(params))?;
    let mut cells = Vec::with_capacity(width);
    while let Some(row) = rows.next()? {
        cells.clear();
        for n in 0..width {
            cells.push(cell(row.get_ref(n)?));
        }
        if each(&mut cells).is_break() {
            break;
        }
    }
    Ok(())
}

struct Bound<'p>(&'p Param);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Param::Texts(_) => ToSqlOutput::Owned(Value::Null),
            Param::Cell(Cell::Null | Cell::Infinity | Cell::NegativeInfinity) => ToSqlOutput::Owned(Value::Null),
            Param::Cell(Cell::Integer(n)) => ToSqlOutput::Owned(Value::Integer(*n)),
            Param::Cell(Cell::Real(n)) => ToSqlOutput::Owned(Value::Real(*n)),
            Param::Cell(Cell::Text(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Param::Cell(Cell::BrokenText(bytes)) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
            Param::Cell(Cell::Bytes(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            // No encoding of a SQLite column makes these; as text they are readable.
            Param::Cell(time @ (Cell::Instant(_) | Cell::WallClock(_))) => {
                ToSqlOutput::Owned(Value::Text(time.to_string()))
            }
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(n) => Cell::Integer(n),
        ValueRef::Real(n) => Cell::Real(n),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::BrokenText(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
