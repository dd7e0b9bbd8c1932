//! The tables of a file: read for a preset, and compared before a write with what the snapshot saw.

use super::session::SqliteSession;
use crate::model::{Cell, Engine};
use crate::preset::lex::{Kind, tokens};
use crate::preset::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
use crate::store::session::Session;
use crate::store::sql::{Param, Statement, catalog, text};
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Reads these tables from SQLite's pragmas.
pub(super) fn live_schema(session: &mut SqliteSession, names: &[String]) -> Result<LiveSchema, StoreError> {
    let mut tables: Vec<LiveTable> = Vec::new();
    for name in names {
        // Names that differ in case alone are one to SQLite.
        if !tables.iter().any(|table| table.name.eq_ignore_ascii_case(name)) {
            tables.extend(live_table(session, name)?);
        }
    }
    Ok(LiveSchema { engine: Engine::Sqlite, tables, role: None, enums: BTreeMap::new() })
}

fn live_table(session: &mut SqliteSession, name: &str) -> Result<Option<LiveTable>, StoreError> {
    let columns =
        "SELECT name, lower(type), pk, \"notnull\", dflt_value IS NOT NULL FROM pragma_table_xinfo(?1, 'main')";
    let columns = ask(session, columns, name)?;
    if columns.is_empty() {
        return Ok(None);
    }
    let kind = "SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')";
    let is_view = ask(session, kind, name)?.first().is_some_and(|row| text(row, 0) == "view");
    let writable = session.file.may_write() && !is_view;
    let mut table = LiveTable {
        schema: "main".to_owned(),
        name: name.to_owned(),
        visible: true,
        is_view,
        may_insert: writable,
        may_delete: writable,
        ..LiveTable::default()
    };
    let primary = columns.iter().filter(|row| row.get(2) != Some(&Cell::Integer(0))).map(|row| text(row, 0));
    let primary: Vec<String> = primary.collect();
    for column in columns {
        let name_of_column = text(&column, 0);
        table.not_null.extend(is_set(&column, 3).then(|| name_of_column.clone()));
        table.filled.extend(is_set(&column, 4).then(|| name_of_column.clone()));
        table.columns.push(LiveColumn {
            type_name: text(&column, 1),
            equality: collation(session, name, &name_of_column).unwrap_or_default().replace("BINARY", ""),
            name: name_of_column,
            readable: true,
            writable,
        });
    }
    let declared =
        "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'trigger') AND tbl_name = ?1 COLLATE NOCASE";
    for row in ask(session, declared, name)? {
        if text(&row, 0) == "trigger" {
            table.triggers.push(text(&row, 1));
        } else {
            table.declares_conflict = declares_conflict(&text(&row, 2));
        }
    }
    if table.declares_conflict && !table.triggers.is_empty() {
        table.conflict_triggers = conflict_triggers(session, name)?;
    }
    let indexes = ask(session, "SELECT name, \"unique\", partial, origin FROM pragma_index_list(?1, 'main')", name)?;
    // An integer primary key is the rowid and has no index.
    if !primary.is_empty() && indexes.iter().all(|index| text(index, 3) != "pk") {
        table.rowid = primary.first().cloned();
        table.unique.push(primary);
    }
    indexes.iter().try_for_each(|index| add_index(session, &mut table, index))?;
    Ok(Some(table))
}

/// Adds the index of a row of `pragma_index_list`.
fn add_index(session: &mut SqliteSession, table: &mut LiveTable, row: &[Cell]) -> Result<(), StoreError> {
    let (name, is_partial) = (text(row, 0), is_set(row, 2));
    let info = "SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno";
    let columns: Vec<String> = ask(session, info, &name)?.iter().map(|row| text(row, 0)).collect();
    if is_set(row, 1) && !is_partial {
        table.key_columns.extend(columns.iter().cloned());
        if compares_as_columns(session, &table.name, &name)? {
            table.unique.push(columns.clone());
        }
    }
    let declared = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1";
    let declared = ask(session, declared, &name)?.first().map(|row| text(row, 0)).unwrap_or_default();
    let condition = is_partial.then(|| catalog::condition_of_index(&declared));
    table.indexes.push(LiveIndex { columns, condition });
    Ok(())
}

fn is_set(row: &[Cell], n: usize) -> bool {
    row.get(n) == Some(&Cell::Integer(1))
}

/// True if an index tells values apart as its columns do: under a column's NOCASE, a BINARY index proves nothing.
fn compares_as_columns(session: &mut SqliteSession, table: &str, index: &str) -> Result<bool, StoreError> {
    let info = "SELECT name, coll FROM pragma_index_xinfo(?1, 'main') WHERE key AND cid >= 0";
    for row in ask(session, info, index)? {
        if !collation(session, table, &text(&row, 0))?.eq_ignore_ascii_case(&text(&row, 1)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How a column of a table compares its values.
fn collation(session: &SqliteSession, table: &str, column: &str) -> Result<String, StoreError> {
    let metadata = session.connection.column_metadata(Some("main"), table, column);
    let (_, collation, ..) = metadata.map_err(|error| session.error(error))?;
    Ok(collation.map(|collation| collation.to_string_lossy().to_ascii_uppercase()).unwrap_or_default())
}

/// Asks about what has this name.
pub(super) fn ask(session: &mut SqliteSession, sql: &str, name: &str) -> Result<Vec<Vec<Cell>>, StoreError> {
    session.query(&Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Text(name.to_owned()))] })
}

