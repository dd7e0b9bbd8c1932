//! What an action does beyond its own statements, because the schema says so: rows that go with the ones that are
//! deleted, and rules that rewrite a statement.

use super::OpsError;
use super::session::Snapshot;
use crate::model::Action;
use crate::preset::{QueueSpec, StepSpec, Touch};
use crate::store::catalog;
use std::collections::BTreeSet;

/// What an action does to a table: rows are deleted, or these columns changed; any column, where none is named.
type Change = (Touch, String, BTreeSet<String>);

/// What follows from the deletes and changes of these actions, a sentence for each of their tables.
pub(super) fn cascades<'a>(
    snapshot: &mut Snapshot,
    actions: impl Iterator<Item = &'a Action>,
) -> Result<Vec<String>, OpsError> {
    let changes: BTreeSet<(Action, Change)> =
        actions.flat_map(|action| changes_of(&snapshot.spec, *action).map(|change| (*action, change))).collect();
    let mut sentences = Vec::new();
    for (action, change) in changes {
        let Some(table) = snapshot.spec.tables.get(&change.1) else { continue };
        let others = snapshot.reader.texts(&catalog::followers(snapshot.spec.engine, table, change.0, &change.2))?;
        if !others.is_empty() {
            let does = match change.0 {
                Touch::Delete => "deletes rows that foreign keys refer to, of table",
                _ => "changes columns that foreign keys refer to, of table",
            };
            sentences.push(format!(
                "a {action} {does} {}, and what refers to it is deleted or changed, which no undo brings back: {}",
                table.name,
                others.concat().join(", ")
            ));
        }
    }
    Ok(sentences)
}

/// What an action changes, of jobs in flight and of those that wait; the tables by their logical names.
fn changes_of(spec: &QueueSpec, action: Action) -> impl Iterator<Item = Change> {
    let of_both = [&spec.actions, &spec.waiting].into_iter().filter_map(move |actions| actions.get(&action));
    of_both.flat_map(|action| &action.steps).flat_map(|step| match step {
        StepSpec::Update(assignments) => {
            let columns = assignments.iter().map(|assignment| assignment.column.name.clone()).collect();
            vec![(Touch::Update, spec.claim.lock_table.clone(), columns)]
        }
        StepSpec::Sql { sql, .. } => {
            let touches = sql.touches().into_iter();
            let changes = touches.filter(|(touch, _)| matches!(touch, Touch::Update | Touch::Delete));
            changes.map(|(touch, table)| (touch, table.to_owned(), BTreeSet::new())).collect()
        }
    })
}

/// The rules on the queue's tables and the ledger that rewrite what is written there, a sentence for each table;
/// Postgres alone has rules.
pub(super) fn rules(snapshot: &mut Snapshot) -> Result<Vec<String>, OpsError> {
    let Some(rules) = catalog::rules(snapshot.spec.engine, &snapshot.written_tables()) else { return Ok(Vec::new()) };
    let rules = snapshot.reader.texts(&rules)?;
    Ok(rules.iter().map(|rule| format!("rules rewrite what is written, on table {}", rule.join(": "))).collect())
}
