use super::error::store_error;
use super::file::DatabaseFile;
use crate::store::{StoreError, StoreErrorKind};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::path::Path;

/// What `demo` marks its files with, in the place that SQLite leaves to applications: "JDMO".
pub const CREATED_BY_DEMO: i32 = 0x4a44_4d4f;

/// Makes a database file from statements, in the place of an earlier one if `demo` made that too.
///
/// # Errors
/// When something else stands there, or the file cannot be written.
pub fn create_demo_file(path: &Path, statements: &[String]) -> Result<(), StoreError> {
    if path.exists() {
        let ours = DatabaseFile::existing(path).ok().filter(|file| file.application_id() == Some(CREATED_BY_DEMO));
        let Some(ours) = ours else {
            return Err(StoreError::new(
                StoreErrorKind::Denied,
                format!("{} is there already and was not made by `jobdoctor demo`; it was skipped", path.display()),
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
    for statement in statements {
        transaction.execute_batch(statement)?;
    }
    transaction.commit()
}
