//! What an action does beyond its own statements, because the schema says so: rows that go with the ones that are deleted, and rules
//! that rewrite a statement.

use super::OpsError;
use super::session::Snapshot;
use crate::model::{Action, Engine};
use crate::preset::ident::{literal, qualified};
use crate::preset::{QueueSpec, StepSpec, Table, Touch};
use std::collections::BTreeSet;

/// What an action does to a table: rows are deleted, or these columns changed; any column, where none is named.
type Change = (Touch, String, BTreeSet<String>);

/// The tables whose rows a foreign key deletes or changes along with those of a table; through further tables too. Before version 15,
/// Postgres deletes a row that moves to another partition.
fn followers_sql(engine: Engine, table: &Table, (touch, _, columns): &Change) -> String {
    let columns: Vec<String> = columns.iter().map(|column| literal(column)).collect();
    let is_hit = |column: &str| match (columns.as_slice(), engine) {
        ([], _) => "true".to_owned(),
        (columns, Engine::Postgres) => format!("{column} IN ({})", columns.join(", ")),
        (columns, Engine::Sqlite) => format!("coalesce({column} COLLATE NOCASE IN ({}), true)", columns.join(", ")),
    };
    match engine {
        Engine::Postgres => {
            let table = literal(&qualified(&table.schema, &table.name));
            let effect = match touch {
                Touch::Delete => "c.confdeltype",
                _ => {
                    "CASE WHEN c.confupdtype = 'a' AND p.relkind = 'p' AND pg_catalog.current_setting('server_version_num')::integer \
                     < 150000 THEN c.confdeltype ELSE c.confupdtype END"
                }
            };
            let is_hit = is_hit("a.attname");
            format!(
                "WITH RECURSIVE edges(above, below, effect, is_hit) AS (SELECT c.confrelid, c.conrelid, {effect}, EXISTS (\
                 SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.confrelid AND a.attnum = ANY (c.confkey) AND {is_hit}) \
                 FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS p ON p.oid = c.confrelid WHERE c.contype = 'f' \
                 UNION ALL SELECT i.inhparent, i.inhrelid, 'i', true FROM pg_catalog.pg_inherits AS i \
                 UNION ALL SELECT r.ev_class, d.refobjid, 'i', true FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d \
                 ON d.objid = r.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass \
                 AND d.refclassid = 'pg_catalog.pg_class'::regclass WHERE r.rulename = '_RETURN'), \
                 changed(oid, is_first) AS (SELECT pg_catalog.to_regclass({table})::oid, true UNION SELECT e.below, \
                 c.is_first AND e.effect = 'i' FROM changed AS c JOIN edges AS e ON e.above = c.oid AND e.below <> c.oid \
                 AND e.effect IN ('c', 'i') AND (e.is_hit OR NOT c.is_first)) \
                 SELECT DISTINCT e.below::regclass::text FROM changed AS c JOIN edges AS e ON e.above = c.oid \
                 AND e.effect IN ('c', 'n', 'd') AND (e.is_hit OR NOT c.is_first) ORDER BY 1"
            )
        }
        Engine::Sqlite => {
            let (table, is_hit) = (literal(&table.name), is_hit("f.\"to\""));
            let effect = if *touch == Touch::Delete { "on_delete" } else { "on_update" };
            format!(
                "WITH RECURSIVE refers(child, parent, effect, is_hit) AS (SELECT m.name, lower(f.\"table\"), f.{effect}, {is_hit} \
                 FROM pragma_foreign_keys AS k, main.sqlite_schema AS m, pragma_foreign_key_list(m.name, 'main') AS f \
                 WHERE k.foreign_keys AND m.type = 'table' AND f.{effect} IN ('CASCADE', 'SET NULL', 'SET DEFAULT')), \
                 changed(name, is_first) AS (SELECT lower({table}), true UNION SELECT lower(r.child), false FROM changed AS c \
                 JOIN refers AS r ON r.parent = c.name AND r.effect = 'CASCADE' AND (r.is_hit OR NOT c.is_first)) \
                 SELECT DISTINCT r.child FROM changed AS c JOIN refers AS r ON r.parent = c.name AND (r.is_hit OR NOT c.is_first) \
                 ORDER BY 1"
            )
        }
    }
}

/// What follows from the deletes and changes of these actions, a sentence for each of their tables.
///
/// # Errors
/// When the catalog cannot be read.
pub(super) fn cascades<'a>(
    snapshot: &mut Snapshot,
    actions: impl Iterator<Item = &'a Action>,
) -> Result<Vec<String>, OpsError> {
    let changes: BTreeSet<(Action, Change)> =
        actions.flat_map(|action| changes_of(&snapshot.spec, *action).map(|change| (*action, change))).collect();
    let mut sentences = Vec::new();
    for (action, change) in changes {
        let Some(table) = snapshot.spec.tables.get(&change.1) else { continue };
        let others = snapshot.reader.texts(&followers_sql(snapshot.spec.engine, table, &change))?;
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
