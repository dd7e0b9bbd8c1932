//! The writer for both engines: the four steps of a batch.

use super::execute::{ActionContext, act_on, differing, lock, restored, set_back, wait};
use super::record::{Recorder, change, images, record};
use super::savepoints::{BatchMode, Failure, with_savepoints};
use super::sweep_lock::{SweepLock, acquire};
use super::transaction::{Ending, Work, in_transaction, settle, stopped};
use super::verify::{evidence_rows, guarded, open, read_again, refuse_shared_keys, set, verify};
use crate::model::{Action, Batch, BatchReport, End, Key, Outcome, RowError, Step};
use crate::preset::{ActionSpec, Column, Jobs};
use crate::store::questions::key_holders;
use crate::store::session::{Commit, Session};
use crate::store::sql::{self, Statement};
use crate::store::{StoreError, StoreErrorKind, Writer};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(in crate::store) struct SqlWriter<S> {
    session: S,
    sweep_lock: Option<SweepLock>,
    ending: Ending,
}

impl<S> SqlWriter<S> {
    /// A writer without the sweep lock.
    pub(in crate::store) fn on(session: S) -> SqlWriter<S> {
        SqlWriter { session, sweep_lock: None, ending: Ending::Commit }
    }
}

impl<S: Session> Writer for SqlWriter<S> {
    fn apply(&mut self, jobs: &Jobs, batch: &Batch<'_>, recorder: &mut dyn Recorder) -> BatchReport<StoreError> {
        let writing = match Writing::of(jobs, batch) {
            Ok(writing) => writing,
            Err(error) => return stopped(batch.steps.len(), error),
        };
        let (sweep_lock, ending) = (self.sweep_lock, self.ending);
        let mut is_committed = false;
        let mut report = settle(batch.steps.len(), |mode| {
            let done = in_transaction(&mut self.session, &jobs.queue.schema, ending, |session| {
                if let Some(sweep_lock) = sweep_lock {
                    let now = session.clock().map_err(Failure::Store)?;
                    acquire(session, jobs, sweep_lock, now).map_err(Failure::Store)?;
                }
                work(session, jobs, &writing, batch, mode, recorder)
            });
            is_committed = ending == Ending::Commit && done.as_ref().is_ok_and(|report| report.stop.is_none());
            done
        });
        if is_committed {
            // From its first commit on, this run is itself the last sweep.
            self.sweep_lock.iter_mut().for_each(|sweep_lock| sweep_lock.min_interval = None);
            if let Writing::Act(_) = writing {
                report.warnings.extend(wake(&mut self.session, jobs, batch, &report.results));
            }
        }
        report
    }

    fn quiet(&mut self) -> Duration {
        self.session.quiet()
    }

    fn roll_back(&mut self) {
        self.ending = Ending::RollBack;
    }

