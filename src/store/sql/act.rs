//! Step two of a batch: the statements of an action on exactly the verified keys, and the check of their effect.

use super::builder::{Sql, Statement, Values, column_sql, literal_sql};
use super::dialect::Dialect;
use crate::model::{Key, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{ActionSpec, Notify, QueueSpec, Rows, StateSource, StepSpec};

/// A statement of an action and the number of rows that it must touch.
pub struct Act {
    pub statement: Statement,
    pub rows: Rows,
}

/// The statements of an action on these keys, with the transaction's now and the instant from which the jobs may run
/// again.
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
                sql.push("UPDATE ");
                sql.lock_table(spec);
                sql.push(" SET ");
                for (n, assignment) in assignments.iter().enumerate() {
                    if n > 0 {
                        sql.push(", ");
                    }
                    sql.push(&format!("{} = ", quoted(&assignment.column.name)));
                    let values = Values { assigned: assignment.encodings.as_ref(), ..values() };
                    sql.template(spec, &assignment.value, &values);
                }
                sql.push(" WHERE ");
                sql.in_keys(spec, keys);
                Act { statement: sql.finish(), rows: Rows::Each }
            }
        })
        .collect()
}

/// Counts the rows of these keys that the action failed to move: rows that are still in flight, and rows in another
/// state than the announced one. One row with these two numbers; `None` if the action writes nothing, as a wake-up.
pub fn left_behind(spec: &QueueSpec, dialect: &dyn Dialect, action: &ActionSpec, keys: &[&Key]) -> Option<Statement> {
    if action.steps.is_empty() {
        return None;
    }
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    if spec.waits {
        // A waiting job may be put back into the state in which it waits.
        sql.push("0");
    } else {
        sql.push("(SELECT count(*) FROM ");
        sql.claim_from(spec);
        sql.push(" WHERE ");
        sql.in_keys(spec, keys);
        sql.push(" AND ");
        sql.in_flight(spec, None);
        sql.push(")");
    }
    sql.push(" AS in_flight, ");
    match &spec.claim.state {
        StateSource::Place(_) => sql.push("0"),
        StateSource::Column(column) => {
            sql.push("(SELECT count(*) FROM ");
            // A join could lose the row of a job that no longer names its owner.
            if column.alias == spec.claim.lock {
                sql.lock_table(spec);
            } else {
                sql.claim_from(spec);
            }
            sql.push(" WHERE ");
            sql.in_keys(spec, keys);
            let announced = literal_sql(&action.to.stored);
            sql.push(&format!(" AND ({} = {announced}) IS NOT TRUE)", column_sql(column)));
        }
    }
    sql.push(" AS elsewhere");
    Some(sql.finish())
}

/// The wake-up statements for one queue.
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
