//! Reverts a run: restores the columns that it wrote, of every job that is unchanged since.

mod plan;

use super::OpsError;
use super::batches::{BatchRunner, CarriedOut, Ended, Finished, Waiting, carry_out};
use super::guard::Guard;
use super::reclaim::Mode;
use super::record::run_head;
use crate::history::{RecordOptions, Recording};
use crate::model::{Action, RecordedStep, Restore, RestoreBatch, RunHead};
use crate::output::{Undo, UndoStep, UndoSummary};
use crate::store::{Limits, Store};
pub use plan::{UndoPlan, undo_plan};

/// Whether and within which bounds a run is reverted.
pub struct UndoOrder<'a> {
    /// False for a dry run.
    pub apply: bool,
    /// What keeps an undo from being executed.
    pub guard: Guard<'a>,
    /// Whether to write without pauses, for when all workers are stopped.
    pub fast: bool,
    /// The id of this run: an undo is a run too.
    pub run_id: String,
    /// Who runs it, why, and where the run is recorded.
    pub record: RecordOptions,
}

/// Prints what an undo would restore, or does it.
///
/// # Errors
/// When it could not be begun; nothing was written then.
pub fn undo(
    store: &dyn Store,
    limits: &Limits,
    mut plan: UndoPlan,
    order: &UndoOrder<'_>,
) -> Result<Finished<Undo>, OpsError> {
    let planned = plan.len();
    let left = plan.left.len() as u64 + plan.summary.unrecorded.unwrap_or(0);
    let refused = if planned == 0 && left > 0 {
        Some(format!("run {} cannot be reverted: its changes are not recorded in full", plan.undoes))
    } else if order.apply {
        order.guard.refusal_of_undo(planned).map(|refusal| refusal.to_string())
    } else {
        None
    };
    let identity = plan.identity.take();
    let head = run_head(&order.record, &order.run_id, plan.store_time, &plan.target, &plan.spec, identity, planned);
    let head = RunHead { undoes: Some(plan.undoes.clone()), ..head };
    let mut recording = Recording::begin(&order.record, head, plan.spec.ledger.is_some());
    let act = |recording: &mut Recording| apply(store, limits, &plan, recording, order.fast);
    let CarriedOut { applied, refused, outcomes, steps, stop, after, .. } =
        carry_out(store, &mut recording, if order.apply { Mode::Apply } else { Mode::Plan }, refused, planned, act)?;
    let document = Undo {
        schema: "jobdoctor.undo/v1",
        store_time: plan.store_time,
        target: plan.target,
        undoes: plan.undoes,
        recorded_in: plan.source.to_owned(),
        applied,
        run_id: recording.run_id(),
        journal: recording.path(),
        undoable: planned > 0 && recording.is_whole(),
        summary: UndoSummary { outcomes, ..plan.summary },
        refused,
        warnings: plan.warnings,
        steps: steps.unwrap_or(plan.jobs),
        left: plan.left,
    };
    Ok(Finished { document, stop, after, is_recorded: recording.is_kept() })
}

/// Restores rows batch by batch. A batch holds one action and one list of columns.
///
/// # Errors
/// When the store cannot be opened for writing. Nothing was written then.
fn apply(
    store: &dyn Store,
    limits: &Limits,
    plan: &UndoPlan,
    recording: &mut Recording,
    fast: bool,
) -> Result<Ended<UndoStep>, OpsError> {
    let mut runner = BatchRunner::begin(store, limits, recording, Mode::Apply, fast)?;
    let mut waiting = Waiting::new();
    for (n, (step, job)) in plan.steps.iter().zip(plan.jobs.iter()).enumerate() {
        match (step, job) {
            (Ok(step), Ok(job)) => {
                let Some(restore) = Restore::of(&step) else { continue };
                let action = step.action;
                let columns: Vec<String> = restore.values.into_iter().map(|(name, _)| name).collect();
                if let Some(batch) = waiting.add((action, columns), (step, (n, job)), runner.rows()) {
                    revert(&mut runner, plan, action, batch);
                }
            }
            (Err(error), _) | (_, Err(error)) => {
                runner.fail(&error);
                break;
            }
        }
    }
    waiting.rest().for_each(|((action, _), batch)| revert(&mut runner, plan, action, batch));
    Ok(runner.finish(plan.len()))
}

fn revert(
    runner: &mut BatchRunner<'_, UndoStep>,
    plan: &UndoPlan,
    action: Action,
    batch: Vec<(RecordedStep, (usize, UndoStep))>,
) {
    let rows: Vec<Restore> = batch.iter().filter_map(|(step, _)| Restore::of(step)).collect();
    let (steps, jobs): (Vec<RecordedStep>, Vec<_>) =
        batch.into_iter().map(|(step, job)| (step.reverted(), job)).unzip();
    runner.batch(&steps, jobs, false, &|_| false, &mut |writer, range, recorder| {
        let rows = rows.get(range).unwrap_or_default();
        writer.restore(&plan.spec, &RestoreBatch { action, rows }, recorder)
    });
}
