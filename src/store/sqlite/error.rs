//! What SQLite's errors mean: its own messages name no file and often blame the wrong thing.

use super::file::{DAMAGED, DatabaseFile};
use super::locks;
use crate::model::{Remedy, age};
use crate::store::StoreError;
use crate::store::StoreErrorKind::{Busy, Denied, Lost, Missing, Other, RowData, TimedOut, Unfit};
use rusqlite::{ErrorCode, ffi};
use std::time::Duration;

/// SQLite does not open a file if its path, or that of a sidecar, is longer than this many bytes.
const LONGEST_PATH: usize = 512;

/// What an error means for the operator.
pub(super) fn store_error(file: &DatabaseFile, error: rusqlite::Error) -> StoreError {
    if let rusqlite::Error::SqlInputError { msg, .. } = &error {
        // Without the statement, which the operator did not write.
        return StoreError::new(Unfit, msg.clone());
    }
    let rusqlite::Error::SqliteFailure(failure, message) = &error else {
        return StoreError::new(Unfit, error.to_string());
    };
    let text = message.clone().unwrap_or_else(|| failure.to_string());
    let mut error = match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => locked(file, None),
        ErrorCode::OperationInterrupted => StoreError::new(TimedOut, text.clone()),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => denied(file, failure.extended_code),
        ErrorCode::CannotOpen => cannot_open(file),
        ErrorCode::NotADatabase => StoreError::new(Missing, format!("{file}: {text}"))
            .hint("nothing was changed; the file is encrypted, made by a newer SQLite, or damaged in its first page"),
        // The file is whole: a virtual table, such as an index for full text that a trigger writes to, is not.
        ErrorCode::DatabaseCorrupt if failure.extended_code == ffi::SQLITE_CORRUPT_VTAB => {
            StoreError::new(RowData, "a virtual table that a trigger writes to is damaged or was never filled")
                .hint("rebuild it: for FTS5, INSERT INTO its table (its own name) VALUES ('rebuild')")
        }
        ErrorCode::DatabaseCorrupt => StoreError::new(Missing, format!("{file} is damaged: {text}")).hint(DAMAGED),
        ErrorCode::DiskFull | ErrorCode::SystemIoFailure => {
            StoreError::new(Lost, format!("{file}: {text}")).hint("the write was rolled back; check the disk first")
        }
        ErrorCode::FileLockingProtocolFailed => StoreError::new(Busy, format!("{file}: {text}"))
            .hint("too many processes used it at the same instant; try again"),
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig => {
            StoreError::new(RowData, text.clone())
        }
        // A virtual table may need more than reading, even for a query.
        ErrorCode::AuthorizationForStatementDenied => {
            StoreError::new(Unfit, format!("{file}: a query would do more than read: {text}"))
                .hint("the queue's table, or one that it uses, is not a plain table")
        }
        ErrorCode::Unknown | ErrorCode::SchemaChanged => StoreError::new(Unfit, text.clone()),
        _ => StoreError::new(Other, text.clone()),
    };
    if text.starts_with("foreign key mismatch") {
        error = of_foreign_key(error);
    }
    error.code = Some(code(failure.extended_code));
    error.constraint = text.split_once("constraint failed: ").map(|(_, name)| name.to_owned());
    error
}

/// The error for a locked file, with the processes that lock it if the system shows them.
pub(super) fn locked(file: &DatabaseFile, waited: Option<Duration>) -> StoreError {
    let who = locks::holders_in_words(file).unwrap_or_else(|| "another process".to_owned());
    let message = match waited {
        Some(waited) => format!("{file} is locked: waited {} for {who}", rounded(waited)),
        None => format!("{file} is locked by {who}"),
    };
    let mut error = StoreError::new(Busy, message)
        .hint("try again when that process has ended its transaction; an open transaction blocks every other writer");
    error.code = Some(code(ffi::SQLITE_BUSY));
    error
}

/// To the second, or in milliseconds below one.
fn rounded(waited: Duration) -> String {
    let seconds = waited.as_secs_f64().round();
    if seconds < 1.0 { format!("{}ms", waited.as_millis()) } else { age(Duration::from_secs_f64(seconds)) }
}

fn denied(file: &DatabaseFile, extended: i32) -> StoreError {
    let error = |message: String| StoreError::new(Denied, message);
    match extended {
        ffi::SQLITE_READONLY_ROLLBACK => half_written(file),
        ffi::SQLITE_READONLY_DIRECTORY => error(format!(
            "{file} cannot be used: SQLite has to make files next to it, and its directory is not writable for this user"
        ))
        .hint("run it as a user who may write to the directory of the file"),
        ffi::SQLITE_READONLY_DBMOVED => error(format!("{file} was moved or replaced while it was open"))
            .hint("nothing was written; run it again to use the file that is there now"),
        _ => {
            error(format!("may not write to {file}")).hint("run it as a user who may write to it, and to its directory")
        }
    }
}

