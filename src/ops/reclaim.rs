//! Prints or executes a plan, and records the run.

use super::OpsError;
use super::apply::apply;
use super::guard::{Guard, refusal_of_place};
use super::plan::Plan;
use super::record::{About, Cause, Record, Recording, target};
use super::sweep_lock::LockOptions;
use crate::model::Outcome;
use crate::output::{Reclaim, ReclaimSummary, advice};
use crate::policy::Delay;
use crate::store::{Limits, Store, StoreError, StoreErrorKind};

/// Whether and within which bounds a plan is executed.
pub struct ApplyOptions<'a> {
    /// The document's name: `jobdoctor.reclaim/v1` or `jobdoctor.sweep/v1`.
    pub schema: &'static str,
    /// False for a dry run.
    pub apply: bool,
    /// What keeps a plan from being executed.
    pub guard: Guard<'a>,
    /// The run's id, which is part of the reason written with each job.
    pub run_id: String,
    /// How much later than now requeued jobs may run.
    pub later: Delay,
    /// How it uses the sweep lock; `None` for a run without it.
    pub sweep_lock: Option<LockOptions>,
    /// Who runs it, why, and where the run is recorded.
    pub record: Record,
}

impl ApplyOptions<'_> {
    /// The reason that is written with each job.
    pub(super) fn reason(&self, cause: Cause) -> String {
        self.record.words(cause, &self.run_id)
    }
}

/// The document, and why the run ended early, if it did.
pub struct Reclaimed {
    /// The document.
    pub document: Reclaim,
    /// What stopped it.
    pub stop: Option<StoreError>,
    /// Warnings after the commits, such as wake-ups that failed.
    pub after: Vec<String>,
    /// True if `history` knows the run.
    pub is_recorded: bool,
}

/// Prints or executes a plan.
///
/// # Errors
/// When the plan could not be begun; nothing was written then.
pub fn reclaim(
    store: &dyn Store,
    limits: &Limits,
    mut plan: Plan,
    order: &ApplyOptions<'_>,
) -> Result<Reclaimed, OpsError> {
    let brake = order.guard.brake(&plan);
    let refusal = order.guard.refusal(&plan, &brake).filter(|_| order.apply);
    let mut refused = refusal.map(|refusal| refusal.to_string());
    if order.apply && refused.is_none() {
        refused = refusal_of_place(store);
    }
    if let Some(why) = order.guard.wrong_list.as_ref().filter(|_| !order.apply && !plan.is_empty()) {
        plan.warnings.push(advice::wrong_list(why));
    }
    let planned = plan.len() as u64;
    let waiting = planned - plan.claims.steps.len() as u64;
    let about = About {
        run_id: order.run_id.clone(),
        time: plan.store_time,
        target: target(&plan.target, &plan.claims.spec, plan.identity.take()),
        columns: plan.claims.spec.row.iter().map(|column| column.name.clone()).collect(),
        undoes: None,
        digest: Some(plan.digest.clone()),
        planned,
    };
    let mut recording = Recording::begin(&order.record, about, plan.claims.spec.ledger.is_some());
    if order.apply && refused.is_none() && !plan.is_empty() {
        refused = recording.refusal();
    }
    let mut applies = order.apply && refused.is_none();
    let (mut stop, mut after) = (None, Vec::new());
    let (steps, outcomes) = if applies && !plan.is_empty() {
        let applied = apply(store, limits, &plan, order, &mut recording)?;
        let tally = applied.tally();
        let committed = applied.count(Outcome::NotTried) < plan.len() as u64;
        match applied.stop {
            // The required journal failed, so the first batch was rolled back and nothing was written.
            Some(error) if !committed && error.kind == StoreErrorKind::Refused => {
                applies = false;
                refused = Some(error.message);
                (plan.take_jobs()?, None)
            }
            Some(error) if !committed => return Err(OpsError::Store(error)),
            ended => {
                stop = ended;
                after = applied.warnings;
                after.extend(recording.warning());
                (applied.steps, Some(tally))
            }
        }
    } else {
        (plan.take_jobs()?, applies.then(Default::default))
    };
    let document = Reclaim {
        schema: order.schema,
        store_time: plan.store_time,
        target: plan.target,
        filter: plan.filter,
        applied: applies,
        run_id: recording.run_id(),
        digest: plan.digest,
        brake: brake.into(),
        delay_seconds: order.later.delay.map(|delay| delay.as_secs_f64()),
        jitter_seconds: order.later.jitter.map(|jitter| jitter.as_secs_f64()),
        confirmed_after_seconds: plan.confirmed_after.map(|apart| apart.as_secs_f64()),
        summary: ReclaimSummary {
            in_flight: plan.in_flight,
            planned,
            waiting,
            skipped: plan.skipped.len() as u64,
            beyond_limit: plan.beyond_limit,
            outcomes,
        },
        journal: recording.path(),
        undoable: plan.undoable && recording.keeps() && recording.is_whole(),
        refused,
        warnings: plan.warnings,
        steps,
        skipped: plan.skipped,
        not_found: plan.not_found,
        verified: None,
    };
    Ok(Reclaimed { document, stop, after, is_recorded: recording.is_kept() })
}
