//! Has a server explain what a writer would send, and tries what it would write, inside a snapshot's read-only
//! transaction.
//!
//! EXPLAIN without ANALYZE plans a statement and does not run it, so a read-only transaction allows it. It checks
//! names, types, columns that cannot be written, and the role's rights. Domains and CHECK constraints only refuse
//! values.

use super::session::PostgresSession;
use crate::model::{Cell, Timestamp};
use crate::preset::{ActionSpec, Assignment, QueueSpec, StepSpec};
use crate::store::rehearsal::{RefusedOf, Trial, assignments};
use crate::store::session::Session;
use crate::store::sql::{self, Dialect, Param, Postgres, Statement};
use crate::store::{StoreError, StoreErrorKind};

/// The types of the table's columns.
const TYPES: &str = "
SELECT a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = pg_catalog.to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped";

/// The conditions of the table and, of what they do not inherit, of its partitions and children: CHECK and NOT NULL,
/// once for each column that they name. Each is named by its table too, and says whether it is the table's own.
/// `conenforced` is new in Postgres 18.
const CHECKS: &str = "
WITH RECURSIVE part(oid, is_own) AS (
  SELECT pg_catalog.to_regclass($1)::oid, true
  UNION
  SELECT i.inhrelid, false FROM part JOIN pg_catalog.pg_inherits AS i ON i.inhparent = part.oid)
SELECT c.name || ' of ' || c.of::regclass::text,
       CASE WHEN c.is_own THEN c.sql ELSE pg_catalog.format('tableoid <> %s OR (%s)', c.of, c.sql) END, a.attname::text, c.is_own
FROM (
  SELECT part.oid, 'CHECK constraint ' || c.conname, pg_catalog.pg_get_expr(c.conbin, c.conrelid), c.conkey, is_own
  FROM part JOIN pg_catalog.pg_constraint AS c ON c.conrelid = part.oid
  WHERE c.contype = 'c' AND (is_own OR c.coninhcount = 0)
    AND coalesce(pg_catalog.to_jsonb(c) ->> 'conenforced', 'true') = 'true'
  UNION ALL
  SELECT part.oid, 'NOT NULL of column ' || a.attname, pg_catalog.format('%I IS NOT NULL', a.attname), ARRAY[a.attnum], is_own
  FROM part JOIN pg_catalog.pg_attribute AS a ON a.attrelid = part.oid
  WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND (is_own OR a.attislocal)
) AS c(of, name, sql, keys, is_own)
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.of AND a.attnum = ANY (c.keys)
ORDER BY 1";

pub(super) fn explain(session: &mut PostgresSession, statement: &Statement) -> Result<(), StoreError> {
    let explained = Statement { sql: format!("EXPLAIN {}", statement.sql), params: statement.params.clone() };
    behind_savepoint(session, &explained).map(drop).map_err(|error| match error.kind {
        StoreErrorKind::Denied => {
            error.hint("this role lacks a right that the action takes: grant it on what the message names")
        }
        _ => error,
    })
}

