//! Step two of applying: the preset's own ordered statements on exactly the verified keys.

use super::builder::{Sql, Statement, Values, column_sql, literal_sql};
use super::dialect::Dialect;
use crate::model::{Key, Timestamp};
use crate::spec::ident::quoted;
use crate::spec::{MoveSpec, Notify, QueueSpec, Rows, StateSource, StepSpec};

/// One statement of a move and how many rows it must touch.
pub struct Act {
    /// The statement.
    pub statement: Statement,
    /// How many rows.
    pub rows: Rows,
}

/// The statements of a move on these keys, with the transaction's now and when the jobs may run again.
pub fn acts(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    r#move: &MoveSpec,
    keys: &[&Key],
    (now, run_at): (Timestamp, Timestamp),
    reason: &str,
) -> Vec<Act> {
    let values = || Values { keys, now: Some(now), run_at: Some(run_at), reason, ..Values::default() };
    r#move
        .steps
        .iter()
        .map(|step| match step {
            StepSpec::Sql { sql: template, rows, encodings } => {
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

/// Counts the keys that really are in the state the move leads to: a trigger may have had other ideas. `None` where the
/// state is a place or the preset moves the job by statements of its own.
pub fn state_check(spec: &QueueSpec, dialect: &dyn Dialect, r#move: &MoveSpec, keys: &[&Key]) -> Option<Statement> {
    let StateSource::Column(column) = &spec.claim.state else { return None };
    // Statements that the preset wrote itself may delete the row; `rows` says what they must do.
    let updates = |step: &StepSpec| matches!(step, StepSpec::Update(_));
    if column.alias != spec.claim.lock || !r#move.steps.iter().any(updates) {
        return None;
    }
    let table = spec.tables.get(&spec.claim.lock_table).map(|table| dialect.table(table)).unwrap_or_default();
    let mut sql = Sql::new(dialect);
    sql.push(&format!("SELECT count(*) FROM {table} AS {} WHERE ", quoted(&spec.claim.lock)));
    in_keys(&mut sql, spec, dialect, keys);
    sql.push(&format!(" AND {} = {}", column_sql(column), literal_sql(&r#move.to.stored)));
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
                Notify::Sql(template) => sql.template(spec, template, &values()),
                Notify::Channel { channel, payload } => {
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
