use super::catalog;
use super::error::store_error;
use super::file::{self, ReadMode};
use crate::model::{Cell, Timestamp};
use crate::spec::LiveSchema;
use crate::store::apply::WriteSession;
use crate::store::reader::{Each, ReadSession};
use crate::store::session::{Commit, Session};
use crate::store::sql::{Dialect, Param, Sqlite, Statement};
use crate::store::{Limits, StoreError, StoreErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};
use std::path::Path;
use std::time::{Duration, Instant};

/// One connection to a file.
pub(super) struct SqliteSession {
    pub(super) connection: Connection,
    /// True if this process could write to the file, and to its directory, where a journal has to be made.
    pub(super) may_write: bool,
    limits: Limits,
}

/// How long SQLite itself waits for a lock before it asks us whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many of SQLite's instructions pass between two looks at the time limit and the interrupt flag.
const PROGRESS_STEPS: std::ffi::c_int = 10_000;

impl SqliteSession {
    /// Opens a file so that it stays as it was.
    pub(super) fn for_reading(path: &Path, limits: &Limits) -> Result<SqliteSession, StoreError> {
        let mode = file::read_mode(path)?;
        let flags = match mode {
            ReadMode::Plain => OpenFlags::SQLITE_OPEN_READ_ONLY,
            ReadMode::MakesSidecars => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let mut session = SqliteSession::open(path, flags, limits, true)?;
        let connection = &mut session.connection;
        if mode == ReadMode::Plain {
            // The last connection to a WAL would otherwise move it into the database as it closes.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(store_error)?;
        }
        connection.pragma_update(None, "query_only", true).map_err(store_error)?;
        connection.authorizer(Some(reads_only)).map_err(store_error)?;
        Ok(session)
    }

    /// Opens a file that must be there for writing rows.
    pub(super) fn for_writing(path: &Path, limits: &Limits) -> Result<SqliteSession, StoreError> {
        file::must_be_a_database(path)?;
        let session = SqliteSession::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, limits, false)?;
        if session.connection.is_readonly("main").map_err(store_error)? {
            return Err(StoreError::new(StoreErrorKind::Denied, format!("may not write to {}", path.display())));
        }
        // Checkpoints are the application's business, and cost time that the write lock would be held for.
        session.connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(store_error)?;
        session.connection.pragma_update(None, "foreign_keys", true).map_err(store_error)?;
        Ok(session)
    }

