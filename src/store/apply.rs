//! Applying a batch, the same on every engine: verify and lock, act, record, commit.

use super::acting::{Saying, is_of_a_row, row_error};
use super::apart::{Swept, apart};
use super::conflict::Conflicts;
use super::record::{Recorder, changes, images, record};
use super::session::{Commit, Session, query_count};
use super::spread::{act_on, wait};
use super::sql::{self, Statement};
use super::sweep_lock::SweepLock;
use super::{StoreError, StoreErrorKind, Writer};
use crate::model::{
    Action, Batch, BatchReport, Cell, EvidenceRow, Key, Outcome, Precondition, RestoreBatch, RowError, StepResult,
    Timestamp,
};
use crate::spec::{ActionSpec, OwnerRowSpec, QueueSpec};
use std::collections::{BTreeMap, BTreeSet};

/// What an engine adds to a [`Session`] so that it can be written through.
pub(super) trait WriteSession: Session {
    /// Whether other sessions may be writing while our transaction is open; then evidence rows must be locked.
    fn shares_writes(&self) -> bool;
}

/// See the module.
pub(super) struct SqlWriter<S> {
    pub(super) session: S,
    /// What keeps its batches apart from those of other runs, if that was asked for.
    pub(super) sweep_lock: Option<SweepLock>,
}

impl<S> SqlWriter<S> {
    /// A writer without the sweep lock.
    pub(super) fn on(session: S) -> SqlWriter<S> {
        SqlWriter { session, sweep_lock: None }
    }
}

impl<S: WriteSession> Writer for SqlWriter<S> {
    fn apply(&mut self, spec: &QueueSpec, batch: &Batch<'_>, recorder: &mut dyn Recorder) -> BatchReport<StoreError> {
        let not_tried = || batch.steps.iter().map(|_| StepResult::of(Outcome::NotTried)).collect::<Vec<_>>();
        let Some(moved) = spec.actions.get(&batch.action).filter(|moved| moved.refused.is_none()) else {
            let error =
                StoreError::new(StoreErrorKind::Unfit, format!("preset {} has no {}", spec.preset, batch.action));
            return BatchReport { results: not_tried(), stop: Some(error), warnings: Vec::new() };
        };
        let mut way = Way::Together;
        let mut conflicts = Conflicts::default();
        let stop = |error| BatchReport { results: not_tried(), stop: Some(error), warnings: Vec::new() };
        loop {
            match self.transaction(spec, moved, batch, &way, recorder) {
                Ok(results) => {
                    let warnings = self.wake(spec, batch, &results);
                    return BatchReport { results, stop: None, warnings };
                }
                Err(Failure::RowData(_)) if way == Way::Together => way = Way::APART,
                Err(Failure::Swept(swept)) => way = way.after(swept),
                Err(Failure::Store(error)) if conflicts.may_try_again(&error) => {}
                Err(Failure::AtCommit(error)) => return at_commit(&error, batch.steps.len()),
                Err(Failure::RowData(error) | Failure::Store(error)) => return stop(error),
                Err(Failure::CommitUnknown(end)) => {
                    let (results, error) = *end;
                    return BatchReport { results, stop: Some(error), warnings: Vec::new() };
                }
            }
        }
    }

    fn use_sweep_lock(&mut self, sweep_lock: SweepLock) {
        self.sweep_lock = Some(sweep_lock);
    }

    fn restore(
        &mut self,
        spec: &QueueSpec,
        batch: &RestoreBatch<'_>,
        recorder: &mut dyn Recorder,
    ) -> BatchReport<StoreError> {
        self.set_back(spec, batch, recorder)
    }
}

/// How the verified rows are acted on.
#[derive(PartialEq, Eq)]
enum Way {
    /// In one go.
    Together,
    /// Behind savepoints, because one of them is refused; without those that take the whole transaction with them, which are
    /// known by then.
    Apart { left_out: BTreeMap<usize, RowError>, is_row_by_row: bool },
}