/// The triggers of a table that decide what becomes of a conflict: one of their statements says so, or writes to a
/// table that declares it or has such a trigger. A table counts as written to by a trigger that mentions it.
fn conflict_triggers(session: &mut SqliteSession, name: &str) -> Result<Vec<String>, StoreError> {
    let all = "SELECT type, tbl_name, name, sql FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger') AND sql IS NOT NULL AND ?1 <> ''";
    let all: Vec<[String; 4]> =
        ask(session, all, name)?.iter().map(|row| std::array::from_fn(|n| text(row, n).to_lowercase())).collect();
    let of = |table: String| all.iter().filter(move |[kind, of, ..]| kind == "trigger" && *of == table);
    let decides = |[.., sql]: &&[String; 4]| {
        let (mut texts, mut seen) = (vec![sql], vec![name.to_lowercase()]);
        while let Some(text) = texts.pop() {
            if words(text).windows(3).any(decides_conflicts) {
                return true;
            }
            for [kind, table, _, sql] in &all {
                if kind != "trigger" && text.contains(table) && !seen.contains(table) {
                    if declares_conflict(sql) {
                        return true;
                    }
                    seen.push(table.clone());
                    texts.extend(of(table.clone()).map(|[.., sql]| sql));
                }
            }
        }
        false
    };
    Ok(of(name.to_lowercase()).filter(decides).map(|[_, _, name, _]| name.clone()).collect())
}

/// Whether a table's definition says what becomes of a conflict, other than that the statement fails.
fn declares_conflict(definition: &str) -> bool {
    let declares = |three: &[String]| matches!(three, [on, conflict, clause] if on == "ON" && conflict == "CONFLICT" && clause != "ABORT");
    words(definition).windows(3).any(declares)
}

/// Whether these three words of a trigger say what becomes of a conflict, other than that its statement fails.
fn decides_conflicts(three: &[String]) -> bool {
    match three {
        [verb, or, clause] if or == "OR" => ["INSERT", "UPDATE"].contains(&verb.as_str()) && clause != "ABORT",
        [replace, into, _] => replace == "REPLACE" && into == "INTO",
        _ => false,
    }
}

/// The words of a definition in capitals, without what is quoted or a comment.
fn words(sql: &str) -> Vec<String> {
    let words = tokens(sql, true).filter(|token| token.kind == Kind::Word);
    words.map(|token| token.text.to_ascii_uppercase()).collect()
}

/// The tables as a store's last snapshot saw them, for its writers to compare.
#[derive(Clone, Default)]
pub(super) struct SchemaSeen(Arc<Mutex<Option<Definitions>>>);

/// The definitions of tables and their triggers. Indexes are left out: they do not change what a statement means.
#[derive(Clone, PartialEq)]
struct Definitions {
    /// Incremented by every change of any definition.
    version: Option<Cell>,
    names: Vec<String>,
    texts: Vec<Vec<Cell>>,
}

impl SchemaSeen {
    pub(super) fn remember(&self, session: &mut SqliteSession, names: &[String]) -> Result<(), StoreError> {
        let definitions = Definitions::read(session, names)?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(definitions);
        Ok(())
    }

    /// Fails if the definitions have changed since. Called inside a write transaction, in which no other process can
    /// alter them. A preset was resolved against the tables as they were, so after a change the write is not what was
    /// planned.
    pub(super) fn verify(&self, session: &mut SqliteSession) -> Result<(), StoreError> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(seen) = seen else { return Ok(()) };
        if version(session)? == seen.version {
            return Ok(());
        }
        let now = Definitions::read(session, &seen.names)?;
        if now.texts == seen.texts {
            // Only another table, an index or VACUUM changed the version.
            return Ok(());
        }
        let differs = |row: &&Vec<Cell>| !(now.texts.contains(row) && seen.texts.contains(row));
        let first = now.texts.iter().chain(&seen.texts).find(differs);
        let what =
            first.map_or_else(String::new, |row| row.iter().take(2).map(Cell::to_string).collect::<Vec<_>>().join(" "));
        let message = format!("the schema of {} changed since the snapshot: {what} differs", session.file);
        Err(StoreError::new(StoreErrorKind::Unfit, message)
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
            texts.extend(ask(session, sql, name)?);
        }
        Ok(Definitions { version, names: names.to_vec(), texts })
    }
}

fn version(session: &mut SqliteSession) -> Result<Option<Cell>, StoreError> {
    session.value(&Statement::plain("PRAGMA schema_version"))
}
