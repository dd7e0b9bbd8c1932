use crate::store::{StoreError, StoreErrorKind};
use rusqlite::ErrorCode;

/// What a failure of SQLite means for the operator.
pub(super) fn store_error(error: rusqlite::Error) -> StoreError {
    if let rusqlite::Error::SqlInputError { msg, .. } = &error {
        // Without the statement, which says nothing to who did not write it.
        return StoreError::new(StoreErrorKind::Unfit, msg.clone());
    }
    let rusqlite::Error::SqliteFailure(failure, message) = &error else {
        return StoreError::new(StoreErrorKind::Unfit, error.to_string());
    };
    let text = message.clone().unwrap_or_else(|| failure.to_string());
    let kind = match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreErrorKind::Busy,
        ErrorCode::OperationInterrupted => StoreErrorKind::TimedOut,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreErrorKind::Denied,
        ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => StoreErrorKind::Missing,
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig => StoreErrorKind::RowData,
        ErrorCode::DiskFull | ErrorCode::SystemIoFailure => StoreErrorKind::Lost,
        ErrorCode::Unknown => StoreErrorKind::Unfit,
        _ => StoreErrorKind::Other,
    };
    let mut error = StoreError::new(kind, text.clone());
    error.code = Some(name(failure.extended_code));
    error.constraint = text.split_once("constraint failed: ").map(|(_, name)| name.to_owned());
    match failure.extended_code {
        // SQLITE_READONLY_ROLLBACK: a writer was killed in the middle of a transaction.
        776 => error.hint(
            "a writer was killed in the middle of a transaction and left a journal; the next process that opens the \
             file for writing rolls it back: start the application, or run `jobdoctor reclaim --apply`",
        ),
        // SQLITE_READONLY_DIRECTORY
        1544 => error.hint("the directory of the file is not writable for you, and its WAL needs it to be"),
        _ if kind == StoreErrorKind::Busy => error.hint("another process holds the write lock; try again"),
        _ => error,
    }
}

fn name(code: i32) -> String {
    let name = match code {
        5 => "SQLITE_BUSY",
        19 => "SQLITE_CONSTRAINT",
        275 => "SQLITE_CONSTRAINT_CHECK",
        787 => "SQLITE_CONSTRAINT_FOREIGNKEY",
        1299 => "SQLITE_CONSTRAINT_NOTNULL",
        1555 => "SQLITE_CONSTRAINT_PRIMARYKEY",
        1811 => "SQLITE_CONSTRAINT_TRIGGER",
        2067 => "SQLITE_CONSTRAINT_UNIQUE",
        _ => return format!("SQLite code {code}"),
    };
    name.to_owned()
}
