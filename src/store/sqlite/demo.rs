use super::error::store_error;
use super::file::{application_id, sidecar};
use crate::store::{StoreError, StoreErrorKind};
use rusqlite::Connection;
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
        if application_id(path) != Some(CREATED_BY_DEMO) {
            return Err(StoreError::new(
                StoreErrorKind::Denied,
                format!("{} is there already and was not made by `jobdoctor demo`; it was left alone", path.display()),
            )
            .hint("name another file: jobdoctor demo FILE"));
        }
        for old in [path.to_owned(), sidecar(path, "-wal"), sidecar(path, "-shm"), sidecar(path, "-journal")] {
            match fs::remove_file(&old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("cannot replace {}: {error}", old.display());
                    return Err(StoreError::new(StoreErrorKind::Denied, message));
                }
                _ => {}
            }
        }
    }
    let mut connection = Connection::open(path).map_err(store_error)?;
    connection.pragma_update(None, "application_id", CREATED_BY_DEMO).map_err(store_error)?;
    let transaction = connection.transaction().map_err(store_error)?;
    for statement in statements {
        transaction.execute_batch(statement).map_err(store_error)?;
    }
    transaction.commit().map_err(store_error)
}
