//! Creates things: tables in a new or existing file, and the demonstration database.

use super::error::store_error;
use super::file::DatabaseFile;
use super::schema::SchemaSeen;
use super::session::SqliteSession;
use crate::model::Engine;
use crate::preset::Place;
use crate::store::session::Session;
use crate::store::sql::reference_schema;
use crate::store::{Limits, StoreError, StoreErrorKind};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::path::Path;

/// The application id with which `demo` marks its files: "JDMO".
pub const CREATED_BY_DEMO: i32 = 0x4a44_4d4f;

impl SqliteSession {
    /// Opens a file, or makes it.
    pub(super) fn for_creating(path: &Path, limits: &Limits) -> Result<SqliteSession, StoreError> {
        let file = DatabaseFile::existing_or_new(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        SqliteSession::open(file, flags, limits, &SchemaSeen::default(), false)
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
}

/// Makes a demonstration database: the reference schema, then what the statements fill it with. Replaces a file only if
/// `demo` made it.
pub fn create_demo_file(path: &Path, statements: &[String]) -> Result<(), StoreError> {
    if path.exists() {
        let ours = DatabaseFile::existing(path).ok().filter(|file| file.application_id() == Some(CREATED_BY_DEMO));
        let Some(ours) = ours else {
            return Err(StoreError::new(
                StoreErrorKind::Denied,
                format!("{} exists and was not made by `jobdoctor demo`; it was not changed", path.display()),
            )
            .hint("name another file: jobdoctor demo FILE"));
        };
        for old in ["", "-wal", "-shm", "-journal"].map(|suffix| ours.sidecar(suffix)) {
            match fs::remove_file(&old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("cannot replace {}: {error}", old.display());
                    return Err(StoreError::new(StoreErrorKind::Denied, message));
                }
                _ => {}
            }
        }
    }
    let file = DatabaseFile::existing_or_new(path)?;
    make(&file, statements).map_err(|error| store_error(&file, error))
}

fn make(file: &DatabaseFile, statements: &[String]) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file.real(), flags)?;
    connection.pragma_update(None, "application_id", CREATED_BY_DEMO)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for statement in reference_schema(Engine::Sqlite, &Place::default()).iter().chain(statements) {
        transaction.execute_batch(statement)?;
    }
    transaction.commit()
}
