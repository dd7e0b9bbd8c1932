use crate::store::{StoreError, StoreErrorKind};
use ::postgres::Error;
use std::error::Error as _;

/// What a failure of Postgres means for the operator. `label` names the database without its secrets.
pub(super) fn store_error(error: &Error, label: &str) -> StoreError {
    let Some(db) = error.as_db_error() else {
        return StoreError::new(StoreErrorKind::Lost, format!("{label}: {}", with_causes(error)));
    };
    let code = db.code().code();
    let kind = match (code.get(..2).unwrap_or_default(), code) {
        (_, "57014") => StoreErrorKind::TimedOut,
        (_, "55P03" | "53300") => StoreErrorKind::Busy,
        (_, "40001" | "40P01") => StoreErrorKind::Conflict,
        (_, "42501" | "25006") | ("28", _) => StoreErrorKind::Denied,
        (_, "3D000") => StoreErrorKind::Unreachable,
        (_, "57P01" | "57P02" | "57P03" | "25P03") | ("08", _) => StoreErrorKind::Lost,
        (_, "P0001") | ("22" | "23" | "27" | "44" | "09", _) => StoreErrorKind::RowData,
        ("42" | "3F" | "0A", _) => StoreErrorKind::Unfit,
        _ => StoreErrorKind::Other,
    };
    StoreError {
        kind,
        message: db.message().to_owned(),
        hint: hint(code, db.message()).map(str::to_owned).or_else(|| db.hint().map(str::to_owned)),
        code: Some(code.to_owned()),
        constraint: db.constraint().map(str::to_owned),
    }
}

/// An error with all that it was caused by.
pub(super) fn with_causes(error: &Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

fn hint(code: &str, message: &str) -> Option<&'static str> {
    Some(match code {
        "42501" if message.contains("row-level security") || message.contains("row security") => {
            "rows would be hidden from this role, and a list without them would read as good news: use a role with BYPASSRLS, \
             or the owner of the table"
        }
        "42501" => "the role lacks a right; `jobdoctor check` lists what is missing and the GRANT for it",
        "25006" => "this is a standby, or the role is set to read only: list here, apply elsewhere or as another role",
        "57014" => "give it longer with --timeout, or narrow what is asked",
        "53300" => "the server has no connection left; try again",
        _ => return None,
    })
}
