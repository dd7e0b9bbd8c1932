//! The tables as the last snapshot saw them. A preset was resolved against these; if somebody alters them between the snapshot
//! and the write, the write is not what was planned.

use super::session::SqliteSession;
use crate::model::Cell;
use crate::store::session::Session;
use crate::store::sql::{Param, Statement};
use crate::store::{StoreError, StoreErrorKind};
use std::sync::{Arc, Mutex, PoisonError};

/// What a store's readers have seen, for its writers to compare.
#[derive(Clone, Default)]
pub(super) struct SchemaSeen(Arc<Mutex<Option<Definitions>>>);

/// How tables, and the triggers on them, are defined. Indexes are left out: they come and go without changing what a
/// statement means.
#[derive(Clone, PartialEq)]
struct Definitions {
    /// Goes up with every change of any definition.
    version: Option<Cell>,
    names: Vec<String>,
    texts: Vec<Vec<Cell>>,
}

impl SchemaSeen {
    /// Remembers the tables of these names as they are.
    pub(super) fn remember(&self, session: &mut SqliteSession, names: &[String]) -> Result<(), StoreError> {
        let definitions = Definitions::read(session, names)?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(definitions);
        Ok(())
    }

    /// Makes sure that they still are what was seen, if anything was. Asked inside a write transaction, so that nobody
    /// can alter them any more.
    pub(super) fn verify(&self, session: &mut SqliteSession) -> Result<(), StoreError> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(seen) = seen else { return Ok(()) };
        if version(session)? == seen.version {
            return Ok(());
        }
        let now = Definitions::read(session, &seen.names)?;
        if now.texts == seen.texts {
            // Another table, an index, VACUUM.
            return Ok(());
        }
        let differs = |row: &&Vec<Cell>| !(now.texts.contains(row) && seen.texts.contains(row));
        let first = now.texts.iter().chain(&seen.texts).find(differs);
        let what =
            first.map_or_else(String::new, |row| row.iter().take(2).map(Cell::to_string).collect::<Vec<_>>().join(" "));
        Err(StoreError::new(
            StoreErrorKind::Unfit,
            format!("the schema of {} changed since it was looked at: {what} is not what it was", session.file),
        )
        .hint("the plan was made for the tables as they were; run it again"))
    }
}

impl Definitions {
    fn read(session: &mut SqliteSession, names: &[String]) -> Result<Definitions, StoreError> {
        let version = version(session)?;
        let mut texts = Vec::new();
        for name in names {
            let sql = "SELECT type, name, sql FROM main.sqlite_schema WHERE type <> 'index' \
                       AND tbl_name = ?1 COLLATE NOCASE ORDER BY type, name";
            let params = vec![Param::Cell(Cell::Text(name.clone()))];
            texts.extend(session.query(&Statement { sql: sql.to_owned(), params })?);
        }
        Ok(Definitions { version, names: names.to_vec(), texts })
    }
}

fn version(session: &mut SqliteSession) -> Result<Option<Cell>, StoreError> {
    let rows = session.query(&Statement::plain("PRAGMA schema_version"))?;
    Ok(rows.into_iter().flatten().next())
}
