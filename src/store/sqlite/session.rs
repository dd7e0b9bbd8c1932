use super::catalog;
use super::error::{half_written, locked, store_error};
use super::file::{DatabaseFile, ReadMode};
use super::schema_seen::SchemaSeen;
use super::trial;
use crate::model::{Cell, Timestamp};
use crate::preset::{ActionSpec, LiveSchema, QueueSpec};
use crate::store::reader::{Each, ReadSession};
use crate::store::rehearsal::Trial;
use crate::store::session::WriteSession;
use crate::store::session::{Commit, Session};
use crate::store::sql::{Dialect, Param, Sqlite, Statement};
use crate::store::{Interrupt, Limits, StoreError, StoreErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// One connection to a file.
pub(super) struct SqliteSession {
    pub(super) connection: Connection,
    pub(super) file: DatabaseFile,
    pub(super) limits: Limits,
    seen: SchemaSeen,
}

/// How long SQLite itself waits for a lock before it asks us whether to go on, if the limits allow so much.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many of SQLite's instructions pass between two snapshots at the time limit and the interrupt flag.
const PROGRESS_STEPS: std::ffi::c_int = 10_000;

impl SqliteSession {
    /// Opens a file so that it stays as it was.
    pub(super) fn for_reading(
        path: &Path,
        limits: &Limits,
        seen: &SchemaSeen,
        foreign_keys: bool,
    ) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing(path)?;
        let mode = file.read_mode()?;
        // Who opens it for writing, if only to make sidecars, takes a journal back with the first read.
        if mode == ReadMode::MakesSidecars && file.has_journal() {
            return Err(half_written(&file));
        }
        let flags = match mode {
            ReadMode::Plain => OpenFlags::SQLITE_OPEN_READ_ONLY,
            ReadMode::MakesSidecars => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let mut session = SqliteSession::open(file, flags, limits, seen, true)?;
        let mut guarded = || {
            let connection = &mut session.connection;
            if mode == ReadMode::Plain {
                // The last connection to a WAL would otherwise move it into the database as it closes.
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            }
            // What it explains is what a writer would meet.
            connection.pragma_update(None, "foreign_keys", foreign_keys)?;
            connection.pragma_update(None, "query_only", true)?;
            connection.authorizer(Some(reads_only))
        };
        match guarded() {
            Ok(()) => Ok(session),
            Err(error) => Err(session.error(error)),
        }
    }

    /// Opens a file that must be there for writing rows.
    pub(super) fn for_writing(
        path: &Path,
        limits: &Limits,
        seen: &SchemaSeen,
        foreign_keys: bool,
    ) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing(path)?;
        // Where a reader's sidecars would lock the owner out, a writer's would too.
        file.read_mode()?;
        let session = SqliteSession::open(file, OpenFlags::SQLITE_OPEN_READ_WRITE, limits, seen, false)?;
        let prepared = || {
            // Checkpoints are the application's business, and cost time that the write lock would be held for.
            session.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            session.connection.pragma_update(None, "foreign_keys", foreign_keys)?;
            session.connection.is_readonly("main")
        };
        match prepared() {
            Ok(false) => Ok(session),
            Ok(true) => Err(StoreError::new(StoreErrorKind::Denied, format!("may not write to {}", session.file))
                .hint("run it as a user who may write to it, and to its directory")),
            Err(error) => Err(session.error(error)),
        }
    }

    /// Opens or makes a file.
    pub(super) fn for_creating(path: &Path, limits: &Limits) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing_or_new(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        SqliteSession::open(file, flags, limits, &SchemaSeen::default(), false)
    }

    /// A reader gives up in the middle of a statement when it is interrupted; a writer finishes its batch.
    fn open(
        file: DatabaseFile,
        flags: OpenFlags,
        limits: &Limits,
        seen: &SchemaSeen,
        reading: bool,
    ) -> Result<SqliteSession, StoreError> {
        let (deadline, interrupt) = (limits.deadline, limits.interrupt.clone());
        let open = || {
            let mut connection = Connection::open_with_flags(file.real(), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(PATIENCE.min(limits.lock))?;
            // The file may have been made by anyone: nothing in its schema may call functions that have side effects,
            // and nothing in its pages is believed unseen.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.pragma_update(None, "cell_size_check", true)?;
            watch(&mut connection, deadline, reading.then_some(interrupt))?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(SqliteSession { connection, file, limits: limits.clone(), seen: seen.clone() }),
            Err(error) => Err(store_error(&file, error)),
        }
    }

    /// Begins the snapshot of a snapshot and reads the clock.
    pub(super) fn begin_read(&mut self) -> Result<Timestamp, StoreError> {
        self.connection.execute_batch("BEGIN").map_err(|error| self.error(error))?;
        // A deferred transaction has no snapshot before its first read.
        self.patiently("SELECT count(*) FROM sqlite_schema")?;
        self.now()
    }

    /// Runs statements that create things, all or none.
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
        let begun = Instant::now();
        let patience = self.limits.lock.min(self.limits.left());
        loop {
            match self.query(&Statement::plain(sql)) {
                Err(error) if error.kind == StoreErrorKind::Busy => {
                    if self.limits.interrupt.is_raised() {
                        return Err(StoreError::new(
                            StoreErrorKind::Interrupted,
                            "interrupted while waiting for a lock",
                        ));
                    }
                    if begun.elapsed() >= patience {
                        return Err(locked(&self.file, Some(begun.elapsed())));
                    }
                }
                other => return other.map(|_| ()),
            }
        }
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> StoreError {
        let error = store_error(&self.file, error);
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

/// Has the statements that come end at that instant, and by an interrupt.
pub(super) fn watch(
    connection: &mut Connection,
    deadline: Instant,
    interrupt: Option<Interrupt>,
) -> rusqlite::Result<()> {
    let is_raised = move || interrupt.as_ref().is_some_and(Interrupt::is_raised);
    connection.progress_handler(PROGRESS_STEPS, Some(move || Instant::now() >= deadline || is_raised()))
}

/// Denies everything that writes. `query_only` guards the same; the two fail independently.
fn reads_only(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Transaction { .. } => Authorization::Allow,
        // Loading extensions is off unless a program turns it on; no other built-in function does more than compute.
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Deny
        }
        AuthAction::Function { .. } => Authorization::Allow,
        AuthAction::Pragma { pragma_name: "schema_version", pragma_value: None } => Authorization::Allow,
        AuthAction::Pragma { pragma_name, .. }
            if ["table_xinfo", "index_list", "index_info", "foreign_key_list"]
                .contains(&pragma_name.to_ascii_lowercase().as_str()) =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Allows to prepare what writes rows, while it is explained: it is never stepped, and `query_only` would refuse it.
fn explains(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Insert { .. } | AuthAction::Update { .. } | AuthAction::Delete { .. } => Authorization::Allow,
        _ => reads_only(context),
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

    fn each(&mut self, statement: &Statement, each: &mut dyn FnMut(&[Cell])) -> Result<(), StoreError> {
        self.stream(statement, &mut |row| {
            each(row);
            ControlFlow::Continue(())
        })
    }

    fn role(&self) -> Option<String> {
        None
    }

    /// A trigger's names are those of its own schema, and the one lock is held already.
    fn begin_acting(&mut self, _again: bool) -> Result<(), StoreError> {
        Ok(())
    }

    fn end_acting(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Immediate, always: a deferred transaction that reads first fails at once when another one writes.
    fn begin(&mut self, _schema: &str) -> Result<Timestamp, StoreError> {
        self.patiently("BEGIN IMMEDIATE")?;
        let seen = self.seen.clone();
        let begun = seen.verify(self).and_then(|()| self.now());
        if begun.is_err() {
            self.rollback();
        }
        begun
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

    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }

    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError> {
        let deadline = self.limits.deadline.min(Instant::now() + time);
        watch(&mut self.connection, deadline, Some(self.limits.interrupt.clone())).map_err(|error| self.error(error))
    }

    fn end_short(&mut self) -> Result<(), StoreError> {
        let interrupt = Some(self.limits.interrupt.clone());
        watch(&mut self.connection, self.limits.deadline, interrupt).map_err(|error| self.error(error))
    }

    fn explain(&mut self, spec: &QueueSpec, statement: &Statement, _is_act: bool) -> Result<(), StoreError> {
        let allowed = self.connection.authorizer(Some(explains));
        let explained = allowed.and_then(|()| self.connection.prepare(&format!("EXPLAIN {}", statement.sql)).map(drop));
        // Whatever came of it, the reader is one again.
        self.connection.authorizer(Some(reads_only)).map_err(|error| self.error(error))?;
        match explained {
            Ok(()) => Ok(()),
            // A virtual table that a trigger writes to may want more than that, and then nothing is known.
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::AuthorizationForStatementDenied =>
            {
                Ok(())
            }
            Err(error) => {
                let error = self.error(error);
                Err(trial::blamed_on_foreign_key(self, spec, error))
            }
        }
    }

    fn try_out(
        &mut self,
        spec: &QueueSpec,
        moved: &ActionSpec,
        saying: (Timestamp, &str),
    ) -> Result<Vec<Trial>, StoreError> {
        trial::try_out(self, spec, moved, saying)
    }

    /// Where the file really lies: a copy of it is another database.
    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        Ok(Some(self.file.real().display().to_string()))
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        let seen = self.seen.clone();
        seen.remember(self, names)?;
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
pub(super) struct Bound<'p>(pub(super) &'p Param);

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
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::BrokenText(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
