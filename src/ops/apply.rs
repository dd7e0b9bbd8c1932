//! Executes a plan in batches.

use super::OpsError;
use super::batches::{BatchRunner, Ended, Planned, not_failed};
use super::order::{ApplyOptions, Cause};
use super::passes::Bound;
use super::plan::{Part, Plan};
use super::progress::{UnderWay, Work};
use super::sweep_lock::apply_with_lock;
use crate::history::Recording;
use crate::model::{Action, Batch, Cell, End, FailCode, Key, Outcome, RowError, Step, Write};
use crate::output::StepJob;
use crate::policy::Delay;
use crate::preset::Jobs;
use crate::store::{Limits, Store, Writer, chance};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Executes a plan batch by batch, each a short transaction of its own, and then plans of the jobs that it had no room
/// for. Killing it at any point leaves whole batches, and running it again is safe, because every step carries its
/// precondition. The steps are moved out of the plan.
///
/// # Errors
/// When the store cannot be opened for writing. Nothing was written then.
pub(super) fn apply(
    store: &dyn Store,
    limits: &Limits,
    plan: &mut Plan,
    order: &ApplyOptions<'_>,
    recording: &mut Recording,
) -> Result<Ended, OpsError> {
    let runner = BatchRunner::begin(store, limits, recording, order, plan.spool.take())?;
    let requeued = plan.by_action.get(&Action::Requeue).copied().unwrap_or(0);
    let (progress, began) = (plan.progress.clone(), Some(plan.store_time));
    let only = Some(Arc::new(std::mem::take(&mut plan.run)));
    let run_id = plan.undoes.as_ref().map(|undoes| undoes.run_id.clone());
    let mut applying = Applying {
        order,
        limits,
        waits: Waits::new(order.later, usize::try_from(requeued).unwrap_or(usize::MAX)),
        first_until: Some(order.sweep_lock.map_or_else(Instant::now, |sweep_lock| sweep_lock.until)),
        under_way: UnderWay::begin(&*progress, Work::Applying(plan.total(), runner.estimate(plan.total()))),
        runner,
    };
    let mut later = applying.pass(plan);
    while let Some(next) = order.next.filter(|_| later.iter().any(|jobs| *jobs > 0) && applying.runner.goes_on()) {
        let (tried, passes) = applying.runner.tried();
        let (only, run_id) = (only.clone(), run_id.clone());
        let (in_any_order, left) = (!order.later.is_asked(), Some(later.clone()));
        applying.runner.close();
        let plan = next(Bound { began, tried, only, left, passes, in_any_order, run_id, ..Bound::default() });
        later = match plan.and_then(|plan| applying.runner.open().map(|()| plan)) {
            Ok(plan) => applying.pass(&mut plan.into_plan()),
            Err(error) => {
                applying.runner.stop(error);
                break;
            }
        };
    }
    Ok(applying.runner.finish(if order.next.is_some() { later.iter().sum() } else { 0 }))
}

/// What all steps of a batch have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct BatchKind {
    action: Action,
    cause: Cause,
    /// The columns that are restored; none where the preset's statements act.
    columns: Vec<Arc<str>>,
}

impl BatchKind {
    fn of(jobs: &Jobs, step: &Step, job: &StepJob) -> BatchKind {
        let rows = step.restores();
        let columns = rows.iter().flat_map(|row| &row.values).map(|value| value.column.clone()).collect();
        BatchKind { action: step.action, cause: Cause::of(jobs, job), columns }
    }
}

/// A number that is about in the order of the keys: of the first column, the integer or the first bytes.
fn about(key: &Key) -> i64 {
    let bytes = match key.0.first() {
        Some(Cell::Integer(n)) => return *n,
        Some(cell) => cell.to_bytes(),
        None => return 0,
    };
    // On Postgres all keys come as text.
    if let Some(n) = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok()) {
        return n;
    }
    bytes.iter().chain(&[0; 8]).take(7).fold(0, |number, byte| number << 8 | i64::from(*byte))
}

/// The waits of a run, dealt out batch by batch.
struct Waits {
    later: Delay,
    /// Requeued jobs of the whole run, and how many of them have a wait.
    of: usize,
    dealt: usize,
}

impl Waits {
    /// For a run that requeues so many jobs.
    fn new(later: Delay, of: usize) -> Waits {
        Waits { later, of, dealt: 0 }
    }

    /// For the next batch, of so many jobs.
    fn next(&mut self, action: Action, count: usize) -> Vec<Duration> {
        if action != Action::Requeue {
            return Vec::new();
        }
        let waits = self.later.waits(self.dealt, count, self.of, chance);
        self.dealt += count;
        waits
    }
}

struct Applying<'a> {
    order: &'a ApplyOptions<'a>,
    limits: &'a Limits,
    waits: Waits,
    /// Until when the first batch may wait for the sweep lock; `None` after it.
    first_until: Option<Instant>,
    under_way: UnderWay<'a>,
    runner: BatchRunner<'a>,
}

