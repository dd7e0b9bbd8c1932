//! Tries the statements of an action on a copy in memory, which shows what NOT NULL, CHECK, generated columns and
//! affinity refuse: the claims' table as it is declared, with a few claims, without triggers, foreign keys and other
//! tables.

use super::open::limit_statements;
use super::session::SqliteSession;
use super::value::bound;
use crate::model::{Cell, Key, Timestamp};
use crate::preset::{ActionSpec, QueueSpec, Table};
use crate::store::batch::nothing_is_left;
use crate::store::rehearsal::{RefusedOf, Trial};
use crate::store::session::{ReadSession, Session};
use crate::store::sql::{self, Dialect, Param, Sqlite, Statement};
use crate::store::{StoreError, StoreErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ffi};
use std::ops::ControlFlow;

/// The most bytes of claims that are copied, and of one value.
const BYTES: usize = 16 << 20;
/// Errors that say nothing: whether a key is taken depends on rows that are not in the copy.
const UNIQUE: [i32; 3] =
    [ffi::SQLITE_CONSTRAINT_UNIQUE, ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_ROWID];

pub(super) fn try_out(
    session: &mut SqliteSession,
    spec: &QueueSpec,
    action: &ActionSpec,
    (now, reason): (Timestamp, &str),
) -> Result<Vec<Trial>, StoreError> {
    let (copy, keys) = match copy(session, spec)? {
        Ok(copied) => copied,
        Err(why) => return Ok(vec![Trial::untried(&why)]),
    };
    let others = spec.tables.iter().filter(|(name, _)| **name != spec.claim.lock_table);
    let others: Vec<String> =
        others.filter_map(|(_, table)| declared(session, table).transpose()).collect::<Result<_, _>>()?;
    let (mut refused, mut first) = (0, None);
    for key in &keys {
        let acts = sql::acts(spec, &Sqlite, action, &[key], (now, now), reason);
        let tried = copy.execute_batch("SAVEPOINT jobdoctor_trial").and_then(|()| {
            acts.iter().try_for_each(|act| copy.execute(&act.statement.sql, bound(&act.statement.params)).map(drop))?;
            // Only now, because they are empty: no value may be computed from them.
            others.iter().for_each(|other| drop(copy.execute(other, [])));
            sql::left_behind(spec, &Sqlite, action, &[key]).map(|left| counts(&copy, &left)).transpose()
        });
        match tried {
            Err(rusqlite::Error::SqliteFailure(failure, _)) if UNIQUE.contains(&failure.extended_code) => {}
            Err(error) => {
                let error = session.error(error);
                match error.kind {
                    StoreErrorKind::RowData => {
                        refused += 1;
                        first.get_or_insert(error);
                    }
                    StoreErrorKind::TimedOut | StoreErrorKind::Interrupted => return Err(error),
                    _ => {
                        let why = format!("only the claims' own table is copied ({})", error.message);
                        return Ok(vec![Trial::untried(&why)]);
                    }
                }
            }
            Ok(left) => {
                if let Some(Err(error)) = left.map(|left| nothing_is_left(&[left], &action.to.name, 1)) {
                    refused += 1;
                    first.get_or_insert(error);
                }
            }
        }
        let undo = "ROLLBACK TO SAVEPOINT jobdoctor_trial; RELEASE SAVEPOINT jobdoctor_trial";
        copy.execute_batch(undo).map_err(|error| session.error(error))?;
    }
    if keys.is_empty() && session.query(&sql::count(spec, &Sqlite))?.concat() != [Cell::Integer(0)] {
        return Ok(vec![Trial::untried("its claims are too large to be copied, or their own table refuses them")]);
    }
    let trial = |error: StoreError| {
        let message = format!("{}: {refused} of the {} claims that it was tried on", error.message, keys.len());
        let of = if refused == keys.len() { RefusedOf::EveryTried } else { RefusedOf::SomeTried };
        Trial { at: None, error: StoreError { message, ..error }, of }
    };
    Ok(first.map(trial).into_iter().collect())
}

/// The statement that created a table; `None` for a virtual one.
fn declared(session: &mut SqliteSession, table: &Table) -> Result<Option<String>, StoreError> {
    let sql = "SELECT sql FROM main.sqlite_schema
               WHERE type = 'table' AND name = ?1 COLLATE NOCASE AND sql LIKE 'CREATE TABLE%'";
    Ok(session.query(&of_table(sql, table))?.into_iter().flatten().find_map(|cell| cell.to_text()))
}

