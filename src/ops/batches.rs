//! Executes steps batch by batch, each a short transaction of its own.

use super::OpsError;
use super::pace::Pace;
use super::reclaim::Mode;
use crate::history::{BatchRecorder, Counts, Recording};
use crate::model::{Action, BatchReport, End, Outcome, Step};
use crate::output::{Spool, StepJob};
use crate::store::{Limits, Store, StoreError, StoreErrorKind, Writer};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// Items that wait until there is a batch of their kind.
pub(super) struct Waiting<K, T>(BTreeMap<K, Vec<T>>);

impl<K: Ord + Clone, T> Waiting<K, T> {
    pub(super) fn new() -> Waiting<K, T> {
        Waiting(BTreeMap::new())
    }

    /// Adds an item, and returns the batch of so many `rows` that it completes.
    pub(super) fn add(&mut self, kind: K, item: T, rows: usize) -> Option<Vec<T>> {
        let waiting = self.0.entry(kind.clone()).or_default();
        waiting.push(item);
        if waiting.len() >= rows { self.0.remove(&kind) } else { None }
    }

    /// The batches that were not completed, in the order of their kinds.
    pub(super) fn rest(self) -> impl Iterator<Item = (K, Vec<T>)> {
        self.0.into_iter()
    }
}

/// Has the writer execute the steps of a batch that lie in that range.
pub(super) type Act<'a> =
    dyn FnMut(&mut dyn Writer, Range<usize>, &mut BatchRecorder<'_>) -> BatchReport<StoreError> + 'a;

/// A step of a batch, its document, and the place of that in the list.
pub(super) type Planned = (Step, (usize, StepJob));

/// Executes batches. The only place that asks a store for a writer.
pub(super) struct BatchRunner<'a> {
    limits: &'a Limits,
    recording: &'a mut Recording,
    writer: Box<dyn Writer>,
    pace: Pace,
    /// Whether the batch in hand locks the rows of owners.
    locks_owners: bool,
    batches: usize,
    ended: Ended,
}

#[derive(Default)]
pub(super) struct Ended {
    /// The steps with their outcomes, in the order of the plan.
    pub(super) steps: Spool<StepJob>,
    /// Steps by outcome; they add up to all steps.
    pub(super) outcomes: Counts,
    pub(super) moved: BTreeMap<Action, u64>,
    /// Why it stopped before the end, if it did.
    pub(super) stop: Option<StoreError>,
    /// Warnings after the commits.
    pub(super) warnings: Vec<String>,
}

