//! Step two of applying: the preset's own ordered statements on exactly the verified keys.

use super::builder::{Sql, Statement, Values, column_sql, literal_sql};
use super::dialect::Dialect;
use crate::model::{Key, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{ActionSpec, Notify, QueueSpec, Rows, StateSource, StepSpec};

/// One statement of an action and how many rows it must touch.
pub struct Act {
    /// The statement.
    pub statement: Statement,
    /// How many rows.
    pub rows: Rows,
}

/// The statements of an action on these keys, with the transaction's now and when the jobs may run again.
pub fn acts(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    action: &ActionSpec,
    keys: &[&Key],
    (now, run_at): (Timestamp, Timestamp),
    reason: &str,
) -> Vec<Act> {
    let values = || Values { keys, now: Some(now), run_at: Some(run_at), reason, ..Values::default() };
    action
        .steps
        .iter()
        .map(|step| match step {
            StepSpec::Sql { sql: template, rows, encodings, .. } => {
                let mut sql = Sql::new(dialect);
                sql.template(spec, template, &Values { named: Some(encodings), ..values() });
                Act { statement: sql.finish(), rows: *rows }
            }
            StepSpec::Update(assignments) => {
                let mut sql = Sql::new(dialect);
                let table = spec.tables.get(&spec.claim.lock_table).map(|table| dialect.table(table));
                sql.push(&format!("UPDATE {} AS {} SET ", table.unwrap_or_default(), quoted(&spec.claim.lock)));
                for (n, assignment) in assignments.iter().enumerate() {
                    if n > 0 {
                        sql.push(", ");
                    }
                    sql.push(&format!("{} = ", quoted(&assignment.column.name)));
                    let values = Values { assigned: assignment.encodings.as_ref(), ..values() };
                    sql.template(spec, &assignment.value, &values);
                }
                sql.push(" WHERE ");
                in_keys(&mut sql, spec, dialect, keys);
                Act { statement: sql.finish(), rows: Rows::Each }
            }
        })
        .collect()
}

fn in_keys(sql: &mut Sql<'_>, spec: &QueueSpec, dialect: &dyn Dialect, keys: &[&Key]) {
    let columns: Vec<String> = spec.claim.key.iter().map(column_sql).collect();
    sql.push(&format!("({}) {} ", columns.join(", "), dialect.among()));
    dialect.keys(sql, &spec.claim.key, keys);
}

/// Counts what the action must not leave behind among these keys: rows that the claim's own condition still selects, and rows
/// that exist in another state than the announced one. One row with these two numbers; `None` where the action writes nothing,
/// as a wake-up.
pub fn left_behind(spec: &QueueSpec, dialect: &dyn Dialect, action: &ActionSpec, keys: &[&Key]) -> Option<Statement> {
    if action.steps.is_empty() {
        return None;
    }
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    if spec.waits {
        // A job that waits may be put back into the very state in which it waits.
        sql.push("0");
    } else {
        sql.push("(SELECT count(*) FROM ");
        sql.claim_from(spec);
        sql.push(" WHERE ");
        in_keys(&mut sql, spec, dialect, keys);
        sql.push(" AND ");
        sql.in_flight(spec, None);
        sql.push(")");
    }
    sql.push(" AS in_flight, ");
    match &spec.claim.state {
        StateSource::Place(_) => sql.push("0"),
        StateSource::Column(column) => {
            sql.push("(SELECT count(*) FROM ");
            // A join would lose the row of a job that no longer names its owner.
            if column.alias == spec.claim.lock {
                let table = spec.tables.get(&spec.claim.lock_table).map(|table| dialect.table(table));
                sql.push(&format!("{} AS {}", table.unwrap_or_default(), quoted(&spec.claim.lock)));
            } else {
                sql.claim_from(spec);
            }
            sql.push(" WHERE ");
            in_keys(&mut sql, spec, dialect, keys);
            let announced = literal_sql(&action.to.stored);
            sql.push(&format!(" AND ({} = {announced}) IS NOT TRUE)", column_sql(column)));
        }
    }
    sql.push(" AS elsewhere");
    Some(sql.finish())
}

/// The wake-ups for one queue.
pub fn notifications(spec: &QueueSpec, dialect: &dyn Dialect, queue: Option<&str>, moved: usize) -> Vec<Statement> {
    let values = || Values { queue, moved, ..Values::default() };
    spec.notify
        .iter()
        .map(|notify| {
            let mut sql = Sql::new(dialect);
            match notify {
                Notify::Sql { sql: template, .. } => sql.template(spec, template, &values()),
                Notify::Channel { channel, payload, .. } => {
                    sql.push("SELECT pg_catalog.pg_notify(");
                    sql.template(spec, channel, &values());
                    sql.push(", ");
                    sql.template(spec, payload, &values());
                    sql.push(")");
                }
            }
            sql.finish()
        })
        .collect()
}
