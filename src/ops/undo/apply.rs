//! Restores rows in batches, each a short transaction, as `ops/apply.rs` does.

use super::UndoPlan;
use crate::history::Entry;
use crate::model::{Action, Outcome, Restore, RestoreBatch, StepResult};
use crate::ops::OpsError;
use crate::ops::apply::{BATCH, PAUSE};
use crate::ops::record::{Recording, ends};
use crate::output::{RowError, Spool, UndoStep};
use crate::store::{Limits, Store, StoreError, StoreErrorKind, Writer};
use std::collections::BTreeMap;
use std::io;

/// How an undo ended.
pub(super) struct Applied {
    /// The steps with their outcomes, in order.
    pub(super) steps: Spool<UndoStep>,
    /// Steps by outcome; they add up to all steps.
    pub(super) outcomes: BTreeMap<Outcome, u64>,
    /// Why it stopped before the end, if it did.
    pub(super) stop: Option<StoreError>,
    /// Warnings after the commits.
    pub(super) warnings: Vec<String>,
}

/// Restores the rows of the plan.
///
/// # Errors
/// When the store cannot be opened for writing. Nothing was written then.
pub(super) fn apply(
    store: &dyn Store,
    limits: &Limits,
    plan: &UndoPlan,
    jobs: &Spool<UndoStep>,
    recording: &mut Recording,
) -> Result<Applied, OpsError> {
    let applied = Applied { steps: Spool::default(), outcomes: BTreeMap::new(), stop: None, warnings: Vec::new() };
    let writer = store.writer(limits)?;
    let mut run = Run { plan, limits, recording, writer, waiting: BTreeMap::new(), batches: 0, applied };
    for (n, (row, job)) in plan.rows.iter().zip(jobs.iter()).enumerate() {
        match (row, job) {
            (Ok((action, restore, entry)), Ok(job)) => run.take(n, action, restore, entry, job),
            (Err(error), _) | (_, Err(error)) => {
                run.fail(&error);
                break;
            }
        }
    }
    Action::ALL.into_iter().for_each(|action| run.flush(action));
    Ok(run.finish(jobs.len() as u64))
}

struct Waiting {
    place: usize,
    restore: Restore,
    entry: Entry,
    job: UndoStep,
}

struct Run<'a> {
    plan: &'a UndoPlan,
    limits: &'a Limits,
    recording: &'a mut Recording,
    writer: Box<dyn Writer>,
    /// Rows that wait for a full batch; a batch holds one action and one set of columns.
    waiting: BTreeMap<Action, Vec<Waiting>>,
    batches: usize,
    applied: Applied,
}

impl Run<'_> {
    fn take(&mut self, place: usize, action: Action, restore: Restore, entry: Entry, job: UndoStep) {
        let names = |restore: &Restore| restore.values.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let others = self.waiting.get(&action).and_then(|waiting| waiting.first());
        if others.is_some_and(|first| names(&first.restore) != names(&restore)) {
            self.flush(action);
        }
        let waiting = self.waiting.entry(action).or_default();
        waiting.push(Waiting { place, restore, entry, job });
        if waiting.len() == BATCH {
            self.flush(action);
        }
    }

    fn flush(&mut self, action: Action) {
        let Some(waiting) = self.waiting.remove(&action).filter(|waiting| !waiting.is_empty()) else { return };
        let (mut rows, mut entries, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
        for one in waiting {
            rows.push(one.restore);
            entries.push(reverted(one.entry));
            jobs.push((one.place, one.job));
        }
        let results = self.results(action, &rows, &entries, &jobs);
        for ((place, mut job), result) in jobs.into_iter().zip(results) {
            *self.applied.outcomes.entry(result.outcome).or_default() += 1;
            job.outcome = Some(result.outcome);
            job.error = result.error.map(RowError::from);
            if let Err(error) = self.applied.steps.push(i64::try_from(place).unwrap_or(i64::MAX), job) {
                self.fail(&error);
            }
        }
    }

    fn fail(&mut self, error: &io::Error) {
        let message = format!("the temporary file of a long list failed: {error}");
        self.applied.stop.get_or_insert_with(|| StoreError::new(StoreErrorKind::Other, message));
    }

    /// Restores a batch; if some row's data makes the commit fail, restores each half separately.
    fn results(
        &mut self,
        action: Action,
        rows: &[Restore],
        entries: &[Entry],
        jobs: &[(usize, UndoStep)],
    ) -> Vec<StepResult> {
        let not_tried = || rows.iter().map(|_| StepResult::of(Outcome::NotTried)).collect();
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
        let numbered = entries.iter().cloned().enumerate().map(|(step, entry)| Entry { step, ..entry });
        let mut recorder = self.recording.batch(numbered.collect());
        let done = self.writer.restore(&self.plan.spec, &RestoreBatch { action, rows }, &mut recorder);
        recorder.committed(&done.results);
        self.recording.ended(ends(jobs.iter().map(|(_, job)| &job.id), &done.results));
        if done.is_to_be_split() {
            let half = rows.len() / 2;
            let (rows, entries, jobs) = (rows.split_at(half), entries.split_at(half), jobs.split_at(half));
            let mut results = self.results(action, rows.0, entries.0, jobs.0);
            results.extend(self.results(action, rows.1, entries.1, jobs.1));
            return results;
        }
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

    fn finish(mut self, planned: u64) -> Applied {
        let counted: u64 = self.applied.outcomes.values().sum();
        let missed = planned.saturating_sub(counted);
        if missed > 0 {
            *self.applied.outcomes.entry(Outcome::NotTried).or_default() += missed;
        }
        self.applied.steps.sort();
        self.recording.finish(&self.applied.outcomes, self.applied.stop.as_ref());
        self.applied
    }
}

/// The record of a step that reverts another: from the state after it to the state before.
fn reverted(entry: Entry) -> Entry {
    Entry {
        state_before: entry.state_after,
        state_after: entry.state_before,
        attempts_before: entry.attempts_after,
        attempts_after: entry.attempts_before,
        rules: Vec::new(),
        row: None,
        ..entry
    }
}
