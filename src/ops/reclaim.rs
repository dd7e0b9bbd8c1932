//! Prints or executes a plan, and records the run.

use super::OpsError;
use super::apply::apply;
use super::batches::{CarriedOut, Finished, carry_out};
use super::guard::Guard;
use super::plan::Plan;
use super::record::{Cause, run_head};
use super::sweep_lock::LockOptions;
use crate::history::{RecordOptions, Recording};
use crate::model::{Action, RunHead};
use crate::output::{ActionCount, Reclaim, ReclaimSummary, advice};
use crate::policy::Delay;
use crate::store::{Limits, Store};
use std::collections::BTreeMap;

/// What is done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is reported, and nothing is written.
    Plan,
    /// It is carried out in transactions that are rolled back.
    ServerDryRun,
    /// It is carried out.
    Apply,
}

impl Mode {
    /// Whether it needs a writer.
    pub fn writes(self) -> bool {
        self != Mode::Plan
    }
}

/// Whether and within which bounds a plan is executed.
pub struct ApplyOptions<'a> {
    /// The document's name: `jobdoctor.reclaim/v1` or `jobdoctor.sweep/v1`.
    pub schema: &'static str,
    /// What is done with it.
    pub mode: Mode,
    /// What keeps a plan from being executed.
    pub guard: Guard<'a>,
    /// The run's id, which is part of the reason written with each job.
    pub run_id: String,
    /// How much later than now requeued jobs may run.
    pub later: Delay,
    /// Whether to write without pauses, for when all workers are stopped.
    pub fast: bool,
    /// How it uses the sweep lock; `None` for a run without it.
    pub sweep_lock: Option<LockOptions>,
    /// Who runs it, why, and where the run is recorded.
    pub record: RecordOptions,
}

impl ApplyOptions<'_> {
    /// The reason that is written with each job, if the queue keeps its last error.
    pub(super) fn reason(&self, cause: Cause) -> String {
        let words = cause.reason(&self.run_id);
        self.record.reason.as_ref().map_or(words.clone(), |reason| format!("{words}: {reason}"))
    }
}

/// The document of a plan that was printed or executed.
pub type Reclaimed = Finished<Reclaim>;

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
    let refusal = match order.mode {
        Mode::Plan => None,
        Mode::ServerDryRun => order.guard.refusal_of_place(),
        Mode::Apply => order.guard.refusal(&plan, &brake),
    };
    let refused = refusal.map(|refusal| refusal.to_string());
    if let Some(why) = order.guard.wrong_list.as_ref().filter(|_| order.mode != Mode::Apply && !plan.is_empty()) {
        plan.warnings.push(advice::wrong_list(why));
    }
    let planned = plan.len() as u64;
    let identity = plan.identity.take();
    let spec = &plan.claims.spec;
    let head = run_head(&order.record, &order.run_id, plan.store_time, &plan.target, spec, identity, planned);
    let head = RunHead { digest: Some(plan.digest.clone()), ..head };
    let mut recording = Recording::begin(&order.record, head, spec.ledger.is_some());
    let undoable = plan.undoable && recording.is_whole();
    if order.mode == Mode::ServerDryRun {
        recording.keep_nothing();
    }
    let act = |recording: &mut Recording| apply(store, limits, &plan, order, recording);
    let CarriedOut { applied, refused, outcomes, moved, steps, stop, after } =
        carry_out(store, &mut recording, order.mode, refused, planned, act)?;
    let waiting = planned - plan.claims.steps.len() as u64;
    let document = Reclaim {
        schema: order.schema,
        store_time: plan.store_time,
        applied,
        rolled_back: outcomes.is_some() && !applied,
        run_id: recording.run_id().filter(|_| applied),
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
            diagnoses: plan.diagnosed.count,
            by_action: by_action(&plan.by_action, outcomes.is_some().then_some(&moved)),
            outcomes,
        },
        journal: recording.path(),
        undoable: undoable && (!applied || recording.is_whole()),
        refused,
        unique_key: advice::unique_key(&plan.policy, &plan.claims.spec),
        steps: match steps {
            Some(steps) => steps,
            None => plan.take_jobs()?,
        },
        target: plan.target,
        filter: plan.filter,
        digest: plan.digest,
        diagnoses: plan.diagnosed.list,
        warnings: plan.warnings,
        skipped: plan.skipped,
        not_found: plan.not_found,
        verified: None,
    };
    Ok(Finished { document, stop, after, is_recorded: applied && recording.is_kept() })
}

/// How many jobs each action is planned for, and moved; the most frequent first.
fn by_action(planned: &BTreeMap<Action, u64>, moved: Option<&BTreeMap<Action, u64>>) -> Vec<ActionCount> {
    let count = |(action, planned): (&Action, &u64)| ActionCount {
        action: *action,
        planned: *planned,
        moved: moved.map(|moved| moved.get(action).copied().unwrap_or(0)),
    };
    // A fail in the place of a requeue is in no plan.
    let more = moved.into_iter().flat_map(BTreeMap::keys).filter(|action| !planned.contains_key(action));
    let mut counts: Vec<ActionCount> = planned.iter().chain(more.map(|action| (action, &0))).map(count).collect();
    counts.sort_by_key(|count| std::cmp::Reverse((count.moved, count.planned)));
    counts
}
