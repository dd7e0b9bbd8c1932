//! Checks the rights that the actions need, and asks the database whether it would accept their statements.

use super::schema::claims_table;
use super::{Findings, name, role};
use crate::model::Action;
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::output::{Severity, advice};
use crate::preset::ident::quoted;
use crate::preset::{ActionSpec, Assignment, Jobs, Piece, StepSpec, Touch};
use crate::store::StoreErrorKind;
use std::collections::BTreeSet;

/// Checks that this role may write what the actions write; actions on waiting jobs count if the config file has them.
pub(super) fn rights(findings: &mut Findings, snapshot: &Snapshot, with_waiting: bool) {
    let spec = &snapshot.jobs;
    let role = role(snapshot);
    for table in snapshot.live_tables().into_iter().filter(|table| table.row_security) {
        let detail = format!("row-level security hides rows of table {} from this role", table.name);
        findings.denied("row_security", detail, format!("ALTER ROLE {role} BYPASSRLS"));
    }
    let table = |logical: &str| {
        let table = spec.queue.tables.get(logical)?;
        snapshot.live.table(Some(&table.schema), &table.name)
    };
    let is_moved = spec.advice_only().is_none();
    if let Some(jobs) = table(&spec.claim.lock_table).filter(|_| is_moved) {
        let written = written_columns(spec, with_waiting);
        let missing: Vec<&str> = (jobs.columns.iter())
            .filter(|column| written.contains(column.name.as_str()) && !column.writable)
            .map(|column| column.name.as_str())
            .collect();
        if !missing.is_empty() && !spec.queue.engine.has_roles() {
            if jobs.is_view {
                let detail = format!("{} is a view, and an action writes to it", jobs.name);
                findings.add(Severity::Error, "update_jobs", detail, Some(advice::NAME_TABLE.to_owned()));
            } else {
                let detail = "this user may not write to the file, or to its directory, where SQLite keeps a journal";
                let fix = "run as a user who may write to both".to_owned();
                findings.denied("update_jobs", detail.to_owned(), fix);
            }
        } else if !missing.is_empty() {
            let (table, list) = (&jobs.name, missing.join(", "));
            let detail = format!("reclaiming writes columns of table {table} that this role may not: {list}");
            // Names with capitals need their quotes.
            let columns = missing.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
            let grant = format!("GRANT UPDATE ({columns}) ON {} TO {role}", name(spec, jobs));
            findings.denied("update_jobs", detail, grant);
        } else {
            findings.ok("update_jobs", format!("this role may write what an action writes to table {}", jobs.name));
        }
    }
    for (touch, logical) in touches(spec) {
        let Some(live) = table(logical) else { continue };
        // One column is enough to lock a row; a preset's own statement does not say which columns it needs.
        let may = match touch {
            Touch::Select => live.columns.iter().any(|column| column.readable),
            Touch::Insert => live.may_insert,
            Touch::Update => live.columns.iter().any(|column| column.writable),
            Touch::Delete => live.may_delete,
        };
        let right = touch.right();
        if !may && touch == Touch::Select && spec.queue.beside.contains(logical) {
            let detail = format!("what table {} tells is unknown without SELECT on it", live.name);
            let grant = format!("GRANT SELECT ON {} TO {role}", name(spec, live));
            findings.add(Severity::Warning, &format!("select_{logical}"), detail, Some(grant));
        } else if !may {
            let who = if touch == Touch::Select { "looking" } else { "an action" };
            let detail = format!("{who} needs {right} on table {}", live.name);
            let grant = format!("GRANT {right} ON {} TO {role}", name(spec, live));
            findings.denied(&format!("{}_{logical}", right.to_lowercase()), detail, grant);
        }
        if touch == Touch::Insert && !live.closed_sequences.is_empty() {
            let detail = format!("an action adds rows to table {}, whose key comes from a sequence", live.name);
            let grant = format!("GRANT USAGE ON SEQUENCE {} TO {role}", live.closed_sequences.join(", "));
            findings.denied(&format!("sequence_{logical}"), detail, grant);
        }
    }
    if let Some(row) = spec.owner.row.as_ref().filter(|row| row.can_lock)
        && let Some(owners) = table(&row.table)
        && spec.queue.engine.has_roles()
        && is_moved
        && !owners.columns.iter().any(|column| column.writable)
    {
        let detail = format!(
            "an action locks the owner's row in table {}, so that no heartbeat can slip in between, and Postgres asks for \
             more than SELECT for that",
            owners.name
        );
        let grant = format!("GRANT UPDATE ({}) ON {} TO {role}", quoted(&row.key.name), name(spec, owners));
        findings.denied("lock_owners", detail, grant);
    }
}

