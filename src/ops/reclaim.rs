use super::OpsError;
use super::apply::apply;
use super::guard::Guard;
use super::plan::Plan;
use crate::model::Outcome;
use crate::report::{self, Reclaim, ReclaimSummary};
use crate::store::{Limits, Store, StoreError};

/// What is asked about a plan: to look at it, or to execute it, and within which bounds.
pub struct Order<'a> {
    /// The document's name: `jobdoctor.reclaim/v1` or `jobdoctor.sweep/v1`.
    pub schema: &'static str,
    /// False for a dry run.
    pub apply: bool,
    /// What keeps a plan from being executed.
    pub guard: Guard<'a>,
    /// The run's id, which goes into the reason written with each job.
    pub run_id: String,
}

/// The document, and why the run ended early, if it did.
pub struct Reclaimed {
    /// The document.
    pub document: Reclaim,
    /// What stopped it.
    pub stop: Option<StoreError>,
    /// What went wrong beside it: wake-ups that failed.
    pub after: Vec<String>,
}

/// Prints or executes a plan.
///
/// # Errors
/// When the plan could not be begun; nothing was written then.
pub fn reclaim(store: &dyn Store, limits: &Limits, mut plan: Plan, order: &Order<'_>) -> Result<Reclaimed, OpsError> {
    let brake = order.guard.brake(&plan);
    let mut refused = if order.apply { order.guard.refusal(&plan, &brake) } else { None };
    if order.apply && refused.is_none() {
        refused = store.caution().filter(|caution| caution.forbids_writing).map(|caution| caution.refusal());
    }
    let applies = order.apply && refused.is_none();
    let planned = plan.len() as u64;
    let (mut stop, mut after) = (None, Vec::new());
    let (steps, outcomes) = if applies && !plan.is_empty() {
        let reason = format!("jobdoctor: worker presumed dead (run {})", order.run_id);
        let applied = apply(store, limits, &plan, &reason)?;
        let tally = applied.tally();
        let committed = applied.count(Outcome::NotTried) < plan.len() as u64;
        if let (Some(error), false) = (&applied.stop, committed) {
            return Err(OpsError::Store(error.clone()));
        }
        stop = applied.stop;
        after = applied.warnings;
        (applied.steps, Some(tally))
    } else {
        (std::mem::take(&mut plan.jobs), applies.then(Default::default))
    };
    let document = Reclaim {
        schema: order.schema,
        store_time: plan.store_time,
        target: plan.target,
        filter: plan.filter,
        applied: applies,
        run_id: applies.then(|| order.run_id.clone()),
        digest: plan.digest,
        brake: report::Brake { pulled: brake.pulled, why: brake.why, lift: brake.lift },
        summary: ReclaimSummary {
            in_flight: plan.in_flight,
            planned,
            held: plan.held.len() as u64,
            beyond_limit: plan.beyond_limit,
            outcomes,
        },
        refused,
        warnings: plan.warnings,
        steps,
        held: plan.held,
        not_found: plan.not_found,
    };
    Ok(Reclaimed { document, stop, after })
}
