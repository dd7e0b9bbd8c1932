//! Executes steps batch by batch, each a short transaction of its own.

use super::OpsError;
use super::order::{ApplyOptions, Mode};
use super::passes::{Hashes, STEPS};
use super::plan::Plan;
use super::progress::Pace;
use super::spool::Spool;
use crate::history::{BatchRecorder, Counts, Recording};
use crate::model::{Action, BatchReport, Cell, End, EvidenceRow, Key, Outcome, RowError, Step};
use crate::output::format::Lines;
use crate::output::{Diagnosis, LISTED, StepJob};
use crate::policy::{PlannedActions, SkipReason};
use crate::store::{Limits, Store, StoreError, StoreErrorKind, SweepLock, Writer};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Of so many locked rows it is asked who holds them.
const LOCKED: usize = 10;

/// Has the writer execute the steps of a batch, which lie in that range, and gives the numbers of the refused requeues that
/// become fails too.
pub(super) type Act<'a> = dyn FnMut(&mut dyn Writer, &[Step], Range<usize>, &mut BatchRecorder<'_>) -> (BatchReport<StoreError>, Vec<usize>)
    + 'a;

/// A step of a batch, its document, and the place of that in the list.
pub(super) type Planned = (Step, (usize, StepJob));

/// Executes batches. The only place that asks a store for a writer.
pub(super) struct BatchRunner<'a> {
    limits: &'a Limits,
    recording: &'a mut Recording,
    store: &'a dyn Store,
    order: &'a ApplyOptions<'a>,
    /// `None` while the next pass is planned: a snapshot that opens a SQLite file drops the locks of a writer in this
    /// process, and without them another process may delete the log that it writes to.
    writer: Option<Box<dyn Writer>>,
    pace: Pace,
    /// Whether the batch in hand locks the rows of owners.
    locks_owners: bool,
    batches: usize,
    passes: usize,
    tried: Arc<Hashes>,
    spool: Option<Spool>,
    ended: Ended,
}

#[derive(Default)]
pub(super) struct Ended {
    /// The steps of the first pass with their outcomes, in the order of the plan, and of later passes the first that
    /// were not moved.
    pub(super) steps: Vec<(usize, StepJob)>,
    /// The others, for a list that is whole.
    pub(super) rest: Lines<u64>,
    /// Planned steps of all passes by action, and how many of them are of jobs that wait.
    pub(super) by_action: BTreeMap<Action, u64>,
    pub(super) waiting: u64,
    /// What the later plans of an undo skip.
    pub(super) skipped: BTreeMap<SkipReason, u64>,
    pub(super) by_queue: BTreeMap<(Option<String>, Action, Outcome), u64>,
    pub(super) lost: u64,
    /// The causes of the first plan, with what was done about each.
    pub(super) causes: Vec<Diagnosis>,
    /// Steps by outcome; they add up to all steps.
    pub(super) outcomes: Counts,
    pub(super) moved: BTreeMap<Action, u64>,
    /// The first steps that met a lock, each with the key of its owner's row.
    pub(super) locked: Vec<(Key, Option<Cell>)>,
    /// Why it stopped before the end, if it did.
    pub(super) stop: Option<StoreError>,
    pub(super) warnings: Vec<String>,
}