impl Way {
    const APART: Way = Way::Apart { left_out: BTreeMap::new(), is_row_by_row: false };

    /// How to go on once the database has given up a whole transaction.
    fn after(self, swept: Swept) -> Way {
        let mut left_out = match self {
            Way::Together => BTreeMap::new(),
            Way::Apart { left_out, .. } => left_out,
        };
        match swept {
            Swept::One(n, error) => drop(left_out.insert(n, error)),
            Swept::OneOfMany => {}
        }
        Way::Apart { left_out, is_row_by_row: true }
    }
}

pub(super) enum Failure {
    /// One row's data is in the way.
    RowData(StoreError),
    /// One row's data is in the way, and the database has said so only as it was to commit: no savepoint tells which row.
    AtCommit(StoreError),
    /// A row's data made the database give up the whole transaction, the rows before it included.
    Swept(Swept),
    /// Nothing was written.
    Store(StoreError),
    /// It may have been written.
    CommitUnknown(Box<(Vec<StepResult>, StoreError)>),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.kind == StoreErrorKind::RowData { Failure::RowData(error) } else { Failure::Store(error) }
    }
}

impl Failure {
    /// That of a commit which the database has refused.
    pub(super) fn of_commit(error: StoreError) -> Failure {
        if error.kind == StoreErrorKind::RowData { Failure::AtCommit(error) } else { Failure::Store(error) }
    }
}

/// What became of a batch of so many rows whose commit was refused because of a row: alone, that row is known; of several, each
/// is to be tried again among fewer.
pub(super) fn at_commit(error: &StoreError, rows: usize) -> BatchReport<StoreError> {
    let result = if rows == 1 { StepResult::refused(row_error(error)) } else { StepResult::of(Outcome::NotTried) };
    BatchReport { results: vec![result; rows], stop: None, warnings: Vec::new() }
}

impl<S: WriteSession> SqlWriter<S> {
    fn transaction(
        &mut self,
        spec: &QueueSpec,
        moved: &ActionSpec,
        batch: &Batch<'_>,
        way: &Way,
        recorder: &mut dyn Recorder,
    ) -> Result<Vec<StepResult>, Failure> {
        let now = self.session.begin(&spec.schema)?;
        let acquired = self.acquire_sweep_lock(spec, now).map_err(Failure::Store);
        let worked = acquired.and_then(|()| self.work(spec, moved, batch, way, now, recorder));
        let results = match worked {
            Ok(results) => results,
            Err(failure) => {
                self.session.rollback();
                return Err(failure);
            }
        };
        match self.session.commit() {
            Commit::Done => {
                self.forget_min_interval();
                Ok(results)
            }
            Commit::Failed(error) => {
                self.session.rollback();
                Err(Failure::of_commit(error))
            }
            Commit::Unknown(error) => {
                let unknown = |result: StepResult| match result.outcome {
                    Outcome::Moved => StepResult::of(Outcome::Unknown),
                    _ => result,
                };
                let results = results.into_iter().map(unknown).collect();
                Err(Failure::CommitUnknown(Box::new((results, error))))
            }
        }
    }