    fn key_holders(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(usize, RowError)>, StoreError> {
        self.session.begin(&jobs.queue.schema)?;
        let now = self.session.clock();
        let held = now.and_then(|now| {
            key_holders(&mut |asked| self.session.query(asked), jobs, keys, sql::Occasion::at(now, ""))
        });
        self.session.rollback();
        held
    }

    fn use_sweep_lock(&mut self, sweep_lock: SweepLock) {
        self.sweep_lock = Some(sweep_lock);
    }
}

/// How the rows of a batch are written.
enum Writing<'s> {
    Act(&'s ActionSpec),
    Restore(Vec<&'s Column>),
}

impl<'s> Writing<'s> {
    fn of(jobs: &'s Jobs, batch: &Batch<'_>) -> Result<Writing<'s>, StoreError> {
        if let Some(columns) = restored(jobs, batch)? {
            return Ok(Writing::Restore(columns));
        }
        let action = jobs.actions.get(&batch.action).filter(|action| action.refused.is_none());
        let message = || format!("preset {} has no {}", jobs.queue.preset, batch.action);
        action.map(Writing::Act).ok_or_else(|| StoreError::new(StoreErrorKind::Unfit, message()))
    }

    /// The columns of a row that are recorded; `None` if nothing short of the queue's own knowledge would revert it.
    fn recorded(&self, jobs: &'s Jobs, action: Action) -> Option<Vec<&'s Column>> {
        match self {
            Writing::Act(_) => jobs.recorded(action),
            Writing::Restore(columns) => Some(columns.clone()),
        }
    }
}

/// Steps one to three, inside the transaction: verify and lock, act, record.
fn work<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    writing: &Writing<'_>,
    batch: &Batch<'_>,
    mode: &BatchMode,
    recorder: &mut dyn Recorder,
) -> Result<Work, Failure> {
    let mut results = evidence_rows(session, jobs, batch)?;
    let columns = writing.recorded(jobs, batch.action);
    let mut before = match writing {
        Writing::Act(action) => {
            let images = verify(session, jobs, action, batch, columns.as_deref(), &mut results)?;
            read_again(session, jobs, batch, &mut results)?;
            images
        }
        Writing::Restore(columns) => lock(session, jobs, columns, batch, &mut results)?,
    };
    let is_restored = matches!(writing, Writing::Restore(_));
    let columns = columns.filter(|_| recorder.head().is_some() || is_restored);
    let all: Vec<&Key> = batch.steps.iter().map(|step| &step.key).collect();
    refuse_shared_keys(session, jobs, &all, &mut results)?;
    guarded(session, jobs, &all, &mut results)?;
    let now = session.clock()?;
    let act = |session: &mut S, rows: &[usize], again: bool, recorded: Option<&[&Column]>| match writing {
        Writing::Act(action) => {
            let context = ActionContext { occasion: sql::Occasion::at(now, batch.reason), again, recorded };
            act_on(session, jobs, action, batch, rows, &context)
        }
        Writing::Restore(columns) => set_back(session, jobs, columns, batch, rows, again).map(|()| BTreeMap::new()),
    };
    // One look at the rows serves the check and the record.
    let is_acting = matches!(writing, Writing::Act(action) if !action.steps.is_empty());
    let recorded = columns.as_deref().filter(|_| is_acting && *mode == BatchMode::Together && sql::checks_rows(jobs));
    let mut seen = None;
    match mode {
        BatchMode::Together => {
            let looked = act(session, &open(&results), false, recorded).map_err(Failure::of_rows)?;
            seen = recorded.map(|_| looked);
        }
        BatchMode::Savepoints { left_out, is_row_by_row } => {
            for (n, error) in left_out {
                set(&mut results, *n, End::refused(error.clone()));
            }
            let mut act = |session: &mut S, rows: &[usize], again| act(session, rows, again, None).map(drop);
            for (n, result) in with_savepoints(session, &mut act, *is_row_by_row, open(&results))? {
                set(&mut results, n, result);
            }
        }
    }
    let moved = open(&results);
    let mut after = match &columns {
        Some(columns) => {
            let keys: Vec<&Key> = moved.iter().filter_map(|n| batch.steps.get(*n)).map(|step| &step.key).collect();
            let images = seen.map_or_else(|| images(session, jobs, columns, &keys, None), Ok)?;
            images.into_iter().filter_map(|(at, image)| Some((*moved.get(at)?, image))).collect()
        }
        None => BTreeMap::new(),
    };
    let warnings = if is_restored { differing(batch, &moved, &after) } else { Vec::new() };
    let names: Vec<Arc<str>> = columns.iter().flatten().map(|column| column.name.as_str().into()).collect();
    let steps: Vec<Step<End>> = moved
        .iter()
        .filter_map(|n| {
            let images = before.remove(n).zip(after.remove(n));
            let row = images.map(|(before, after)| change(&names, before, after));
            let step = batch.steps.get(*n)?;
            let end = End { row, error: step.refusal().cloned(), ..End::of(Outcome::Unknown) };
            Some(step.at(end.without_message()))
        })
        .collect();
    record(session, jobs, recorder, now, &steps)?;
    let moved = || End::of(Outcome::Moved);
    Ok((results.into_iter().map(|result| result.unwrap_or_else(moved)).collect(), warnings))
}

/// Step four, after the commit: wakes the workers of each queue that got jobs back to run now. A failure is only a
/// warning.
fn wake<S: Session>(session: &mut S, jobs: &Jobs, batch: &Batch<'_>, results: &[End]) -> Vec<String> {
    if !matches!(batch.action, Action::Requeue | Action::Wake) {
        return Vec::new();
    }
    let mut queues: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for (n, (step, result)) in batch.steps.iter().zip(results).enumerate() {
        if result.outcome == Outcome::Moved && wait(batch, n).is_zero() {
            *queues.entry(step.queue.as_deref()).or_default() += 1;
        }
    }
    let statements =
        queues.iter().flat_map(|(queue, moved)| sql::notifications(jobs, session.dialect(), *queue, *moved));
    let statements: Vec<Statement> = statements.collect();
    if statements.is_empty() {
        return Vec::new();
    }
    match send(session, jobs, &statements) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!("waking the workers failed, they will poll: {error}")],
    }
}

/// Sends them in a transaction of its own.
fn send<S: Session>(session: &mut S, jobs: &Jobs, statements: &[Statement]) -> Result<(), StoreError> {
    session.begin(&jobs.queue.schema)?;
    for statement in statements {
        if let Err(error) = session.query(statement) {
            session.rollback();
            return Err(error);
        }
    }
    match session.commit() {
        Commit::Done => Ok(()),
        Commit::Failed(error) | Commit::Unknown(error) => Err(error),
    }
}
