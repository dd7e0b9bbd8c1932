//! Prints or executes a plan, unless a guard refuses it, and records the run.

use super::OpsError;
use super::apply::apply;
use super::batches::{Ended, cut_short};
use super::order::{ApplyOptions, Mode};
use super::plan::{Plan, ReadyPlan};
use crate::history::{BatchRecorder, RecordOptions, Recording};
use crate::model::{Action, End, LockHolder, Outcome, RunHead, Step, Timestamp};
use crate::output::format::Lines;
use crate::output::{ActionCount, LongList, Outcomes, Reclaim, ReclaimHead, ReclaimSummary, advice};
use crate::preset::Jobs;
use crate::store::{Limits, Recorder, Store, StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// The document of a plan that was printed or executed, and how the run ended.
pub struct Reclaimed {
    pub document: Reclaim,
    pub stop: Option<StoreError>,
    /// Warnings after the commits, such as wake-ups that failed.
    pub after: Vec<String>,
    /// True if `history` knows the run.
    pub is_recorded: bool,
}

/// Prints a plan or executes it, if the mode asks for it, no guard refuses it, the store may be written to and a record
/// can be kept.
///
/// # Errors
/// When the plan could not be begun; nothing was written then.
pub fn reclaim(
    store: &dyn Store,
    limits: &Limits,
    plan: ReadyPlan,
    order: &ApplyOptions<'_>,
) -> Result<Reclaimed, OpsError> {
    let mut plan = plan.into_plan();
    let brake = order.guard.brake(&plan);
    if let Some(why) = order.guard.wrong_list.as_ref().filter(|_| order.mode != Mode::Apply && !plan.is_empty()) {
        plan.warnings.push(advice::wrong_list(why));
    }
    let head = run_head(&order.record, &order.run_id, &plan);
    let mut recording = Recording::begin(&order.record, head, plan.jobs.queue.ledger.is_some());
    let undoable = plan.undoable && recording.is_whole();
    if order.mode == Mode::ServerDryRun {
        recording.keep_nothing();
    }
    let mut refused = order.refused(store, &plan, &brake, &recording);
    let mut is_executed = order.mode.writes() && refused.is_none();
    // Of the whole run.
    let (planned, waiting) = (plan.by_action.clone(), plan.total() - plan.own_steps());
    let mut ended = Ended { by_action: planned.clone(), waiting, ..Ended::default() };
    if is_executed && !plan.is_empty() {
        ended = apply(store, limits, &mut plan, order, &mut recording)?;
        let is_untouched = ended.outcomes.keys().all(|outcome| *outcome == Outcome::NotTried);
        match ended.stop.take() {
            // The required journal failed, so the first batch was rolled back and nothing was written.
            Some(error) if is_untouched && error.kind == StoreErrorKind::Refused => {
                (is_executed, refused) = (false, Some(error.message));
                ended.clear_outcomes();
            }
            Some(error) if is_untouched => return Err(error.into()),
            stop => ended.stop = stop,
        }
    } else {
        ended.list(&mut plan, order.mode);
    }
    ended.skipped.iter().for_each(|(why, jobs)| *plan.skipped.by_reason.entry(*why).or_default() += jobs);
    let applied = is_executed && order.mode == Mode::Apply;
    let locked_by = locked_by(store, limits, &plan.jobs, &mut ended);
    let items = std::mem::take(&mut ended.steps).into_iter().map(|(_, job)| job).collect();
    let steps = LongList { items, rest: std::mem::take(&mut ended.rest) };
    // What no pass came to is planned all the same.
    let ended_so: u64 = ended.outcomes.values().sum();
    if planned.values().sum::<u64>() == ended_so {
        (ended.by_action, ended.waiting) = (planned, waiting);
    }
    let total = ended.by_action.values().sum::<u64>().max(ended_so);
    let later = if is_executed && !applied { 0 } else { plan.parts.iter().map(|part| part.later).sum() };
    let beyond_limit = plan.beyond_limit() - later + total - steps.count() as u64;
    ended.warnings.extend(recording.warning().filter(|_| is_executed));
    let head = ReclaimHead {
        schema: order.schema,
        store_time: plan.store_time,
        target: plan.target,
        filter: plan.filter,
        applied,
        rolled_back: is_executed && !applied,
        run_id: recording.run_id().filter(|_| applied),
        undoes: plan.undoes,
        digest: plan.digest,
        brake: brake.into(),
        delay_seconds: order.later.delay.map(|delay| delay.as_secs_f64()),
        jitter_seconds: order.later.jitter.map(|jitter| jitter.as_secs_f64()),
        confirmed_after_seconds: plan.confirmed_after.map(|apart| apart.as_secs_f64()),
        journal: recording.path(),
        undoable: undoable && (!applied || recording.is_whole()),
        refused,
        unique_key: advice::unique_key(&plan.policy, &plan.jobs),
        warnings: plan.warnings,
        not_found: plan.not_found,
        verified: None,
    };
    let summary = ReclaimSummary {
        in_flight: plan.in_flight,
        older: plan.older,
        planned: total,
        waiting: ended.waiting,
        by_age: plan.by_age,
        skipped: plan.skipped.len(),
        skipped_by_reason: plan.skipped.by_reason.clone(),
        unknown_zone: plan.skipped.unknown_zone,
        beyond_limit,
        diagnoses: plan.diagnosed.count,
        by_action: by_action(&ended.by_action, is_executed.then_some(&ended.moved)),
        outcomes: is_executed.then(|| Outcomes::of(&ended.outcomes)),
        locked_by,
    };
    let document = Reclaim {
        head,
        summary,
        diagnoses: if ended.causes.is_empty() { plan.diagnosed.list } else { ended.causes },
        steps,
        skipped: plan.skipped.into_first(),
        by_queue: ended.by_queue,
        lost: ended.lost,
    };
    let is_recorded = applied && recording.is_kept();
    Ok(Reclaimed { document, stop: ended.stop, after: ended.warnings, is_recorded })
}

impl Ended {
    /// Lists the steps of a plan of which none was tried.
    fn list(&mut self, plan: &mut Plan, mode: Mode) {
        self.steps = plan.take_jobs().into_iter().enumerate().collect();
        // What was to be applied has outcomes there.
        if let Some(spool) = plan.spool.take().filter(|_| mode == Mode::Plan) {
            self.rest = spool.planned().unwrap_or_else(|error| {
                self.warnings.push(cut_short(&error));
                Lines::default()
            });
        }
    }

    /// Takes the outcomes away, for when the first batch was refused and rolled back.
    fn clear_outcomes(&mut self) {
        self.steps.iter_mut().for_each(|(_, job)| job.outcome = None);
        self.outcomes.clear();
        self.rest = Lines::default();
        self.causes.iter_mut().for_each(|cause| cause.of.done = None);
    }
}

/// Who holds the first rows that were locked, by one statement after the run.
fn locked_by(store: &dyn Store, limits: &Limits, jobs: &Jobs, ended: &mut Ended) -> Vec<LockHolder> {
    let mut rows = std::mem::take(&mut ended.locked);
    if rows.is_empty() || limits.interrupt.is_raised() {
        return Vec::new();
    }
    rows.sort_by_key(|(_, owner)| owner.is_none());
    store.reader(limits, &[]).and_then(|mut reader| reader.row_locks(jobs, &rows)).unwrap_or_else(|error| {
        ended.warnings.push(format!("who holds the locks could not be read: {error}"));
        Vec::new()
    })
}

/// The most causes in the record of a run.
const RECORDED: usize = 10;

/// The head of the record of a run that carries out that plan.
fn run_head(options: &RecordOptions, run_id: &str, plan: &Plan) -> RunHead {
    RunHead {
        run_id: run_id.to_owned(),
        store_time: plan.store_time,
        command: options.command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        actor: options.actor.clone(),
        host: options.host.clone(),
        reason: options.reason.clone(),
        external_id: options.external_id.clone(),
        undoes: plan.undoes.as_ref().map(|undoes| undoes.run_id.clone()),
        target: plan.target.clone(),
        place: options.place.clone(),
        columns: plan.jobs.row.iter().map(|column| column.name.clone()).collect(),
        digest: Some(plan.digest.clone()),
        planned: Some(plan.total()),
        causes: plan.diagnosed.list.iter().take(RECORDED).map(|cause| cause.recorded(plan.store_time)).collect(),
    }
}

impl Recorder for BatchRecorder<'_> {
    fn head(&self) -> Option<&RunHead> {
        BatchRecorder::head(self)
    }

    fn intent(&mut self, at: Timestamp, steps: &[Step<End>]) -> Result<(), StoreError> {
        let refused = |(message, hint): (String, &str)| StoreError::new(StoreErrorKind::Refused, message).hint(hint);
        BatchRecorder::intent(self, at, steps).map_err(refused)
    }
}

/// How many jobs each action is planned for, and moved; the most frequent first.
pub(super) fn by_action(planned: &BTreeMap<Action, u64>, moved: Option<&BTreeMap<Action, u64>>) -> Vec<ActionCount> {
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
