//! All rows of a queue, in flight or not.

use super::builder::Sql;
use super::projection::no_values;
use crate::preset::ident::quoted;
use crate::preset::{Column, Expr, QueueSpec};

/// The column behind an expression, if it is one.
pub fn column_of(expr: &Expr) -> Option<&Column> {
    match expr {
        Expr::Column(column) => Some(column),
        Expr::Sql(_) => None,
    }
}

/// The FROM clause: the claim's own table alone where every column asked for is its own, because what a preset joins to a
/// claim may cost a query for each row of the whole table. `None` stands for something that may read any of them.
pub fn rows_from<'c>(sql: &mut Sql<'_>, spec: &QueueSpec, columns: impl IntoIterator<Item = Option<&'c Column>>) {
    let is_own = |column: Option<&Column>| column.is_some_and(|column| column.alias == spec.claim.lock);
    match spec.tables.get(&spec.claim.lock_table) {
        Some(table) if columns.into_iter().all(is_own) => {
            let table = sql.dialect.table(table);
            sql.push(&format!("{table} AS {}", quoted(&spec.claim.lock)));
        }
        _ => sql.template(spec, &spec.claim.from, &no_values()),
    }
}
