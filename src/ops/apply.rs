//! Executes a plan in batches. Only this file and `undo/apply.rs` ask a store for a writer.

use super::OpsError;
use super::delay::Waits;
use super::plan::Plan;
use super::progress::{UnderWay, Work};
use super::reclaim::ApplyOptions;
use super::record::{Cause, Recording, ends, entries};
use super::sweep_lock::apply_with_lock;
use crate::model::{Action, Batch, Outcome, Step, StepResult};
use crate::output::{self, RowError, Spool, StepJob};
use crate::preset::QueueSpec;
use crate::store::{Limits, Store, StoreError, StoreErrorKind, Writer};
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// Rows a batch: few enough that locks are held for less than 50 ms (measured: 18 ms at 1,000 rows, 229 ms at 50,000).
pub(super) const BATCH: usize = 500;
/// The pause between two batches, in which waiting workers get their turn.
pub(super) const PAUSE: Duration = Duration::from_millis(5);

/// How a plan ended.
pub struct Applied {
    /// The steps with their outcomes, in the order of the plan.
    pub steps: Spool<StepJob>,
    /// Steps by outcome; they add up to all steps.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Why it stopped before the end, if it did.
    pub stop: Option<StoreError>,
    /// Warnings after the commits.
    pub warnings: Vec<String>,
}

/// Executes a plan batch by batch, each a short transaction of its own. Killing it at any point leaves whole batches, and
/// running it again is safe, because every step carries its precondition.
///
/// # Errors
/// When the store cannot be opened for writing. Nothing was written then.
pub(super) fn apply(
    store: &dyn Store,
    limits: &Limits,
    plan: &Plan,
    order: &ApplyOptions<'_>,
    recording: &mut Recording,
) -> Result<Applied, OpsError> {
    let mut run = Run {
        plan,
        spec: &plan.claims.spec,
        order,
        waits: Waits::new(order.later, plan.claims.steps.iter())?,
        recording,
        limits,
        writer: store.writer(limits)?,
        waiting: BTreeMap::new(),
        batches: 0,
        first_until: order.sweep_lock.map_or_else(Instant::now, |sweep_lock| sweep_lock.until),
        under_way: UnderWay::begin(&*plan.progress, Work::Applying(plan.len() as u64)),
        applied: Applied { steps: Spool::default(), outcomes: BTreeMap::new(), stop: None, warnings: Vec::new() },
    };
    if let Some(sweep_lock) = &order.sweep_lock {
        sweep_lock.begin(&mut *run.writer);
    }
    let mut first = 0;
    for part in plan.parts() {
        run.spec = &part.spec;
        for (n, (step, job)) in part.steps.iter().zip(part.jobs.iter()).enumerate() {
            match (step, job) {
                (Ok(step), Ok(job)) => run.take(first + n, step, job),
                (Err(error), _) | (_, Err(error)) => {
                    run.fail(&error);
                    break;
                }
            }
        }
        run.flush_all();
        first += part.steps.len();
    }
    Ok(run.finish())
}

/// A place in the plan, with its step and the job as documents show it.
type Waiting = (usize, (Step, StepJob));

struct Run<'a> {
    plan: &'a Plan,
    /// The spec of the part being executed.
    spec: &'a QueueSpec,
    order: &'a ApplyOptions<'a>,
    waits: Waits,
    recording: &'a mut Recording,
    limits: &'a Limits,
    writer: Box<dyn Writer>,
    /// Steps that wait for a full batch; a batch holds one action and one cause.
    waiting: BTreeMap<(Action, Cause), Vec<Waiting>>,
    batches: usize,
    /// How long the first batch may wait for the sweep lock.
    first_until: Instant,
    under_way: UnderWay<'a>,
    applied: Applied,
}