impl<'a> BatchRunner<'a> {
    /// Opens the store for writing, or for what is rolled back; a fast order is for when all workers are stopped.
    pub(super) fn begin(
        store: &'a dyn Store,
        limits: &'a Limits,
        recording: &'a mut Recording,
        order: &'a ApplyOptions<'a>,
        spool: Option<Spool>,
    ) -> Result<BatchRunner<'a>, OpsError> {
        let pace = Pace::new(store.engine(), order.fast);
        let tried = Arc::new(spool.as_ref().map(|spool| spool.tried.clone()).unwrap_or_default());
        let ended = Ended::default();
        let (locks_owners, batches, passes, writer) = (false, 0, 0, None);
        let mut runner = BatchRunner {
            store,
            order,
            limits,
            recording,
            writer,
            pace,
            locks_owners,
            batches,
            passes,
            tried,
            spool,
            ended,
        };
        runner.open()?;
        Ok(runner)
    }

    /// Opens the writer; the first one heeds the minimum interval between sweeps, since later ones follow this run itself.
    pub(super) fn open(&mut self) -> Result<(), OpsError> {
        let mut writer = self.store.writer(self.limits)?;
        if self.order.mode == Mode::ServerDryRun {
            writer.roll_back();
        }
        if let Some(sweep_lock) = &self.order.sweep_lock {
            writer.use_sweep_lock(SweepLock { min_interval: sweep_lock.min_interval.filter(|_| self.passes == 0) });
        }
        self.writer = Some(writer);
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.writer = None;
    }

    /// Takes in the steps of another plan, and returns the place of the first.
    pub(super) fn begin_pass(&mut self, plan: &mut Plan) -> usize {
        let ended = &mut self.ended;
        if self.passes == 0 {
            ended.causes = std::mem::take(&mut plan.diagnosed.list);
        }
        let first = usize::try_from(ended.by_action.values().sum::<u64>()).unwrap_or(usize::MAX);
        for (step, _) in plan.steps() {
            *ended.by_action.entry(step.action).or_default() += 1;
        }
        ended.waiting += plan.parts.iter().skip(1).map(|part| part.steps.len() as u64).sum::<u64>();
        // What a later plan of an undo skips was a step of the first; other plans skip the same jobs again.
        if self.passes > 0 && plan.undoes.is_some() {
            plan.skipped.by_reason.iter().for_each(|(why, jobs)| *ended.skipped.entry(*why).or_default() += jobs);
        }
        self.passes += 1;
        first
    }

    /// True if another pass may begin.
    pub(super) fn goes_on(&self) -> bool {
        self.ended.stop.is_none()
    }

    /// The jobs that have a step behind them, and how many passes there were.
    pub(super) fn tried(&self) -> (Arc<Hashes>, usize) {
        (Arc::clone(&self.tried), self.passes)
    }

    /// Stops the run. Its document is still printed: what is committed must be reported.
    pub(super) fn stop(&mut self, error: OpsError) {
        self.ended.stop.get_or_insert_with(|| match error {
            OpsError::Store(error) => error,
            error => StoreError::new(StoreErrorKind::Other, error.to_string()),
        });
    }

    /// About how long so many jobs take, where pauses set the pace.
    pub(super) fn estimate(&self, jobs: u64) -> Option<(Duration, Duration)> {
        self.pace.estimate(jobs)
    }

    /// How many rows the next batch should have.
    pub(super) fn rows(&self) -> usize {
        self.pace.rows()
    }

    /// Executes steps of one kind, in as many batches as the pace asks for; with each step goes its document, and the
    /// place of that in the list. Requeues that were refused and become fails are given back with the refusal, and not
    /// counted.
    pub(super) fn batch(&mut self, steps: &[Step], jobs: Vec<(usize, StepJob)>, act: &mut Act<'_>) -> Vec<Planned> {
        self.locks_owners = steps.iter().any(|step| matches!(step.evidence_row(), EvidenceRow::Row { .. }));
        // What waited for other steps of its kind may be more than a batch has by now.
        let mut results = Vec::with_capacity(steps.len());
        while results.len() < steps.len() {
            self.pause();
            let end = steps.len().min(results.len() + self.rows());
            results.extend(self.results(steps, results.len()..end, act));
        }
        let mut refused = Vec::new();
        for ((step, (place, mut job)), (result, becomes_fail)) in steps.iter().zip(jobs).zip(results) {
            if becomes_fail && self.ended.stop.is_none() {
                job.error = result.error;
                refused.push((step.clone(), (place, job)));
            } else {
                self.end(step, place, job, result);
            }
        }
        refused
    }

    /// Takes in how a step ended.
    fn end(&mut self, step: &Step, place: usize, mut job: StepJob, result: End) {
        *self.ended.outcomes.entry(result.outcome).or_default() += 1;
        let is_moved = result.outcome == Outcome::Moved;
        if result.outcome == Outcome::Locked && self.ended.locked.len() < LOCKED {
            let owner = match step.evidence_row() {
                EvidenceRow::Row { key, .. } => Some(key.clone()),
                EvidenceRow::None | EvidenceRow::Absent => None,
            };
            self.ended.locked.push((step.key.clone(), owner));
        }
        if is_moved {
            *self.ended.moved.entry(step.action).or_default() += 1;
        }
        // What was moved may be claimed again, or wait for too long: that belongs to the next run.
        Arc::make_mut(&mut self.tried).insert(step.key.exact());
        job.set_end(step, result);
        self.ended.lost += u64::from(job.is_lost());
        let cause = Diagnosis::of_job(&self.ended.causes, &job.job);
        if let Some(cause) = cause.and_then(|n| self.ended.causes.get_mut(n)) {
            let done = PlannedActions::of(job.job.action.filter(|_| is_moved));
            cause.of.done.get_or_insert_default().add(done);
        }
        if let (Some(action), Some(outcome)) = (job.job.action, job.outcome)
            && !job.is_wake_up()
        {
            *self.ended.by_queue.entry((job.job.queue.clone(), action, outcome)).or_default() += 1;
        }
        if self.passes == 1 || (!is_moved && self.ended.steps.len() < STEPS + LISTED) {
            self.ended.steps.push((place, job));
        } else if let Some(spool) = &mut self.spool {
            spool.end(&job);
        }
    }

    /// Executes some steps of a batch; if some row's data makes the commit fail, executes each half separately. Each end
    /// comes with whether the step becomes a fail.
    fn results(&mut self, steps: &[Step], range: Range<usize>, act: &mut Act<'_>) -> Vec<(End, bool)> {
        let in_hand = self.limits.interrupt.begin_batch(range.len());
        if self.ended.stop.is_none() {
            self.ended.stop = self.time_is_up();
        }
        let (None, Some(writer)) = (&self.ended.stop, &mut self.writer) else {
            let not_tried =
                |n: usize| End { error: steps.get(n).and_then(Step::refusal).cloned(), ..End::of(Outcome::NotTried) };
            return range.map(|n| (not_tried(n), false)).collect();
        };
        self.batches += 1;
        let in_batch = steps.get(range.clone()).unwrap_or_default();
        let mut recorder = self.recording.batch(in_batch.first().map(|step| step.action));
        let (done, fails) = act(&mut **writer, in_batch, range.clone(), &mut recorder);
        let is_to_be_split = done.is_to_be_split();
        let results: Vec<End> = in_batch.iter().zip(done.results).map(|(step, end)| instead(step, end)).collect();
        if self.order.mode == Mode::Apply && !is_to_be_split {
            let ended = |as_this| results.iter().filter(|end| end.outcome == as_this).count();
            self.limits.interrupt.end_batch(ended(Outcome::Moved), ended(Outcome::Unknown));
        }
        drop(in_hand);
        recorder.ended(in_batch, &results, &|n| is_to_be_split || fails.contains(&n));
        self.pace.learn(range.len(), done.cost, self.locks_owners);
        if is_to_be_split {
            let half = range.start + range.len() / 2;
            self.pause();
            let mut results = self.results(steps, range.start..half, act);
            self.pause();
            results.extend(self.results(steps, half..range.end, act));
            return results;
        }
        self.ended.stop = done.stop;
        self.ended.warnings.extend(done.warnings);
        results.into_iter().enumerate().map(|(n, end)| (end, fails.contains(&n))).collect()
    }

    /// Leaves the database to others before the next batch, and learns whether they write to it.
    fn pause(&mut self) {
        if self.ended.stop.is_some() {
            return;
        }
        if self.batches > 0 {
            self.limits.interrupt.sleep(self.pace.pause());
        }
        if let Some(writer) = self.writer.as_mut().filter(|_| self.pace.heeds_others()) {
            self.pace.heed(writer.quiet());
        }
    }

    fn time_is_up(&self) -> Option<StoreError> {
        if self.limits.interrupt.is_raised() {
            return Some(StoreError::new(StoreErrorKind::Interrupted, "interrupted"));
        }
        self.limits.left().is_zero().then(|| StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out"))
    }

    /// Ends the run, which did not come to so many jobs.
    pub(super) fn finish(mut self, later: u64) -> Ended {
        if later > 0 {
            *self.ended.outcomes.entry(Outcome::NotTried).or_default() += later;
        }
        if let Some(spool) = self.spool.take() {
            self.ended.rest = spool.ended(&self.tried, later).unwrap_or_else(|error| {
                self.ended.warnings.push(cut_short(&error));
                Lines::default()
            });
        }
        // What was not moved comes first.
        self.ended.steps.sort_by_key(|(place, job)| (job.outcome == Some(Outcome::Moved), *place));
        self.recording.finish(&self.ended.outcomes, self.ended.stop.as_ref().map(|stop| stop.message.clone()));
        self.ended
    }
}

/// The end of a fail in the place of a requeue; any other end as it is.
fn instead(step: &Step, end: End) -> End {
    match (step.refusal(), end.outcome, &end.error) {
        (Some(refusal), Outcome::Moved, _) => End { error: Some(refusal.clone()), ..end },
        (Some(refusal), Outcome::Refused, Some(fail)) => not_failed(refusal, &fail.message),
        (Some(refusal), Outcome::Changed, _) => {
            not_failed(refusal, "it has changed since, or the preset does not fail it")
        }
        _ => end,
    }
}

/// The end of a requeue that a unique key refused, and why the job is not failed either.
pub(super) fn not_failed(refusal: &RowError, why: &str) -> End {
    let message = format!("{}; not failed instead: {why}", refusal.message);
    End::refused(RowError { message, ..refusal.clone() })
}

/// The warning about steps that could not be kept for the list.
pub(super) fn cut_short(error: &io::Error) -> String {
    format!("the list of steps ends early: its temporary file could not be written: {error}")
}
