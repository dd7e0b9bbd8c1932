//! What is read of a row for the record, and how it is set back.

use super::builder::{Param, Sql, Statement, column_sql};
use super::dialect::Dialect;
use crate::model::{Cell, Engine, Key, RowChange};
use crate::preset::ident::quoted;
use crate::preset::{Column, QueueSpec};

/// Bound values a statement: engines have limits on their number.
const VALUES: usize = 10_000;

/// Reads rows by key: number (from 1), the columns named, then what the fingerprint of the whole row is made of. With
/// `lock` the rows are locked without waiting, as for a change of key columns if it says so.
pub fn images(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    columns: &[&Column],
    keys: &[&Key],
    lock: Option<bool>,
) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT w.n");
    image_items(&mut sql, spec, columns);
    sql.push(" FROM ");
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    sql.wanted_rows(spec, &rows);
    if let Some(for_update) = lock {
        sql.push(&dialect.lock(&spec.claim.lock, for_update));
    }
    sql.finish()
}

/// The further items of a select list that make an image of a job's row.
pub(super) fn image_items(sql: &mut Sql<'_>, spec: &QueueSpec, columns: &[&Column]) {
    let dialect = sql.dialect;
    let values = columns.iter().map(|column| dialect.as_text(&column_sql(column)));
    let whole: Vec<String> = spec.row.iter().map(column_sql).collect();
    values.chain(dialect.whole(&whole)).for_each(|item| sql.push(&format!(", {item}")));
}

/// A row to restore: its number, its key, and what it was.
type Row<'r> = (usize, &'r Key, &'r RowChange);

/// The statements that set rows back, each with the number of rows it must touch. All rows name the same columns.
pub fn restores(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    columns: &[&Column],
    rows: &[Row<'_>],
) -> Vec<(Statement, u64)> {
    let width = spec.claim.key.len() + columns.len();
    let chunks = rows.chunks((VALUES / width.max(1)).max(1));
    chunks.map(|rows| (restored(spec, dialect, columns, rows), rows.len() as u64)).collect()
}

fn restored(spec: &QueueSpec, dialect: &dyn Dialect, columns: &[&Column], rows: &[Row<'_>]) -> Statement {
    let key = &spec.claim.key;
    let mut sql = Sql::new(dialect);
    sql.push("UPDATE ");
    sql.lock_table(spec);
    sql.push(" SET ");
    for (n, column) in columns.iter().enumerate() {
        let comma = if n > 0 { ", " } else { "" };
        sql.push(&format!("{comma}{} = jobdoctor_was.c{}", quoted(&column.name), n + 1));
    }
    // Names for the columns of VALUES, in the one way that both engines have.
    let names = (1..=key.len()).map(|n| format!("k{n}")).chain((1..=columns.len()).map(|n| format!("c{n}")));
    let names: Vec<String> = names.enumerate().map(|(n, name)| format!("column{} AS {name}", n + 1)).collect();
    sql.push(&format!(" FROM (SELECT {} FROM (VALUES ", names.join(", ")));
    for (n, (_, of, row)) in rows.iter().enumerate() {
        sql.push(if n > 0 { ", (" } else { "(" });
        let values = of.0.iter().chain(row.values.iter().map(|value| &value.before));
        for (at, (value, column)) in values.zip(key.iter().chain(columns.iter().copied())).enumerate() {
            if at > 0 {
                sql.push(", ");
            }
            exact(&mut sql, dialect, value, column);
        }
        sql.push(")");
    }
    sql.push(") AS jobdoctor_values) AS jobdoctor_was WHERE ");
    for (n, column) in key.iter().enumerate() {
        let and = if n > 0 { " AND " } else { "" };
        sql.push(&format!("{and}{} {} jobdoctor_was.k{}", column_sql(column), dialect.equals(), n + 1));
    }
    sql.finish()
}

/// A recorded value on its way back: text that is read by the column's own type on Postgres, the value itself on
/// SQLite.
fn exact(sql: &mut Sql<'_>, dialect: &dyn Dialect, value: &Cell, column: &Column) {
    match dialect.engine() {
        Engine::Sqlite => sql.bind(Param::Cell(value.clone())),
        Engine::Postgres => {
            let text = match value {
                Cell::Null | Cell::BrokenText(_) => value.clone(),
                value => Cell::Text(value.to_string()),
            };
            sql.bind(Param::Cell(text));
            if !column.type_name.is_empty() {
                sql.push(&format!("::{}", column.type_name));
            }
        }
    }
}