    fn work(
        &mut self,
        spec: &QueueSpec,
        moved: &ActionSpec,
        batch: &Batch<'_>,
        way: &Way,
        now: Timestamp,
        recorder: &mut dyn Recorder,
    ) -> Result<Vec<StepResult>, Failure> {
        let mut results = self.evidence_rows(spec, batch)?;
        self.verify(spec, moved, batch, &mut results)?;
        self.read_again(spec, batch, &mut results)?;
        let all: Vec<&Key> = batch.steps.iter().map(|step| &step.key).collect();
        self.refuse_shared_keys(spec, &all, &mut results)?;
        self.guarded(spec, &all, &mut results)?;
        let recorded = spec.recorded(batch.action).filter(|_| recorder.keeps());
        let before = match &recorded {
            Some(columns) if !open(&results).is_empty() => images(&mut self.session, spec, columns, &all, None)?,
            _ => BTreeMap::new(),
        };
        let saying = Saying { now, reason: batch.reason, again: false };
        match way {
            Way::Together => {
                let acted = act_on(&mut self.session, spec, moved, batch, &open(&results), &saying);
                acted.map_err(|error| if is_of_a_row(&error) { Failure::RowData(error) } else { error.into() })?;
            }
            Way::Apart { left_out, is_row_by_row } => {
                let left_out = left_out.iter().map(|(n, error)| (*n, StepResult::refused(error.clone())));
                left_out.for_each(|(n, result)| set(&mut results, n, result));
                let rows: Vec<usize> = open(&results);
                for (n, result) in apart(&mut self.session, spec, moved, batch, &saying, *is_row_by_row, rows)? {
                    set(&mut results, n, result);
                }
            }
        }
        let moved = open(&results);
        let after = match &recorded {
            Some(columns) => {
                let keys: Vec<&Key> = moved.iter().filter_map(|n| batch.steps.get(*n)).map(|s| &s.key).collect();
                images(&mut self.session, spec, columns, &keys, None)?
            }
            None => BTreeMap::new(),
        };
        let changes = changes(recorded.as_deref().unwrap_or_default(), &before, &after, &moved);
        record(&mut self.session, spec, recorder, now, &changes)?;
        Ok(results.into_iter().map(|result| result.unwrap_or_else(|| StepResult::of(Outcome::Moved))).collect())
    }

    /// Locks the owners' rows that verdicts rested on, and settles the steps whose evidence row is not what it was.
    fn evidence_rows(&mut self, spec: &QueueSpec, batch: &Batch<'_>) -> Result<Vec<Option<StepResult>>, StoreError> {
        let mut results: Vec<Option<StepResult>> = batch.steps.iter().map(|_| None).collect();
        // Where nobody else can write while we do, the precondition itself, which covers the owner's row, is proof enough.
        let can_lock = |row: &&OwnerRowSpec| row.can_lock && self.session.shares_writes();
        let Some(row) = spec.owner.row.as_ref().filter(can_lock) else { return Ok(results) };
        let mut keys: BTreeMap<String, Key> = BTreeMap::new();
        for step in batch.steps {
            if let EvidenceRow::Row { key, .. } = &step.evidence_row {
                let key = Key(vec![key.clone()]);
                keys.insert(key.exact(), key);
            }
        }
        let dialect = self.session.dialect();
        let keys: Vec<&Key> = keys.values().collect();
        let locked = self.images(&sql::evidence_rows(spec, dialect, row, &keys), &keys)?;
        let missed = keys.iter().any(|key| !locked.contains_key(&key.exact()));
        let seen = if missed {
            self.images(&sql::evidence_reread(spec, dialect, row, &keys), &keys)?
        } else {
            BTreeMap::new()
        };
        let absent = batch.steps.iter().any(|step| step.evidence_row == EvidenceRow::Absent);
        let returning = absent && query_count(&mut self.session, &sql::evidence_writers(spec, dialect, row))? > 0;
        for (n, step) in batch.steps.iter().enumerate() {
            let outcome = match &step.evidence_row {
                EvidenceRow::None => None,
                EvidenceRow::Absent => returning.then_some(Outcome::Locked),
                EvidenceRow::Row { key, image } => {
                    let key = Key(vec![key.clone()]).exact();
                    match (locked.get(&key), seen.get(&key)) {
                        (Some(now), _) => (now != image).then_some(Outcome::Changed),
                        (None, Some(now)) if now == image => Some(Outcome::Locked),
                        (None, _) => Some(Outcome::Changed),
                    }
                }
            };
            if let Some(outcome) = outcome {
                set(&mut results, n, StepResult::of(outcome));
            }
        }
        Ok(results)
    }