    /// Opens or makes a file.
    pub(super) fn for_creating(path: &Path, limits: &Limits) -> Result<SqliteSession, StoreError> {
        if path.exists() {
            file::must_be_a_database(path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        SqliteSession::open(path, flags, limits, false)
    }

    /// Never with `SQLITE_OPEN_URI`: a path from outside is a path. A reader gives up in the middle of a statement when it
    /// is interrupted; a writer finishes its batch.
    fn open(path: &Path, flags: OpenFlags, limits: &Limits, reading: bool) -> Result<SqliteSession, StoreError> {
        let mut connection =
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(store_error)?;
        connection.busy_timeout(PATIENCE).map_err(store_error)?;
        // The file may have been made by anyone: nothing in its schema may call functions that have side effects.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(store_error)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(store_error)?;
        let (deadline, interrupt) = (limits.deadline, limits.interrupt.clone());
        connection
            .progress_handler(
                PROGRESS_STEPS,
                Some(move || Instant::now() >= deadline || (reading && interrupt.is_raised())),
            )
            .map_err(store_error)?;
        Ok(SqliteSession { connection, may_write: file::may_write(path), limits: limits.clone() })
    }

    /// Begins the snapshot of a look and reads the clock.
    pub(super) fn begin_read(&mut self) -> Result<Timestamp, StoreError> {
        self.connection.execute_batch("BEGIN").map_err(store_error)?;
        // A deferred transaction has no snapshot before its first read.
        self.patiently("SELECT count(*) FROM sqlite_schema")?;
        self.now()
    }

    /// Runs statements that create things, all or none.
    pub(super) fn create(&mut self, statements: &[String]) -> Result<(), StoreError> {
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(store_error)?;
        for statement in statements {
            transaction.execute_batch(statement).map_err(store_error)?;
        }
        transaction.commit().map_err(store_error)
    }

    /// The host's clock, as SQLite reads it, to the millisecond.
    fn now(&mut self) -> Result<Timestamp, StoreError> {
        let sql = "SELECT CAST(round(unixepoch('now', 'subsec') * 1000) AS INTEGER)";
        let rows = self.query(&Statement::plain(sql))?;
        match rows.first().and_then(|row| row.first()) {
            Some(Cell::Integer(millis)) => Timestamp::from_micros(millis.saturating_mul(1000)),
            _ => None,
        }
        .ok_or_else(|| StoreError::new(StoreErrorKind::Other, "the host's clock is out of range"))
    }

    /// Runs a statement that other processes may keep waiting, for as long as the limits allow and nobody interrupts.
    fn patiently(&mut self, sql: &str) -> Result<(), StoreError> {
        let until = Instant::now() + self.limits.lock.min(self.limits.left());
        loop {
            match self.query(&Statement::plain(sql)) {
                Err(error) if error.kind == StoreErrorKind::Busy => {
                    if self.limits.interrupt.is_raised() {
                        return Err(StoreError::new(
                            StoreErrorKind::Interrupted,
                            "interrupted while waiting for a lock",
                        ));
                    }
                    if Instant::now() >= until {
                        return Err(error);
                    }
                }
                other => return other.map(|_| ()),
            }
        }
    }

    fn error(&self, error: rusqlite::Error) -> StoreError {
        let error = store_error(error);
        match error.kind {
            StoreErrorKind::TimedOut if self.limits.interrupt.is_raised() => {
                StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading")
            }
            StoreErrorKind::TimedOut => StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out")
                .hint("give it longer with --timeout, or narrow what is asked"),
            _ => error,
        }
    }
}

/// Denies everything that writes. `query_only` guards the same; the two fail independently.
fn reads_only(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Transaction { .. } => Authorization::Allow,
        // load_extension is not compiled in; no other built-in function writes.
        AuthAction::Function { .. } => Authorization::Allow,
        AuthAction::Pragma { pragma_name, .. }
            if ["table_xinfo", "index_list", "index_info"].contains(&pragma_name.to_ascii_lowercase().as_str()) =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

impl Session for SqliteSession {
    fn dialect(&self) -> &'static dyn Dialect {
        &Sqlite
    }

    fn query(&mut self, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError> {
        let run = || {
            let mut prepared = self.connection.prepare_cached(&statement.sql)?;
            let width = prepared.column_count();
            let mut rows = prepared.query(rusqlite::params_from_iter(statement.params.iter().map(Bound)))?;
            let mut cells = Vec::new();
            while let Some(row) = rows.next()? {
                cells.push((0..width).map(|n| row.get_ref(n).map(cell)).collect::<Result<Vec<_>, _>>()?);
            }
            Ok(cells)
        };
        run().map_err(|error| self.error(error))
    }

    fn execute(&mut self, statement: &Statement) -> Result<u64, StoreError> {
        let run = || {
            let mut prepared = self.connection.prepare_cached(&statement.sql)?;
            prepared.execute(rusqlite::params_from_iter(statement.params.iter().map(Bound)))
        };
        run().map(|rows| rows as u64).map_err(|error| self.error(error))
    }

    /// Immediate, always: a deferred transaction that reads first fails at once when another one writes.
    fn begin(&mut self, _schema: &str) -> Result<Timestamp, StoreError> {
        self.patiently("BEGIN IMMEDIATE")?;
        self.now()
    }

    fn commit(&mut self) -> Commit {
        match self.patiently("COMMIT") {
            Ok(()) => Commit::Done,
            Err(error) => Commit::Failed(error),
        }
    }

    fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn rollback(&mut self) {
        // Nothing to be done if it fails: SQLite has rolled back by itself then.
        let _ = self.execute(&Statement::plain("ROLLBACK"));
    }
}

impl ReadSession for SqliteSession {
    fn stream(&mut self, statement: &Statement, each: Each<'_>) -> Result<(), StoreError> {
        let mut run = || {
            let mut prepared = self.connection.prepare(&statement.sql)?;
            let width = prepared.column_count();
            let mut rows = prepared.query(rusqlite::params_from_iter(statement.params.iter().map(Bound)))?;
            let mut cells = Vec::with_capacity(width);
            while let Some(row) = rows.next()? {
                cells.clear();
                for n in 0..width {
                    cells.push(cell(row.get_ref(n)?));
                }
                if each(&cells).is_break() {
                    break;
                }
            }
            Ok(())
        };
        run().map_err(|error| self.error(error))
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        catalog::live_schema(self, names)
    }
}

impl WriteSession for SqliteSession {
    /// The write lock covers the whole database.
    fn shares_writes(&self) -> bool {
        false
    }
}

/// A parameter on its way into a statement.
struct Bound<'p>(&'p Param);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Param::Texts(_) => ToSqlOutput::Owned(Value::Null),
            Param::Cell(Cell::Null | Cell::Infinity | Cell::NegativeInfinity) => ToSqlOutput::Owned(Value::Null),
            Param::Cell(Cell::Integer(n)) => ToSqlOutput::Owned(Value::Integer(*n)),
            Param::Cell(Cell::Real(n)) => ToSqlOutput::Owned(Value::Real(*n)),
            Param::Cell(Cell::Text(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Param::Cell(Cell::Bytes(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            // No encoding of a SQLite column makes these; as text they would at least be readable.
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
        ValueRef::Text(bytes) => Cell::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