/// The error for a file with a hot journal: rolling it back is a write, which a snapshot must not do.
pub(super) fn half_written(file: &DatabaseFile) -> StoreError {
    let message = format!(
        "{file} cannot be read as it is: a writer was killed in the middle of a transaction, and half of it is in the file"
    );
    StoreError::new(Denied, message)
        .hint(
            "nothing was changed: reading must not write. A process that may write to the file and its directory rolls that half \
             back when it opens the file: start the application; or run `sqlite3 FILE .tables`, which moves no job",
        )
        .remedy(Remedy::Write)
}

fn cannot_open(file: &DatabaseFile) -> StoreError {
    let longest = ["", "-journal", "-wal", "-shm"].map(|suffix| file.sidecar(suffix).as_os_str().len());
    if longest.into_iter().any(|length| length >= LONGEST_PATH) {
        let message = format!("SQLite cannot open a path of more than about {LONGEST_PATH} bytes: {file}");
        return StoreError::new(Missing, message)
            .hint("it counts from the root and follows links: move the file, or bind-mount its directory elsewhere");
    }
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let path = file.sidecar(suffix);
        if path.exists() && rustix::fs::access(&path, rustix::fs::Access::READ_OK).is_err() {
            return StoreError::new(Denied, format!("may not read {file}{suffix}"))
                .hint("run it as the user that the application runs as");
        }
    }
    if !file.may_write() {
        let message = format!("cannot open {file}: the file or its directory is not writable for this user");
        return StoreError::new(Denied, message).hint("SQLite has to make files next to it: run it as a user who may");
    }
    StoreError::new(Missing, format!("unable to open database file {file}"))
        .hint("make sure that it and the files next to it (-wal, -shm, -journal) are plain files")
}

/// Adds the hint for a foreign key that cannot be enforced.
pub(super) fn of_foreign_key(error: StoreError) -> StoreError {
    error.hint(
        "correct the declaration: the parent table must exist, with a unique index on exactly the columns referred to; or set \
         foreign_keys = false for the target in the config file, which leaves them unenforced, as SQLite does by default",
    )
}

fn code(extended: i32) -> String {
    let name = match extended {
        ffi::SQLITE_BUSY => "SQLITE_BUSY",
        ffi::SQLITE_BUSY_RECOVERY => "SQLITE_BUSY_RECOVERY",
        ffi::SQLITE_BUSY_SNAPSHOT => "SQLITE_BUSY_SNAPSHOT",
        ffi::SQLITE_CANTOPEN => "SQLITE_CANTOPEN",
        ffi::SQLITE_CONSTRAINT => "SQLITE_CONSTRAINT",
        ffi::SQLITE_CONSTRAINT_CHECK => "SQLITE_CONSTRAINT_CHECK",
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => "SQLITE_CONSTRAINT_FOREIGNKEY",
        ffi::SQLITE_CONSTRAINT_NOTNULL => "SQLITE_CONSTRAINT_NOTNULL",
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY => "SQLITE_CONSTRAINT_PRIMARYKEY",
        ffi::SQLITE_CONSTRAINT_TRIGGER => "SQLITE_CONSTRAINT_TRIGGER",
        ffi::SQLITE_CONSTRAINT_UNIQUE => "SQLITE_CONSTRAINT_UNIQUE",
        ffi::SQLITE_CORRUPT => "SQLITE_CORRUPT",
        ffi::SQLITE_CORRUPT_INDEX => "SQLITE_CORRUPT_INDEX",
        ffi::SQLITE_FULL => "SQLITE_FULL",
        ffi::SQLITE_NOTADB => "SQLITE_NOTADB",
        ffi::SQLITE_PROTOCOL => "SQLITE_PROTOCOL",
        ffi::SQLITE_READONLY => "SQLITE_READONLY",
        ffi::SQLITE_READONLY_DBMOVED => "SQLITE_READONLY_DBMOVED",
        ffi::SQLITE_READONLY_DIRECTORY => "SQLITE_READONLY_DIRECTORY",
        ffi::SQLITE_READONLY_ROLLBACK => "SQLITE_READONLY_ROLLBACK",
        _ => return format!("SQLite code {extended}"),
    };
    name.to_owned()
}