    fn images(&mut self, statement: &Statement, keys: &[&Key]) -> Result<BTreeMap<String, Precondition>, StoreError> {
        if keys.is_empty() {
            return Ok(BTreeMap::new());
        }
        let rows = self.session.query(statement)?;
        let pair = |row: Vec<Cell>| match row.as_slice() {
            [key, image] => Some((Key(vec![key.clone()]).exact(), Precondition(image.to_text().unwrap_or_default()))),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(pair).collect())
    }

    /// Locks the rows whose precondition is still equal, and tells apart what does not come back.
    fn verify(
        &mut self,
        spec: &QueueSpec,
        moved: &ActionSpec,
        batch: &Batch<'_>,
        results: &mut [Option<StepResult>],
    ) -> Result<(), StoreError> {
        let open = open(results);
        if open.is_empty() {
            return Ok(());
        }
        let dialect = self.session.dialect();
        let statement = sql::verify(spec, dialect, batch.action, moved.locks_for_update, &wanted(batch, &open));
        let verified: BTreeSet<usize> =
            self.session.query(&statement)?.iter().filter_map(|row| position(row, &open)).collect();
        let missing: Vec<usize> = open.into_iter().filter(|n| !verified.contains(n)).collect();
        let standing = self.standing(spec, batch, &missing)?;
        for n in missing {
            let outcome = match standing.get(&n) {
                None => Outcome::Gone,
                Some(false) => Outcome::Changed,
                Some(true) => Outcome::Locked,
            };
            set(results, n, StepResult::of(outcome));
        }
        Ok(())
    }

    /// Whether these steps' rows are still what was judged, read without a lock; a row that does not exist is left out.
    fn standing(
        &mut self,
        spec: &QueueSpec,
        batch: &Batch<'_>,
        numbers: &[usize],
    ) -> Result<BTreeMap<usize, bool>, StoreError> {
        let mut standing = BTreeMap::new();
        if numbers.is_empty() {
            return Ok(standing);
        }
        let statement = sql::reread(spec, self.session.dialect(), batch.action, &wanted(batch, numbers));
        for row in self.session.query(&statement)? {
            if let Some(n) = position(&row, numbers) {
                *standing.entry(n).or_default() |= matches!(row.get(1), Some(Cell::Integer(1)));
            }
        }
        Ok(standing)
    }

    /// Reads the evidence that cannot be locked again, now that the jobs are locked: an owner's row that did not exist, and signs
    /// of life in a view or a sub-select.
    fn read_again(
        &mut self,
        spec: &QueueSpec,
        batch: &Batch<'_>,
        results: &mut [Option<StepResult>],
    ) -> Result<(), StoreError> {
        let open = open(results);
        let is_absent = |n: &usize| batch.steps.get(*n).is_some_and(|step| step.evidence_row == EvidenceRow::Absent);
        let is_unlocked = spec.unlocked.is_some() || open.iter().any(is_absent);
        if !is_unlocked || !self.session.shares_writes() {
            return Ok(());
        }
        let standing = self.standing(spec, batch, &open)?;
        for n in open.into_iter().filter(|n| standing.get(n) != Some(&true)) {
            set(results, n, StepResult::of(Outcome::Changed));
        }
        Ok(())
    }

    /// Refuses each row whose key is also that of another row or of another step: no statement could tell the two apart.
    pub(super) fn refuse_shared_keys(
        &mut self,
        spec: &QueueSpec,
        keys: &[&Key],
        results: &mut [Option<StepResult>],
    ) -> Result<(), StoreError> {
        let open = open(results);
        let rows: Vec<(&Key, &str)> = open.iter().filter_map(|n| keys.get(*n)).map(|key| (*key, "")).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let mut steps: BTreeMap<String, usize> = BTreeMap::new();
        keys.iter().for_each(|key| *steps.entry(key.exact()).or_default() += 1);
        let is_twice = |n: &usize| keys.get(*n).and_then(|key| steps.get(&key.exact())).is_some_and(|count| *count > 1);
        let mut shared: BTreeSet<usize> = open.iter().copied().filter(is_twice).collect();
        let statement = sql::shared_keys(spec, self.session.dialect(), &rows);
        shared.extend(self.session.query(&statement)?.iter().filter_map(|row| position(row, &open)));
        for n in shared {
            let message = "the key is not unique: it names more than one row or claim".to_owned();
            set(results, n, StepResult::refused(RowError { sqlstate: None, constraint: None, message }));
        }
        Ok(())
    }

