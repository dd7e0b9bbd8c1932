//! Asks the database whether it would accept the statements of the actions, without writing.

use super::Findings;
use super::schema::claims_table;
use crate::model::Action;
use crate::ops::OpsError;
use crate::ops::record::Cause;
use crate::ops::session::Snapshot;
use crate::output::Severity;
use crate::preset::{Assignment, Piece, StepSpec};
use crate::store::StoreErrorKind;

/// A run id of the usual length.
const A_RUN: &str = "20260101000000-000000";

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
    for refusal in snapshot.reader.explain_actions(&snapshot.spec, &Cause::Dead.reason(A_RUN))? {
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
    if !refused && snapshot.spec.advice_only().is_none() && !snapshot.spec.actions.is_empty() {
        findings.ok("actions", "the database accepts every statement of the actions; none was run".to_owned());
    }
    Ok(())
}

/// Refuses a mapping with neither a requeue nor a fail: it has nothing to reclaim with.
fn is_offered(findings: &mut Findings, snapshot: &Snapshot) {
    let Some(at) = &snapshot.mapping else { return };
    if [Action::Requeue, Action::Fail].iter().all(|action| !snapshot.spec.actions.contains_key(action)) {
        findings.add(
            Severity::Error,
            "actions",
            format!("{at}: there is neither a requeue nor a fail, so that nothing can be reclaimed"),
            Some(
                "write [mapping.NAME.action.requeue] or [mapping.NAME.action.fail], see `jobdoctor help mapping`"
                    .to_owned(),
            ),
        );
    }
}

/// The NOT NULL columns that actions clear.
fn cleared(snapshot: &Snapshot) -> Vec<(Action, Assignment)> {
    let Some(table) = claims_table(snapshot) else { return Vec::new() };
    let clears = |assignment: &&Assignment| {
        matches!(assignment.value.0.as_slice(), [Piece::Text(null)] if null.trim().eq_ignore_ascii_case("null"))
            && table.not_null.contains(&assignment.column.name)
    };
    let mut list = Vec::new();
    for (action, moved) in snapshot.spec.actions.iter().filter(|(_, moved)| moved.refused.is_none()) {
        for step in &moved.steps {
            if let StepSpec::Update(assignments) = step {
                list.extend(assignments.iter().filter(clears).map(|assignment| (*action, assignment.clone())));
            }
        }
    }
    list
}
