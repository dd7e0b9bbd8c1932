//! What an action does beyond its own statements, because the schema says so: rows that go with the ones that are deleted, and rules
//! that rewrite a statement.

use super::OpsError;
use super::session::Snapshot;
use crate::model::{Action, Engine};
use crate::preset::ident::{literal, qualified};
use crate::preset::{QueueSpec, StepSpec, Table, Touch};
use std::collections::BTreeSet;

/// The tables that lose rows, or whose rows lose a reference, as rows of a table are deleted; through further tables too.
fn cascades_sql(engine: Engine, table: &Table) -> String {
    match engine {
        Engine::Postgres => {
            let table = literal(&qualified(&table.schema, &table.name));
            format!(
                "WITH RECURSIVE gone(oid) AS (SELECT pg_catalog.to_regclass({table})::oid UNION SELECT c.conrelid FROM gone \
                 JOIN pg_catalog.pg_constraint AS c ON c.confrelid = gone.oid AND c.contype = 'f' AND c.confdeltype = 'c') \
                 SELECT DISTINCT c.conrelid::regclass::text FROM gone JOIN pg_catalog.pg_constraint AS c \
                 ON c.confrelid = gone.oid AND c.contype = 'f' AND c.confdeltype IN ('c', 'n', 'd') ORDER BY 1"
            )
        }
        Engine::Sqlite => {
            let table = literal(&table.name);
            format!(
                "WITH RECURSIVE refers(child, parent, effect) AS (SELECT m.name, lower(f.\"table\"), f.on_delete \
                 FROM pragma_foreign_keys AS k, main.sqlite_schema AS m, pragma_foreign_key_list(m.name, 'main') AS f \
                 WHERE k.foreign_keys AND m.type = 'table' AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')), \
                 gone(name) AS (SELECT lower({table}) UNION SELECT lower(r.child) FROM gone JOIN refers AS r \
                 ON r.parent = gone.name AND r.effect = 'CASCADE') \
                 SELECT DISTINCT r.child FROM gone JOIN refers AS r ON r.parent = gone.name ORDER BY 1"
            )
        }
    }
}

/// What follows from the deletes of these actions, a sentence for each of their tables.
///
/// # Errors
/// When the catalog cannot be read.
pub(super) fn cascades<'a>(
    snapshot: &mut Snapshot,
    actions: impl Iterator<Item = &'a Action>,
) -> Result<Vec<String>, OpsError> {
    let deletes: BTreeSet<(Action, String)> =
        actions.flat_map(|action| deleted_from(&snapshot.spec, *action).map(|table| (*action, table))).collect();
    let mut sentences = Vec::new();
    for (action, table) in deletes {
        let Some(table) = snapshot.spec.tables.get(&table) else { continue };
        let others = snapshot.reader.texts(&cascades_sql(snapshot.spec.engine, table))?;
        if !others.is_empty() {
            sentences.push(format!(
                "a {action} deletes from table {}, and foreign keys delete or clear what refers to it, which no undo brings back: {}",
                table.name,
                others.concat().join(", ")
            ));
        }
    }
    Ok(sentences)
}

/// The tables, by their logical names, from which an action deletes rows.
fn deleted_from(spec: &QueueSpec, action: Action) -> impl Iterator<Item = String> {
    let steps = spec.actions.get(&action).map(|moved| moved.steps.as_slice()).unwrap_or_default();
    let touched = steps.iter().flat_map(|step| match step {
        StepSpec::Update(_) => BTreeSet::new(),
        StepSpec::Sql { sql, .. } => sql.touches(),
    });
    touched.filter(|(touch, _)| *touch == Touch::Delete).map(|(_, table)| table.to_owned())
}

/// The rules on the queue's tables and the ledger that rewrite what is written there, a sentence for each table; Postgres alone has rules.
///
/// # Errors
/// When the catalog cannot be read.
pub(super) fn rules(snapshot: &mut Snapshot) -> Result<Vec<String>, OpsError> {
    if snapshot.spec.engine != Engine::Postgres {
        return Ok(Vec::new());
    }
    let tables: BTreeSet<String> =
        snapshot.written_tables().iter().map(|table| literal(&qualified(&table.schema, &table.name))).collect();
    let tables = tables.iter().map(|table| format!("pg_catalog.to_regclass({table})")).collect::<Vec<_>>().join(", ");
    let rules = format!(
        "SELECT r.ev_class::regclass::text, string_agg(r.rulename || CASE WHEN r.is_instead THEN ' (instead)' ELSE '' END, ', ' \
         ORDER BY r.rulename) FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class IN ({tables}) AND r.ev_type <> '1' GROUP BY 1 ORDER BY 1"
    );
    let rules = snapshot.reader.texts(&rules)?;
    Ok(rules.iter().map(|rule| format!("rules rewrite what is written, on table {}", rule.join(": "))).collect())
}