impl Applying<'_> {
    /// Executes the steps of a plan, and returns how many jobs of each part it had no room for.
    fn pass(&mut self, plan: &mut Plan) -> Vec<u64> {
        let mut first = self.runner.begin_pass(plan);
        for part in &mut plan.parts {
            // Steps that wait until there is a batch of their kind.
            let mut begun: BTreeMap<BatchKind, Vec<Planned>> = BTreeMap::new();
            let mut steps: Vec<(usize, (Step, StepJob))> = (first..).zip(std::mem::take(&mut part.steps)).collect();
            first += steps.len();
            // Each page of the table is visited once; but delayed jobs run in the order of the plan.
            if !self.order.later.is_asked() {
                steps.sort_by_cached_key(|(_, (step, _))| about(&step.key));
            }
            for (place, (step, job)) in steps {
                let kind = BatchKind::of(&part.jobs, &step, &job);
                let batch = begun.entry(kind.clone()).or_default();
                batch.push((step, (place, job)));
                if batch.len() >= self.runner.rows()
                    && let Some(batch) = begun.remove(&kind)
                {
                    self.batch(part, &kind, batch);
                }
            }
            begun.into_iter().for_each(|(kind, batch)| self.batch(part, &kind, batch));
        }
        plan.parts.iter().map(|part| part.later).collect()
    }

    /// Executes a batch, then fails the jobs whose requeue a unique key refused, if that is planned and the job that holds
    /// the key was seen.
    fn batch(&mut self, part: &Part, kind: &BatchKind, batch: Vec<Planned>) {
        let (action, jobs) = (kind.action, &part.jobs);
        // Jobs that were waiting get no delay or jitter.
        let waits = if jobs.waited() { Vec::new() } else { self.waits.next(action, batch.len()) };
        let (steps, documents): (Vec<Step>, Vec<(usize, StepJob)>) = batch.into_iter().unzip();
        let reason = self.order.reason(kind.cause);
        let (limits, first_until, under_way) = (self.limits, &mut self.first_until, &self.under_way);
        let refused = self.runner.batch(&steps, documents, &mut |writer, steps, range, recorder| {
            let waits = waits.get(range).unwrap_or_default();
            let until = first_until.take().unwrap_or(limits.deadline);
            let batch = Batch { action, steps, reason: &reason, waits };
            let mut done = apply_with_lock(writer, jobs, &batch, recorder, limits, until);
            if !done.is_to_be_split() {
                let moved = done.results.iter().filter(|result| result.outcome == Outcome::Moved).count();
                under_way.batch(steps.len(), moved);
            }
            let fails = if done.stop.is_none() { to_fail(writer, jobs, steps, &mut done.results) } else { Vec::new() };
            (done, fails)
        });
        let Some(fail) = jobs.actions.get(&Action::Fail).filter(|_| !refused.is_empty()) else { return };
        let failed = |(mut step, (place, job)): Planned| {
            step.action = Action::Fail;
            step.state_after.clone_from(&fail.to.name);
            step.attempts_after = job.job.attempts.and_then(|n| fail.attempts.after(n, job.job.max_attempts));
            if let Write::Act { fail_code, refusal, .. } = &mut step.stage {
                (*fail_code, *refusal) = (FailCode::KeyTaken, job.error.clone());
            }
            (step, (place, job))
        };
        let kind = BatchKind { action: Action::Fail, ..kind.clone() };
        self.batch(part, &kind, refused.into_iter().map(failed).collect());
    }
}

/// The numbers of the requeues that a unique key refused and that become fails, since another job is seen to hold that key;
/// the refusals of the others say why they do not.
fn to_fail(writer: &mut dyn Writer, jobs: &Jobs, steps: &[Step], results: &mut [End]) -> Vec<usize> {
    let is_refused = |(step, end): (&Step, &End)| {
        let error = end.error.as_ref().filter(|_| end.outcome == Outcome::Refused);
        step.fails_if_refused() && error.is_some_and(RowError::is_of_unique_key)
    };
    let all = steps.iter().zip(results.iter()).enumerate();
    let mut refused: Vec<usize> = all.filter(|(_, one)| is_refused(*one)).map(|(n, _)| n).collect();
    if refused.is_empty() {
        return refused;
    }
    let keys: Vec<Key> = refused.iter().filter_map(|n| Some(steps.get(*n)?.key.clone())).collect();
    let (held, why) = match writer.key_holders(jobs, &keys) {
        Ok(held) => (held, "no job that holds its key was seen".to_owned()),
        Err(error) => (Vec::new(), format!("jobdoctor could not ask which job holds its key ({})", error.message)),
    };
    let mut place = 0;
    refused.retain(|n| {
        let Some(Some(refusal)) = results.get(*n).map(|end| end.error.clone()) else { return false };
        let is_held = held.iter().any(|(of, held)| *of == place && held.constraint == refusal.constraint);
        place += 1;
        if let Some(end) = results.get_mut(*n).filter(|_| !is_held) {
            *end = not_failed(&refusal, &why);
        }
        is_held
    });
    refused
}
