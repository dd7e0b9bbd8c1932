//! Statements for `check` that try what an action would write: its values cast to their columns' types, and claims as
//! they would become.

use super::builder::{Sql, Statement, Values, column_sql};
use super::dialect::Dialect;
use crate::model::{Engine, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{Assignment, Column, QueueSpec};

/// The most claims that an action is tried on.
pub const CLAIMS_TRIED: u64 = 100;

/// The clock and the reason of an imagined action.
pub(super) type ClockAndReason<'a> = (Timestamp, &'a str);

/// Casts the value of an assignment to that type: by itself, or for claims in flight if it is made of their columns.
pub fn cast_value(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    assignment: &Assignment,
    type_name: &str,
    clock_and_reason: ClockAndReason<'_>,
    of_claims: bool,
) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    cast(&mut sql, spec, assignment, type_name, clock_and_reason);
    if of_claims {
        claims(&mut sql, spec);
    }
    sql.finish()
}

/// Counts claims in flight, and those that a condition on the table's own columns would refuse after `written`.
/// `columns` are those that the condition names.
pub fn refused_claims(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    condition: &str,
    columns: &[String],
    written: &[(&Assignment, String)],
    clock_and_reason: ClockAndReason<'_>,
) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push(&format!("SELECT count(*), count(*) FILTER (WHERE NOT ({condition})) FROM (SELECT 1"));
    for name in columns {
        sql.push(", ");
        match written.iter().find(|(assignment, _)| assignment.column.name == *name) {
            Some((assignment, type_name)) => cast(&mut sql, spec, assignment, type_name, clock_and_reason),
            None => sql.push(&of_claim(spec, name)),
        }
        sql.push(&format!(" AS {}", quoted(name)));
    }
    claims(&mut sql, spec);
    let table = spec.tables.get(&spec.claim.lock_table).map(|table| quoted(&table.name));
    sql.push(&format!(") AS {}", table.unwrap_or_default()));
    sql.finish()
}

/// Reads these columns of claims in flight.
pub fn stored_claims(spec: &QueueSpec, dialect: &dyn Dialect, columns: &[String]) -> Statement {
    let mut sql = Sql::new(dialect);
    let columns: Vec<String> = columns.iter().map(|name| of_claim(spec, name)).collect();
    sql.push(&format!("SELECT {}", columns.join(", ")));
    claims(&mut sql, spec);
    sql.finish()
}

fn of_claim(spec: &QueueSpec, name: &str) -> String {
    column_sql(&Column { alias: spec.claim.lock.clone(), name: name.to_owned(), type_name: String::new() })
}

pub(super) fn cast(
    sql: &mut Sql<'_>,
    spec: &QueueSpec,
    assignment: &Assignment,
    type_name: &str,
    (now, reason): ClockAndReason<'_>,
) {
    let values = Values {
        now: Some(now),
        run_at: Some(now),
        assigned: assignment.encodings.as_ref(),
        reason,
        ..Values::default()
    };
    let kind = quoted(type_name);
    let around = match spec.engine {
        Engine::Postgres => vec!["CAST((".to_owned(), format!(") AS {type_name})")],
        Engine::Sqlite if type_name.is_empty() => vec!["(".to_owned(), ")".to_owned()],
        // A cast makes a number of any text, a column only of text that is one.
        Engine::Sqlite => ["CASE WHEN (", ") = CAST((", ") AS T) THEN CAST((", ") AS T) ELSE (", ") END"]
            .map(|part| part.replace("AS T", &format!("AS {kind}")))
            .to_vec(),
    };
    for (n, part) in around.iter().enumerate() {
        if n > 0 {
            sql.template(spec, &assignment.value, &values);
        }
        sql.push(part);
    }
}

fn claims(sql: &mut Sql<'_>, spec: &QueueSpec) {
    sql.push(" FROM ");
    sql.claim_from(spec);
    sql.push(" WHERE ");
    sql.in_flight(spec, None);
    sql.push(&format!(" LIMIT {CLAIMS_TRIED}"));
}
