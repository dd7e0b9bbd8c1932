//! What a server's error means: its kind by SQLSTATE, and what to try.

use crate::model::Remedy;
use crate::preset::ident::quoted;
use crate::store::{StoreError, StoreErrorKind};
use ::postgres::Error;
use std::error::Error as _;

/// What a driver error means for the operator. `label` names the database without secrets, `user` the role.
pub(super) fn store_error(error: &Error, label: &str, user: &str) -> StoreError {
    let Some(db) = error.as_db_error() else {
        return StoreError::new(StoreErrorKind::Lost, format!("{label}: {}", with_causes(error)));
    };
    let code = db.code().code();
    let kind = match (code.get(..2).unwrap_or_default(), code) {
        (_, "57014") => StoreErrorKind::TimedOut,
        (_, "55P03" | "53200" | "53300") => StoreErrorKind::Busy,
        (_, "40001" | "40P01") => StoreErrorKind::Conflict,
        (_, "42501" | "25006") | ("28", _) => StoreErrorKind::Denied,
        (_, "3D000") => StoreErrorKind::Unreachable,
        // A full disk counts as lost, as on SQLite: the transaction is rolled back.
        (_, "57P01" | "57P02" | "57P03" | "25P03" | "53100") | ("08", _) => StoreErrorKind::Lost,
        (_, "P0001") | ("22" | "23" | "27" | "44" | "09", _) => StoreErrorKind::RowData,
        // 55000: a view that is not updatable.
        (_, "55000") | ("42" | "3F" | "0A", _) => StoreErrorKind::Unfit,
        _ => StoreErrorKind::Other,
    };
    StoreError {
        kind,
        message: db.message().to_owned(),
        hint: hint(code, db.message(), user).or_else(|| db.hint().map(str::to_owned)),
        remedy: match code {
            "57014" => Some(Remedy::AllowMoreTime),
            "53200" => Some(Remedy::LimitJobs),
            _ => None,
        },
        code: Some(code.to_owned()),
        constraint: db.constraint().map(str::to_owned),
    }
}

/// The message of an error and all its causes.
pub(super) fn with_causes(error: &Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

fn hint(code: &str, message: &str, user: &str) -> Option<String> {
    let hint = match code {
        "42501" if message.contains("row-level security") || message.contains("row security") => {
            return Some(format!(
                "row security may hide stuck jobs from this role: \
                 ALTER ROLE {} BYPASSRLS, or connect as the owner of the tables (policies do not help: they may hide rows too)",
                quoted(user)
            ));
        }
        "42501" => return Some(missing_right(message, user)),
        "25006" => {
            "this is a standby, or the role or the database is set to read only: list here, apply on the primary or as another \
             role"
        }
        "55P03" => {
            "another session holds the table (an ALTER or LOCK TABLE, say): pg_stat_activity and pg_blocking_pids() show \
             which; try again when it is done"
        }
        "57P01" | "57P02" => "the server, or its administrator, ended the connection: try again",
        "53100" => "the server's disk is full: the write was rolled back; free some space first",
        "53200" => "the server's table of locks is full (max_locks_per_transaction)",
        "53300" => "the server has no connection left; try again",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The GRANT for a missing right, as far as the message names the object.
fn missing_right(message: &str, user: &str) -> String {
    let role = quoted(user);
    let on = |kind: &str| message.split_once(&format!("permission denied for {kind} ")).map(|(_, name)| quoted(name));
    if let Some(schema) = on("schema") {
        return format!("GRANT USAGE ON SCHEMA {schema} TO {role}");
    }
    match on("table").or_else(|| on("view")) {
        Some(table) => format!(
            "{role} lacks a right on {table}: SELECT to list, and what `jobdoctor check` lists to reclaim; a trigger of the \
             library may need rights on other tables"
        ),
        None => "the role lacks a right; `jobdoctor check` lists the rights that reclaim takes, and the GRANT for each"
            .to_owned(),
    }
}