impl Run<'_> {
    fn take(&mut self, n: usize, step: Step, job: StepJob) {
        let kind = (step.action, Cause::of(self.spec, &job));
        let waiting = self.waiting.entry(kind).or_default();
        waiting.push((n, (step, job)));
        if waiting.len() == BATCH {
            self.flush(kind);
        }
    }

    fn flush_all(&mut self) {
        for action in Action::ALL {
            Cause::ALL.into_iter().for_each(|cause| self.flush((action, cause)));
        }
    }

    fn flush(&mut self, kind: (Action, Cause)) {
        let Some(planned) = self.waiting.remove(&kind).filter(|planned| !planned.is_empty()) else { return };
        let (places, (steps, jobs)): (Vec<usize>, (Vec<Step>, Vec<StepJob>)) = planned.into_iter().unzip();
        let results = self.results(kind, &steps, &jobs);
        for ((n, mut job), result) in places.into_iter().zip(jobs).zip(results) {
            *self.applied.outcomes.entry(result.outcome).or_default() += 1;
            job.outcome = Some(result.outcome);
            job.error = result.error.map(RowError::from);
            if let Err(error) = self.applied.steps.push(i64::try_from(n).unwrap_or(i64::MAX), job) {
                self.fail(&error);
            }
        }
    }

    /// Stops the run. Its document is still printed: what is committed must be reported.
    fn fail(&mut self, error: &io::Error) {
        let message = format!("the temporary file of a long plan failed: {error}");
        self.applied.stop.get_or_insert_with(|| StoreError::new(StoreErrorKind::Other, message));
    }

    fn finish(mut self) -> Applied {
        let counted: u64 = self.applied.outcomes.values().sum();
        let missed = (self.plan.len() as u64).saturating_sub(counted);
        if missed > 0 {
            *self.applied.outcomes.entry(Outcome::NotTried).or_default() += missed;
        }
        self.applied.steps.sort();
        self.recording.finish(&self.applied.outcomes, self.applied.stop.as_ref());
        self.applied
    }

    fn results(&mut self, kind: (Action, Cause), steps: &[Step], jobs: &[StepJob]) -> Vec<StepResult> {
        // Jobs that were waiting get no delay or jitter.
        let waits = if self.spec.waits { Vec::new() } else { self.waits.next(kind.0, steps.len()) };
        self.tried(kind, steps, jobs, &waits)
    }

    /// Applies a batch; if some row's data makes the commit fail, applies each half separately.
    fn tried(
        &mut self,
        (action, cause): (Action, Cause),
        steps: &[Step],
        jobs: &[StepJob],
        waits: &[Duration],
    ) -> Vec<StepResult> {
        let not_tried = || steps.iter().map(|_| StepResult::of(Outcome::NotTried)).collect();
        if self.applied.stop.is_some() {
            return not_tried();
        }
        if let Some(stop) = self.time_is_up() {
            self.applied.stop = Some(stop);
            return not_tried();
        }
        if self.batches > 0 {
            std::thread::sleep(PAUSE);
        }
        self.batches += 1;
        let reason = self.order.reason(cause);
        let batch = Batch { action, steps, reason: &reason, waits };
        let mut recorder = self.recording.batch(entries(steps, jobs));
        let until = if self.batches == 1 { self.first_until } else { self.limits.deadline };
        let done = apply_with_lock(&mut *self.writer, self.spec, &batch, &mut recorder, self.limits, until);
        recorder.committed(&done.results);
        if action != Action::Wake {
            self.recording.ended(ends(jobs.iter().map(|job| &job.job.id), &done.results));
        }
        if done.is_to_be_split() {
            let half = steps.len() / 2;
            let (steps, jobs, waits) =
                (steps.split_at(half), jobs.split_at(half), waits.split_at(half.min(waits.len())));
            let mut results = self.tried((action, cause), steps.0, jobs.0, waits.0);
            results.extend(self.tried((action, cause), steps.1, jobs.1, waits.1));
            return results;
        }
        self.under_way.batch(steps.len(), done.results.iter().filter(|r| r.outcome == Outcome::Moved).count());
        self.applied.stop = done.stop;
        self.applied.warnings.extend(done.warnings);
        done.results
    }

    fn time_is_up(&self) -> Option<StoreError> {
        if self.limits.interrupt.is_raised() {
            return Some(StoreError::new(StoreErrorKind::Interrupted, "interrupted"));
        }
        self.limits.left().is_zero().then(|| StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out"))
    }
}

impl Applied {
    /// How many steps had that outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }

    /// The counts for a document.
    pub fn tally(&self) -> output::Outcomes {
        output::Outcomes::of(&self.outcomes)
    }
}