fn of_table(sql: &str, table: &Table) -> Statement {
    Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Text(table.name.clone()))] }
}

/// The numbers that [`sql::left_behind`] asks for.
fn counts(copy: &Connection, statement: &Statement) -> rusqlite::Result<Vec<Cell>> {
    copy.query_row(&statement.sql, bound(&statement.params), |row| {
        Ok(vec![Cell::Integer(row.get(0)?), Cell::Integer(row.get(1)?)])
    })
}

/// The claims' table in memory with some claims, and their keys; or why it cannot be made.
fn copy(session: &mut SqliteSession, spec: &QueueSpec) -> Result<Result<(Connection, Vec<Key>), String>, StoreError> {
    let not_copied = || Ok(Err("its table cannot be copied".to_owned()));
    let Some(table) = spec.tables.get(&spec.claim.lock_table) else { return not_copied() };
    let Some(declared) = declared(session, table)? else { return not_copied() };
    // Generated columns are hidden, and cannot be inserted.
    let columns = "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden = 0";
    let columns: Vec<String> =
        session.query(&of_table(columns, table))?.iter().flatten().filter_map(Cell::to_text).collect();
    let key: Vec<usize> = (spec.claim.key.iter())
        .filter_map(|key| columns.iter().position(|name| name.eq_ignore_ascii_case(&key.name)))
        .collect();
    if key.len() != spec.claim.key.len() {
        return not_copied();
    }
    let connection = match empty(session, &declared) {
        Ok(connection) => connection,
        // The application defines the function; SQLite reads no CHECK of a file that is opened for reading.
        Err(error) => match session.error(error).message {
            why if why.starts_with("no such function") => {
                return Ok(Err(format!("{why}; an action that writes a column which a CHECK gives to it is refused")));
            }
            _ => return not_copied(),
        },
    };
    let names: Vec<String> = columns.iter().map(|name| crate::preset::ident::quoted(name)).collect();
    let places = vec!["?"; columns.len()].join(", ");
    let insert = format!("INSERT INTO {} ({}) VALUES ({places})", Sqlite.table(table), names.join(", "));
    let (mut keys, mut bytes) = (Vec::new(), 0);
    session.stream(&sql::stored_claims(spec, &Sqlite, &columns), &mut |row| {
        bytes += row.iter().map(size).sum::<usize>();
        if bytes > BYTES {
            return ControlFlow::Break(());
        }
        let params: Vec<Param> = row.iter().cloned().map(Param::Cell).collect();
        // A row that its own table refuses says nothing about an action.
        if connection.execute(&insert, bound(&params)).is_ok() {
            keys.push(Key(key.iter().filter_map(|n| row.get(*n)).cloned().collect()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(Ok((connection, keys)))
}

/// A database in memory with that table. It cannot reach a file: nothing can be attached.
fn empty(session: &SqliteSession, declared: &str) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_LENGTH, BYTES as i32)?;
    limit_statements(&mut connection, session.limits.deadline, session.limits.interrupt.clone(), true)?;
    connection.execute(declared, [])?;
    connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(connection)
}

fn size(cell: &Cell) -> usize {
    match cell {
        Cell::Text(text) => text.len(),
        Cell::BrokenText(bytes) | Cell::Bytes(bytes) => bytes.len(),
        _ => 8,
    }
}

/// Names the foreign key if an explanation failed because the claims' table declares one without its parent table.
pub(super) fn name_foreign_key(session: &mut SqliteSession, spec: &QueueSpec, error: StoreError) -> StoreError {
    let Some(table) = spec.tables.get(&spec.claim.lock_table) else { return error };
    let parents = of_table("SELECT \"table\" FROM pragma_foreign_key_list(?1, 'main')", table);
    let parents: Vec<String> =
        session.query(&parents).unwrap_or_default().iter().flatten().filter_map(Cell::to_text).collect();
    let missing = error.message.strip_prefix("no such table: main.");
    if missing.is_some_and(|missing| parents.iter().any(|parent| parent.eq_ignore_ascii_case(missing))) {
        let message = format!("a foreign key of table {} cannot be enforced: {}", table.name, error.message);
        return super::error::of_foreign_key(StoreError { message, ..error });
    }
    error
}