impl<'a> BatchRunner<'a> {
    /// Opens the store for writing, or for what is rolled back; `fast` is for when all workers are stopped.
    pub(super) fn begin(
        store: &dyn Store,
        limits: &'a Limits,
        recording: &'a mut Recording,
        mode: Mode,
        fast: bool,
    ) -> Result<BatchRunner<'a>, OpsError> {
        let (mut writer, pace) = (store.writer(limits)?, Pace::new(store.engine(), fast));
        if mode == Mode::ServerDryRun {
            writer.roll_back();
        }
        Ok(BatchRunner { limits, recording, writer, pace, locks_owners: false, batches: 0, ended: Ended::default() })
    }

    /// The writer, to be prepared before the first batch.
    pub(super) fn writer(&mut self) -> &mut dyn Writer {
        &mut *self.writer
    }

    /// How many rows the next batch should have.
    pub(super) fn rows(&self) -> usize {
        self.pace.rows()
    }

    /// Executes steps of one kind, in as many batches as the pace asks for; with each step goes its document, and the
    /// place of that in the list. `locks_owners` is true where the rows of owners are locked meanwhile. Steps that are
    /// `tried_again` are given back with their place among the steps, and not counted.
    pub(super) fn batch(
        &mut self,
        steps: &[Step],
        jobs: Vec<(usize, StepJob)>,
        locks_owners: bool,
        tried_again: &dyn Fn(&End) -> bool,
        act: &mut Act<'_>,
    ) -> Vec<(usize, (usize, StepJob), End)> {
        self.locks_owners = locks_owners;
        // What waited for other steps of its kind may be more than a batch has by now.
        let mut results = Vec::with_capacity(steps.len());
        while results.len() < steps.len() {
            let end = steps.len().min(results.len() + self.rows());
            results.extend(self.results(steps, results.len()..end, tried_again, act));
        }
        let mut again = Vec::new();
        for ((n, (step, (place, mut job))), result) in steps.iter().zip(jobs).enumerate().zip(results) {
            if self.ended.stop.is_none() && tried_again(&result) {
                again.push((n, (place, job), result));
                continue;
            }
            *self.ended.outcomes.entry(result.outcome).or_default() += 1;
            if result.outcome == Outcome::Moved {
                *self.ended.moved.entry(step.action).or_default() += 1;
            }
            job.set_end(step, result);
            if let Err(error) = self.ended.steps.push(i64::try_from(place).unwrap_or(i64::MAX), job) {
                self.fail(&error);
            }
        }
        again
    }

    /// Stops the run. Its document is still printed: what is committed must be reported.
    pub(super) fn fail(&mut self, error: &io::Error) {
        let place = std::env::temp_dir();
        let message = format!("the temporary file of a long plan in {} failed: {error}", place.display());
        self.ended.stop.get_or_insert_with(|| StoreError::new(StoreErrorKind::Other, message));
    }

    /// Executes some steps of a batch; if some row's data makes the commit fail, executes each half separately.
    fn results(
        &mut self,
        steps: &[Step],
        range: Range<usize>,
        tried_again: &dyn Fn(&End) -> bool,
        act: &mut Act<'_>,
    ) -> Vec<End> {
        if self.ended.stop.is_none() && self.batches > 0 {
            self.limits.interrupt.sleep(self.pace.pause());
        }
        let in_hand = self.limits.interrupt.begin_batch(range.len());
        if self.ended.stop.is_none() {
            self.ended.stop = self.time_is_up();
        }
        if self.ended.stop.is_some() {
            return range.map(|_| End::of(Outcome::NotTried)).collect();
        }
        self.batches += 1;
        let in_batch = steps.get(range.clone()).unwrap_or_default();
        let mut recorder = self.recording.batch(in_batch.first().map(|step| step.action));
        let done = act(&mut *self.writer, range.clone(), &mut recorder);
        drop(in_hand);
        let is_to_be_split = done.is_to_be_split();
        let again = done.results.iter().enumerate().filter(|(_, end)| is_to_be_split || tried_again(end));
        let again = again.map(|(n, _)| n).collect();
        recorder.ended(in_batch.iter().zip(&done.results).map(|(step, end)| step.at(end.clone())).collect(), again);
        self.pace.learn(range.len(), done.took, self.locks_owners);
        if is_to_be_split {
            let half = range.start + range.len() / 2;
            let mut results = self.results(steps, range.start..half, tried_again, act);
            results.extend(self.results(steps, half..range.end, tried_again, act));
            return results;
        }
        self.ended.stop = done.stop;
        self.ended.warnings.extend(done.warnings);
        done.results
    }

    fn time_is_up(&self) -> Option<StoreError> {
        if self.limits.interrupt.is_raised() {
            return Some(StoreError::new(StoreErrorKind::Interrupted, "interrupted"));
        }
        self.limits.left().is_zero().then(|| StoreError::new(StoreErrorKind::TimedOut, "the time limit ran out"))
    }

    /// Ends the run of so many planned steps: those that came into no batch were not tried.
    pub(super) fn finish(mut self, planned: u64) -> Ended {
        let counted: u64 = self.ended.outcomes.values().sum();
        let missed = planned.saturating_sub(counted);
        if missed > 0 {
            *self.ended.outcomes.entry(Outcome::NotTried).or_default() += missed;
        }
        self.ended.steps.sort();
        self.recording.finish(&self.ended.outcomes, self.ended.stop.as_ref().map(|stop| stop.message.clone()));
        self.ended
    }
}
