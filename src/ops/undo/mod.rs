//! Reverts a run: restores the columns that it wrote, of every job that is unchanged since.

mod apply;
mod plan;

use super::guard::{Guard, refusal_of_place};
use super::history::Records;
use super::record::{About, Record, Recording, target};
use super::{OpsError, Snapshot};
use crate::model::Outcome;
use crate::output::{Outcomes, Undo, advice};
use crate::store::{Limits, Store, StoreError, StoreErrorKind};
use apply::{Applied, apply};
pub use plan::{UndoPlan, undo_plan};

/// Whether and within which bounds a run is reverted.
pub struct UndoOrder<'a> {
    /// False for a dry run.
    pub apply: bool,
    /// What keeps an undo from being executed.
    pub guard: Guard<'a>,
    /// The id of this run: an undo is a run too.
    pub run_id: String,
    /// Who runs it, why, and where the run is recorded.
    pub record: Record,
}

/// The document, and why the run ended early, if it did.
pub struct Undone {
    /// The document.
    pub document: Undo,
    /// What stopped it.
    pub stop: Option<StoreError>,
    /// Warnings after the commits.
    pub after: Vec<String>,
}

/// Prints what an undo would restore, or does it.
///
/// # Errors
/// When it could not be begun; nothing was written then.
pub fn undo(store: &dyn Store, limits: &Limits, mut plan: UndoPlan, order: &UndoOrder<'_>) -> Result<Undone, OpsError> {
    let planned = plan.jobs.len() as u64;
    let left = plan.left.len() as u64 + plan.summary.unrecorded.unwrap_or(0);
    let mut refused = (planned == 0 && left > 0)
        .then(|| format!("run {} cannot be reverted: its changes are not recorded in full", plan.undoes));
    if order.apply && refused.is_none() {
        refused = order.guard.refusal_of_undo(planned).map(|refusal| refusal.to_string());
        refused = refused.or_else(|| refusal_of_place(store));
    }
    let about = About {
        run_id: order.run_id.clone(),
        time: plan.store_time,
        target: target(&plan.target, &plan.spec, plan.identity.take()),
        columns: plan.spec.row.iter().map(|column| column.name.clone()).collect(),
        undoes: Some(plan.undoes.clone()),
        digest: None,
        planned,
    };
    let mut recording = Recording::begin(&order.record, about, plan.spec.ledger.is_some());
    if order.apply && refused.is_none() && planned > 0 {
        refused = recording.refusal();
    }
    let mut applies = order.apply && refused.is_none();
    let (mut stop, mut after, mut outcomes) = (None, Vec::new(), applies.then(Outcomes::default));
    let mut steps = std::mem::take(&mut plan.jobs);
    if applies && planned > 0 {
        let Applied { steps: ended, outcomes: counts, stop: stopped, warnings } =
            apply(store, limits, &plan, &steps, &mut recording)?;
        let not_tried = counts.get(&Outcome::NotTried).copied().unwrap_or(0);
        match stopped {
            Some(error) if not_tried == planned && error.kind == StoreErrorKind::Refused => {
                (applies, refused, outcomes) = (false, Some(error.message), None);
            }
            Some(error) if not_tried == planned => return Err(OpsError::Store(error)),
            ended_early => {
                stop = ended_early;
                after = warnings;
                after.extend(recording.warning());
                outcomes = Some(Outcomes::of(&counts));
                steps = ended;
            }
        }
    }
    plan.summary.outcomes = outcomes;
    let document = Undo {
        schema: "jobdoctor.undo/v1",
        store_time: plan.store_time,
        target: plan.target,
        undoes: plan.undoes,
        recorded_in: plan.source.to_owned(),
        applied: applies,
        run_id: recording.run_id(),
        journal: recording.path(),
        undoable: planned > 0 && recording.keeps() && recording.is_whole(),
        summary: plan.summary,
        refused,
        warnings: plan.warnings,
        steps,
        left: plan.left,
    };
    Ok(Undone { document, stop, after })
}

/// The snapshot that an undo compares with.
fn snapshot<'r>(records: &'r mut Records<'_>) -> Result<&'r mut Snapshot, OpsError> {
    records.snapshot.as_deref_mut().ok_or_else(|| OpsError::usage("no database is at hand", advice::NAME_DATABASE))
}
