use super::builder::{Sql, Statement, column_sql};
use super::dialect::Dialect;
use super::projection::no_values;
use crate::preset::{QueueSpec, Template};

/// Types that Postgres puts in order but knows no `min` of.
const WITHOUT_MIN: [&str; 3] = ["boolean", "uuid", "bytea"];

/// The distinct stored states, by hopping along the index on them where there is one; a plain DISTINCT would read a whole
/// table of finished jobs.
pub fn states_in_use(spec: &QueueSpec, dialect: &dyn Dialect) -> Option<Statement> {
    let column = spec.claim.own_state()?;
    let table = spec.tables.get(&spec.claim.lock_table).map(|table| dialect.table(table))?;
    let (alias, state) = (crate::preset::ident::quoted(&column.alias), column_sql(column));
    let state = if WITHOUT_MIN.contains(&column.type_name.as_str()) { dialect.as_text(&state) } else { state };
    Some(Statement::plain(format!(
        "WITH RECURSIVE hop(s) AS (SELECT min({state}) FROM {table} AS {alias} \
         UNION ALL SELECT (SELECT min({state}) FROM {table} AS {alias} WHERE {state} > hop.s) FROM hop \
         WHERE hop.s IS NOT NULL) SELECT {} FROM hop WHERE hop.s IS NOT NULL LIMIT 100",
        dialect.as_text("hop.s")
    )))
}

/// A query of the preset's own, which asks for no values.
pub fn question(spec: &QueueSpec, dialect: &dyn Dialect, asked: &Template) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.template(spec, asked, &no_values());
    sql.finish()
}
