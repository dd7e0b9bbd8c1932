use super::builder::{Sql, Statement};
use super::dialect::Dialect;
use crate::model::{Cell, Owner};
use crate::preset::{Expr, QueueSpec};

/// How many claims each owner holds, in one pass over the claims in flight: id, name and host where they are known, then the
/// count.
pub fn holders(spec: &QueueSpec, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    // Byte by byte: a collation may take two owners for one.
    let text = |expr: &Expr| dialect.bytewise(&dialect.as_text(&sql.expr_sql(spec, expr)));
    let told: Vec<String> = parts(spec).into_iter().flatten().map(text).collect();
    let list: String = told.iter().map(|part| format!("{part}, ")).collect();
    let ordinals: Vec<String> = (1..=told.len()).map(|n| n.to_string()).collect();
    sql.push(&format!("SELECT {list}count(*) FROM "));
    sql.claim_from(spec);
    sql.push(" WHERE ");
    sql.in_flight(spec, None);
    if !ordinals.is_empty() {
        sql.push(&format!(" GROUP BY {}", ordinals.join(", ")));
    }
    sql.finish()
}

/// The owner in a row of [`holders`], and how many claims it holds.
pub fn holder(spec: &QueueSpec, row: &[Cell]) -> (Option<Owner>, u64) {
    let mut cells = row.iter();
    let [id, name, host] =
        parts(spec).map(|part| part.and_then(|_| cells.next()).and_then(|cell| cell.clone().to_text()));
    let claims = match cells.next() {
        Some(Cell::Integer(count)) => u64::try_from(*count).unwrap_or(0),
        _ => 0,
    };
    let host_spelling = spec.owner.host_spelling;
    (id.map(|id| Owner { name: name.unwrap_or_else(|| id.clone()), host, host_spelling, id }), claims)
}

/// What tells owners apart. Without an id there is no owner, whatever else the preset knows.
fn parts(spec: &QueueSpec) -> [Option<&Expr>; 3] {
    let owner = &spec.owner;
    match &owner.id {
        Some(id) => [Some(id), owner.name.as_ref(), owner.host.as_ref()],
        None => [None; 3],
    }
}