fn assignments(moved: &ActionSpec) -> impl Iterator<Item = &Assignment> {
    moved.steps.iter().flat_map(|step| match step {
        StepSpec::Update(assignments) => assignments.as_slice(),
        StepSpec::Sql { .. } => &[],
    })
}

fn written_columns(spec: &Jobs, with_waiting: bool) -> BTreeSet<&str> {
    let waiting = spec.queue.waited_actions.values().filter(|_| with_waiting);
    let all = spec.actions.values().chain(waiting).flat_map(assignments);
    all.map(|assignment| assignment.column.name.as_str()).collect()
}

/// Which rights are needed on which tables, by their logical names. All tables are read, and the preset's own
/// statements and its guard write to some. Locking the claim's row needs UPDATE too; if the program builds the UPDATE,
/// the right to its columns is enough.
fn touches(spec: &Jobs) -> BTreeSet<(Touch, &str)> {
    let actions = || spec.actions.values().filter(|moved| moved.refused.is_none());
    let sql = actions().flat_map(|moved| &moved.steps).filter_map(StepSpec::sql);
    let locks = spec.queue.engine.has_roles() && actions().next().is_some() && written_columns(spec, false).is_empty();
    let locked = locks.then_some((Touch::Update, spec.claim.lock_table.as_str()));
    let read = spec.queue.tables.keys().map(|table| (Touch::Select, table.as_str()));
    sql.chain(&spec.claim.guard).flat_map(|sql| sql.touches()).chain(locked).chain(read).collect()
}

/// Reports what the database refuses of the actions.
pub(super) fn actions(findings: &mut Findings, snapshot: &mut Snapshot) -> Result<(), OpsError> {
    is_offered(findings, snapshot);
    let triggers = claims_table(snapshot).is_some_and(|table| !table.triggers.is_empty());
    // A trigger may replace a value that is refused.
    let sure = if triggers { Severity::Warning } else { Severity::Error };
    let is_denied = findings.denied;
    let cleared = cleared(snapshot);
    for (action, assignment) in &cleared {
        let (column, at) = (&assignment.column, &assignment.at);
        let fix = "leave it out of `clear`, or drop the column's NOT NULL";
        let detail = format!("{action} ({at}): column {column} is NOT NULL, and the action clears it");
        findings.add(sure, "actions", detail, Some(fix.to_owned()));
    }
    let mut refused = !cleared.is_empty();
    for refusal in snapshot.reader.explain_actions(&snapshot.jobs)? {
        let error = &refusal.error;
        let of = |column: &str| error.constraint.as_ref().is_some_and(|of| of.ends_with(&format!(".{column}")));
        if cleared.iter().any(|(action, one)| refusal.action == Some(*action) && of(&one.column.name)) {
            continue;
        }
        refused = true;
        if error.kind == StoreErrorKind::Denied {
            // The findings about rights name the GRANT for each.
            if !is_denied {
                findings.denied("actions", refusal.to_string(), error.hint.clone());
            }
            continue;
        }
        findings.add(Severity::Error, "actions", refusal.to_string(), error.hint.clone());
    }
    if !refused && snapshot.jobs.advice_only().is_none() && !snapshot.jobs.actions.is_empty() {
        findings.ok("actions", "the database accepts every statement of the actions; none was run".to_owned());
    }
    Ok(())
}

/// Refuses a mapping with neither a requeue nor a fail: it has nothing to reclaim with.
fn is_offered(findings: &mut Findings, snapshot: &Snapshot) {
    let Some(at) = &snapshot.mapping else { return };
    if [Action::Requeue, Action::Fail].iter().all(|action| !snapshot.jobs.actions.contains_key(action)) {
        let detail = format!("{at}: there is neither a requeue nor a fail, so that nothing can be reclaimed");
        let fix = "write [mapping.NAME.action.requeue] or [mapping.NAME.action.fail], see `jobdoctor help mapping`";
        findings.add(Severity::Error, "actions", detail, Some(fix.to_owned()));
    }
}

/// The NOT NULL columns that actions clear.
fn cleared(snapshot: &Snapshot) -> Vec<(Action, Assignment)> {
    let Some(table) = claims_table(snapshot) else { return Vec::new() };
    let clears = |assignment: &&Assignment| {
        matches!(assignment.value.0.as_slice(), [Piece::Text(null)] if null.trim().eq_ignore_ascii_case("null"))
            && table.not_null.contains(&assignment.column.name)
    };
    let offered = snapshot.jobs.actions.iter().filter(|(_, moved)| moved.refused.is_none());
    let all = offered.flat_map(|(action, moved)| assignments(moved).filter(clears).map(|one| (*action, one.clone())));
    all.collect()
}