pub(super) fn try_out(
    session: &mut PostgresSession,
    spec: &QueueSpec,
    action: &ActionSpec,
    clock_and_reason: (Timestamp, &str),
) -> Result<Vec<Trial>, StoreError> {
    let Some(table) = spec.tables.get(&spec.claim.lock_table).map(|table| Postgres.table(table)) else {
        return Ok(Vec::new());
    };
    let of_table = |sql: &str| Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Text(table.clone()))] };
    let types = session.query(&of_table(TYPES))?;
    let type_of = |assignment: &Assignment| {
        let row = types.iter().find(|row| text(row, 0) == assignment.column.name)?;
        Some(text(row, 1))
    };
    let written: Vec<(&Assignment, String)> =
        assignments(action).into_iter().filter_map(|assignment| Some((assignment, type_of(assignment)?))).collect();
    let mut trials = Vec::new();
    if action.steps.iter().any(|step| matches!(step, StepSpec::Sql { .. })) {
        trials.push(Trial::untried("a statement of its own is explained, and not tried on claims"));
    }
    for (assignment, type_name) in &written {
        // By itself first. A value that names columns fails without a claim, and is then tried on claims.
        for of_claims in [false, true] {
            let statement = sql::cast_value(spec, &Postgres, assignment, type_name, clock_and_reason, of_claims);
            match behind_savepoint(session, &statement) {
                Err(error) if !of_claims && matches!(error.code.as_deref(), Some("42P01" | "42703")) => continue,
                Err(error) if error.kind == StoreErrorKind::RowData => {
                    let error = StoreError { message: format!("{}: {}", assignment.column, error.message), ..error };
                    let of = if of_claims { RefusedOf::SomeTried } else { RefusedOf::Any };
                    trials.push(Trial { at: Some(assignment.at.clone()), error, of });
                }
                // Other refusals say nothing about the action: a function that writes, a column that may not be read.
                Err(error) => ignore_refusal(error)?,
                Ok(_) => {}
            }
            break;
        }
    }
    if trials.iter().any(|trial| trial.of != RefusedOf::Untried) {
        return Ok(trials);
    }
    let rows = session.query(&of_table(CHECKS))?;
    for of_one in rows.chunk_by(|one, next| text(one, 0) == text(next, 0)) {
        let Some(first) = of_one.first() else { continue };
        let (name, condition, is_own) = (text(first, 0), text(first, 1), first.get(3) == Some(&Cell::Integer(1)));
        let mut columns: Vec<String> = of_one.iter().filter_map(|row| row.get(2)?.to_text()).collect();
        let is_written = columns.iter().any(|name| written.iter().any(|(one, _)| one.column.name == *name));
        if !is_written && (!is_own || name.starts_with("NOT NULL")) {
            continue;
        }
        if !is_own {
            columns.push("tableoid".to_owned());
        }
        let statement = sql::refused_claims(spec, &Postgres, &condition, &columns, &written, clock_and_reason);
        let counted = match behind_savepoint(session, &statement) {
            Ok(rows) => rows.into_iter().next().unwrap_or_default(),
            Err(error) => {
                trials.push(Trial::untried(&format!("{name}: {}", error.message)));
                ignore_refusal(error)?;
                continue;
            }
        };
        let [Cell::Integer(tried), Cell::Integer(refused)] = counted.as_slice() else { continue };
        if *refused > 0 {
            let message = format!("{name} refuses {refused} of the {tried} claims that it was tried on");
            let error = StoreError {
                constraint: Some(match columns.first().filter(|_| name.starts_with("NOT NULL")) {
                    Some(column) => format!("{table}.{column}"),
                    None => name,
                }),
                hint: Some(format!("write what it allows: {condition}")),
                ..StoreError::new(StoreErrorKind::RowData, message)
            };
            let of = if refused == tried { RefusedOf::EveryTried } else { RefusedOf::SomeTried };
            trials.push(Trial { at: None, error, of });
        }
    }
    Ok(trials)
}

/// Runs a statement behind a savepoint, so that its failure does not abort the snapshot. The search path is the
/// snapshot's: values are computed here, and no name in them may lead to a function or operator that another role made
/// in the queue's schema.
fn behind_savepoint(session: &mut PostgresSession, statement: &Statement) -> Result<Vec<Vec<Cell>>, StoreError> {
    session.batch("SAVEPOINT jobdoctor_rehearsal")?;
    let answer = session.query(statement);
    session.batch("ROLLBACK TO SAVEPOINT jobdoctor_rehearsal; RELEASE SAVEPOINT jobdoctor_rehearsal")?;
    answer
}

/// Ignores a statement's refusal; any other error ends the snapshot.
fn ignore_refusal(error: StoreError) -> Result<(), StoreError> {
    if error.is_refusal() { Ok(()) } else { Err(error) }
}

fn text(row: &[Cell], n: usize) -> String {
    row.get(n).and_then(Cell::to_text).unwrap_or_default()
}
