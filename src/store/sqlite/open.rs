//! Opens a file for reading or writing, and guards the connection: its authorizer, its time limit, its settings.

use super::SqliteStore;
use super::error::{half_written, store_error};
use super::file::{DatabaseFile, ReadMode};
use super::session::SqliteSession;
use crate::store::{Interrupt, Limits, StoreError, StoreErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, OpenFlags};
use std::time::{Duration, Instant};

/// How long SQLite itself waits for a lock before jobdoctor checks its limits.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// The number of SQLite's instructions between two checks of the time limit and the interrupt.
const PROGRESS_STEPS: std::ffi::c_int = 10_000;

impl SqliteStore {
    /// Opens the file for reading, so that it stays as it was.
    pub(super) fn open_for_reading(&self, limits: &Limits) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing(&self.path)?;
        let mode = file.read_mode()?;
        // A connection that may write, if only to make sidecars, would roll a journal back with its first read.
        if mode == ReadMode::MakesSidecars && file.has_journal() {
            return Err(half_written(&file));
        }
        let flags = match mode {
            ReadMode::Plain => OpenFlags::SQLITE_OPEN_READ_ONLY,
            ReadMode::MakesSidecars => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let mut session = self.open(file, flags, limits, true)?;
        let mut guarded = || {
            let connection = &mut session.connection;
            if mode == ReadMode::Plain {
                // Otherwise the last connection to a WAL checkpoints it on closing.
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            }
            // So that an explained statement meets the same checks as a writer's.
            connection.pragma_update(None, "foreign_keys", self.foreign_keys)?;
            connection.pragma_update(None, "query_only", true)?;
            connection.authorizer(Some(reads_only))
        };
        match guarded() {
            Ok(()) => Ok(session),
            Err(error) => Err(session.error(error)),
        }
    }

    pub(super) fn open_for_writing(&self, limits: &Limits) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing(&self.path)?;
        // A writer's sidecars would lock the owner out as a reader's would.
        file.read_mode()?;
        let session = self.open(file, OpenFlags::SQLITE_OPEN_READ_WRITE, limits, false)?;
        let prepared = || {
            // Checkpoints are left to the application; they would lengthen the time for which the write lock is held.
            session.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            session.connection.pragma_update(None, "foreign_keys", self.foreign_keys)?;
            session.connection.is_readonly("main")
        };
        match prepared() {
            Ok(false) => Ok(session),
            Ok(true) => Err(StoreError::new(StoreErrorKind::Denied, format!("may not write to {}", session.file))
                .hint("run it as a user who may write to it, and to its directory")),
            Err(error) => Err(session.error(error)),
        }
    }

    pub(super) fn open_for_creating(&self, limits: &Limits) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing_or_new(&self.path)?;
        self.open(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, limits, false)
    }

    /// Opens a file. An interrupt ends a reader in the middle of a statement; a writer finishes its batch, unless it is
    /// to roll it back.
    fn open(
        &self,
        file: DatabaseFile,
        flags: OpenFlags,
        limits: &Limits,
        reading: bool,
    ) -> Result<SqliteSession, StoreError> {
        let connect = || {
            let mut connection = Connection::open_with_flags(file.real(), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(BUSY_TIMEOUT.min(limits.lock))?;
            // The file is not trusted: its schema may not call functions with side effects, and its pages are checked.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.pragma_update(None, "cell_size_check", true)?;
            limit_statements(&mut connection, limits.deadline, limits.interrupt.clone(), reading)?;
            Ok(connection)
        };
        match connect() {
            Ok(connection) => {
                let (limits, seen) = (limits.clone(), self.seen.clone());
                Ok(SqliteSession { connection, file, limits, seen, others: None })
            }
            Err(error) => Err(store_error(&file, error)),
        }
    }
}

/// Ends every later statement, as `sqlite3_interrupt` does: at that instant, a reader's at an interrupt, and a writer's
/// once its batch is to be rolled back.
pub(super) fn limit_statements(
    connection: &mut Connection,
    deadline: Instant,
    interrupt: Interrupt,
    reading: bool,
) -> rusqlite::Result<()> {
    let is_ended = move || if reading { interrupt.is_raised() } else { interrupt.rolls_back() };
    connection.progress_handler(PROGRESS_STEPS, Some(move || Instant::now() >= deadline || is_ended()))
}

/// An authorizer that denies everything that writes. `query_only` is a second, independent guard.
pub(super) fn reads_only(context: AuthContext<'_>) -> Authorization {
    use Authorization::{Allow, Deny};
    const ABOUT_TABLES: [&str; 5] = ["table_xinfo", "index_list", "index_info", "index_xinfo", "foreign_key_list"];
    let is_about_tables = |pragma: &str| ABOUT_TABLES.contains(&pragma.to_ascii_lowercase().as_str());
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive | AuthAction::Transaction { .. } => Allow,
        // Every other built-in function only computes. Loading extensions is off anyway.
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => Deny,
        AuthAction::Function { .. } | AuthAction::Pragma { pragma_name: "cache_size", .. } => Allow,
        AuthAction::Pragma { pragma_name: "schema_version" | "foreign_keys", pragma_value: None } => Allow,
        AuthAction::Pragma { pragma_name, .. } if is_about_tables(pragma_name) => Allow,
        _ => Deny,
    }
}

/// An authorizer that also allows to prepare statements that write rows, for EXPLAIN: they never run, and `query_only`
/// would refuse them.
pub(super) fn explains_only(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Insert { .. } | AuthAction::Update { .. } | AuthAction::Delete { .. } => Authorization::Allow,
        _ => reads_only(context),
    }
}
