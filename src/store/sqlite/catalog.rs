use super::session::SqliteSession;
use crate::model::{Cell, Engine};
use crate::preset::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
use crate::store::StoreError;
use crate::store::session::Session;
use crate::store::sql::{Param, Statement};
use std::collections::BTreeMap;

/// What SQLite's pragmas say about these tables.
pub(super) fn live_schema(session: &mut SqliteSession, names: &[String]) -> Result<LiveSchema, StoreError> {
    let mut tables = Vec::new();
    let may_write = session.file.may_write();
    for name in names {
        let columns =
            ask(session, "SELECT name, lower(type), pk, \"notnull\" FROM pragma_table_xinfo(?1, 'main')", name)?;
        if columns.is_empty() {
            continue;
        }
        let kind = ask(session, "SELECT type FROM sqlite_schema WHERE name = ?1 AND type IN ('table', 'view')", name)?;
        let is_view = kind.first().is_some_and(|row| text(row, 0) == "view");
        let writable = may_write && !is_view;
        let mut table = LiveTable {
            schema: "main".to_owned(),
            name: name.clone(),
            visible: true,
            is_view,
            may_insert: writable,
            may_delete: writable,
            ..LiveTable::default()
        };
        // A primary key of integers is the row's own number and has no index.
        let primary = columns.iter().filter(|row| row.get(2) != Some(&Cell::Integer(0))).map(|row| text(row, 0));
        let primary: Vec<String> = primary.collect();
        if !primary.is_empty() {
            table.unique.push(primary);
        }
        for column in columns {
            if column.get(3) == Some(&Cell::Integer(1)) {
                table.not_null.insert(text(&column, 0));
            }
            table.columns.push(LiveColumn {
                name: text(&column, 0),
                type_name: text(&column, 1),
                readable: true,
                writable,
            });
        }
        let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1";
        table.triggers = ask(session, triggers, name)?.iter().map(|row| text(row, 0)).collect();
        for index in ask(session, "SELECT name, \"unique\", partial FROM pragma_index_list(?1, 'main')", name)? {
            let info = "SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno";
            let columns: Vec<String> = ask(session, info, &text(&index, 0))?.iter().map(|row| text(row, 0)).collect();
            let partial = index.get(2) == Some(&Cell::Integer(1));
            if index.get(1) == Some(&Cell::Integer(1)) && !partial {
                table.key_columns.extend(columns.iter().cloned());
                table.unique.push(columns.clone());
            }
            let declared = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1";
            let declared =
                ask(session, declared, &text(&index, 0))?.first().map(|row| text(row, 0)).unwrap_or_default();
            // The first WHERE that is no part of a name ends the columns; a condition that is misread serves no query.
            let condition = declared.split_once(" WHERE ").map(|(_, condition)| condition.to_owned());
            let condition = if partial { Some(condition.unwrap_or_default()) } else { None };
            table.indexes.push(LiveIndex { columns, condition });
        }
        tables.push(table);
    }
    Ok(LiveSchema { engine: Engine::Sqlite, tables, role: None, enums: BTreeMap::new() })
}

fn ask(session: &mut SqliteSession, sql: &str, name: &str) -> Result<Vec<Vec<Cell>>, StoreError> {
    session.query(&Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Text(name.to_owned()))] })
}

fn text(row: &[Cell], n: usize) -> String {
    row.get(n).and_then(Cell::to_text).unwrap_or_default()
}