    /// Asks the preset's guard about each row that is locked and verified by now; where it says no, somebody holds the job.
    pub(super) fn guarded(
        &mut self,
        spec: &QueueSpec,
        keys: &[&Key],
        results: &mut [Option<StepResult>],
    ) -> Result<(), StoreError> {
        let Some(guard) = &spec.claim.guard else { return Ok(()) };
        let open = open(results);
        let wanted: Vec<(&Key, &str)> = open.iter().filter_map(|n| keys.get(*n)).map(|key| (*key, "")).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let rows = self.session.query(&sql::guard(spec, self.session.dialect(), guard, &wanted))?;
        let passed = rows.iter().filter(|row| matches!(row.get(1), Some(Cell::Integer(1))));
        let passed: BTreeSet<usize> = passed.filter_map(|row| position(row, &open)).collect();
        for n in open.into_iter().filter(|n| !passed.contains(n)) {
            set(results, n, StepResult::of(Outcome::Locked));
        }
        Ok(())
    }

    /// Wakes the workers of each queue that got jobs back to run now; they would look in vain for those that wait. The commit
    /// stands, whatever happens here.
    fn wake(&mut self, spec: &QueueSpec, batch: &Batch<'_>, results: &[StepResult]) -> Vec<String> {
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
            queues.iter().flat_map(|(queue, moved)| sql::notifications(spec, self.session.dialect(), *queue, *moved));
        let statements: Vec<Statement> = statements.collect();
        if statements.is_empty() {
            return Vec::new();
        }
        match self.send(spec, &statements) {
            Ok(()) => Vec::new(),
            Err(error) => vec![format!("waking the workers failed, they will poll: {error}")],
        }
    }

    /// In a transaction of its own, whose settings are those of every other one.
    fn send(&mut self, spec: &QueueSpec, statements: &[Statement]) -> Result<(), StoreError> {
        self.session.begin(&spec.schema)?;
        for statement in statements {
            if let Err(error) = self.session.query(statement) {
                self.session.rollback();
                return Err(error);
            }
        }
        match self.session.commit() {
            Commit::Done => Ok(()),
            Commit::Failed(error) | Commit::Unknown(error) => Err(error),
        }
    }
}

/// These steps' keys and preconditions.
fn wanted<'b>(batch: &Batch<'b>, numbers: &[usize]) -> Vec<(&'b Key, &'b str)> {
    let steps = numbers.iter().filter_map(|n| batch.steps.get(*n));
    steps.map(|step| (&step.key, step.precondition.0.as_str())).collect()
}

/// The steps that are not settled yet.
pub(super) fn open(results: &[Option<StepResult>]) -> Vec<usize> {
    (0..results.len()).filter(|n| results.get(*n).is_some_and(Option::is_none)).collect()
}

pub(super) fn set(results: &mut [Option<StepResult>], n: usize, result: StepResult) {
    if let Some(place) = results.get_mut(n) {
        *place = Some(result);
    }
}

/// Which step a verified row is, by the number it was wanted under.
fn position(row: &[Cell], numbers: &[usize]) -> Option<usize> {
    match row.first() {
        Some(Cell::Integer(n)) => usize::try_from(*n).ok().and_then(|n| numbers.get(n.checked_sub(1)?)).copied(),
        _ => None,
    }
}
