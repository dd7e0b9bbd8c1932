//! Applying a batch, the same on every engine: verify and lock, act, record, commit.

use super::session::{Commit, Session, query_count};
use super::sql::{self, Statement};
use super::{StoreError, StoreErrorKind, Writer};
use crate::model::{Batch, BatchReport, Cell, Fence, Key, Outcome, RowError, StepResult, Timestamp, Witness};
use crate::spec::{MoveSpec, QueueSpec, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// How often a batch that got into another transaction's way is tried again.
const TRIES: usize = 3;

/// What an engine adds to a [`Session`] so that it can be written through.
pub(super) trait WriteSession: Session {
    /// Whether other sessions may be writing while our transaction is open; then witnesses must be locked.
    fn shares_writes(&self) -> bool;
}

/// See the module.
pub(super) struct SqlWriter<S> {
    pub(super) session: S,
}

impl<S: WriteSession> Writer for SqlWriter<S> {
    fn apply(&mut self, spec: &QueueSpec, batch: &Batch<'_>) -> BatchReport<StoreError> {
        let not_tried = || batch.steps.iter().map(|_| StepResult::of(Outcome::NotTried)).collect::<Vec<_>>();
        let Some(moved) = spec.moves.get(&batch.r#move).filter(|moved| moved.refused.is_none()) else {
            let error =
                StoreError::new(StoreErrorKind::Unfit, format!("preset {} has no {}", spec.preset, batch.r#move));
            return BatchReport { results: not_tried(), stop: Some(error), warnings: Vec::new() };
        };
        let mut way = Way::Together;
        let mut conflicts = 0;
        let stop = |error| BatchReport { results: not_tried(), stop: Some(error), warnings: Vec::new() };
        loop {
            match self.transaction(spec, moved, batch, &way) {
                Ok(results) => {
                    let warnings = self.wake(spec, batch, &results);
                    return BatchReport { results, stop: None, warnings };
                }
                Err(Failure::RowData(_)) if way == Way::Together => way = Way::RowByRow(BTreeMap::new()),
                Err(Failure::Swept(n, error)) => way.without(n, error),
                Err(Failure::Store(error)) if error.kind == StoreErrorKind::Conflict && conflicts < TRIES => {
                    conflicts += 1;
                }
                Err(Failure::RowData(error) | Failure::Store(error)) => return stop(error),
                Err(Failure::CommitUnknown(end)) => {
                    let (results, error) = *end;
                    return BatchReport { results, stop: Some(error), warnings: Vec::new() };
                }
            }
        }
    }
}

/// How the verified rows are acted on.
#[derive(PartialEq, Eq)]
enum Way {
    /// In one go.
    Together,
    /// Each behind a savepoint of its own, because one of them is refused; without those that take the whole transaction
    /// with them, which are known by then.
    RowByRow(BTreeMap<usize, RowError>),
}

impl Way {
    fn without(&mut self, n: usize, error: RowError) {
        match self {
            Way::Together => *self = Way::RowByRow(BTreeMap::from([(n, error)])),
            Way::RowByRow(left_out) => {
                left_out.insert(n, error);
            }
        }
    }
}

enum Failure {
    /// One row's data is in the way.
    RowData(StoreError),
    /// This row's data made the database give up the whole transaction, the rows before it included.
    Swept(usize, RowError),
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

impl<S: WriteSession> SqlWriter<S> {
    fn transaction(
        &mut self,
        spec: &QueueSpec,
        moved: &MoveSpec,
        batch: &Batch<'_>,
        way: &Way,
    ) -> Result<Vec<StepResult>, Failure> {
        let now = self.session.begin(&spec.schema)?;
        let worked = self.work(spec, moved, batch, way, now);
        let results = match worked {
            Ok(results) => results,
            Err(failure) => {
                self.session.rollback();
                return Err(failure);
            }
        };
        match self.session.commit() {
            Commit::Done => Ok(results),
            Commit::Failed(error) => {
                self.session.rollback();
                Err(error.into())
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
        moved: &MoveSpec,
        batch: &Batch<'_>,
        way: &Way,
        now: Timestamp,
    ) -> Result<Vec<StepResult>, Failure> {
        let mut results = self.witnesses(spec, batch)?;
        self.verify(spec, moved, batch, &mut results)?;
        let verified: Vec<usize> =
            (0..results.len()).filter(|n| results.get(*n).is_some_and(Option::is_none)).collect();
        match way {
            Way::Together => {
                let keys: Vec<&Key> = verified.iter().filter_map(|n| batch.steps.get(*n)).map(|s| &s.key).collect();
                self.act(spec, moved, &keys, now, batch.reason)?;
            }
            Way::RowByRow(left_out) => {
                for n in verified {
                    let Some(step) = batch.steps.get(n) else { continue };
                    let acted = match left_out.get(&n) {
                        Some(error) => Err(error.clone()),
                        None => self.act_alone(spec, moved, &step.key, now, batch.reason)?,
                    };
                    if let Err(error) = acted {
                        if !self.session.in_transaction() {
                            return Err(Failure::Swept(n, error));
                        }
                        set(&mut results, n, StepResult::refused(error));
                    }
                }
            }
        }
        Ok(results.into_iter().map(|result| result.unwrap_or_else(|| StepResult::of(Outcome::Moved))).collect())
    }

    /// Locks the owners' rows that verdicts rested on, and settles the steps whose witness is not what it was.
    fn witnesses(&mut self, spec: &QueueSpec, batch: &Batch<'_>) -> Result<Vec<Option<StepResult>>, StoreError> {
        let mut results: Vec<Option<StepResult>> = batch.steps.iter().map(|_| None).collect();
        // Where nobody else can write while we do, the fence itself, which covers the owner's row, is proof enough.
        let Some(row) = spec.owner.row.as_ref().filter(|_| self.session.shares_writes()) else { return Ok(results) };
        let mut keys: BTreeMap<String, Key> = BTreeMap::new();
        for step in batch.steps {
            if let Witness::Row { key, .. } = &step.witness {
                keys.insert(key.to_string(), Key(vec![key.clone()]));
            }
        }
        let dialect = self.session.dialect();
        let keys: Vec<&Key> = keys.values().collect();
        let locked = self.images(&sql::witnesses(spec, dialect, row, &keys), &keys)?;
        let missed = keys.iter().any(|key| !locked.contains_key(&key.to_string()));
        let seen = if missed {
            self.images(&sql::witnesses_reread(spec, dialect, row, &keys), &keys)?
        } else {
            BTreeMap::new()
        };
        let absent = batch.steps.iter().any(|step| step.witness == Witness::Absent);
        let returning = absent && query_count(&mut self.session, &sql::witness_writers(spec, dialect, row))? > 0;
        for (n, step) in batch.steps.iter().enumerate() {
            let outcome = match &step.witness {
                Witness::None => None,
                Witness::Absent => returning.then_some(Outcome::Locked),
                Witness::Row { key, image } => match (locked.get(&key.to_string()), seen.get(&key.to_string())) {
                    (Some(now), _) => (now != image).then_some(Outcome::Changed),
                    (None, Some(now)) if now == image => Some(Outcome::Locked),
                    (None, _) => Some(Outcome::Changed),
                },
            };
            if let Some(outcome) = outcome {
                set(&mut results, n, StepResult::of(outcome));
            }
        }
        Ok(results)
    }

    fn images(&mut self, statement: &Statement, keys: &[&Key]) -> Result<BTreeMap<String, Fence>, StoreError> {
        if keys.is_empty() {
            return Ok(BTreeMap::new());
        }
        let rows = self.session.query(statement)?;
        let pair = |row: Vec<Cell>| match row.as_slice() {
            [key, image] => Some((key.to_string(), Fence(image.to_text().unwrap_or_default()))),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(pair).collect())
    }

    /// Locks the rows whose fence is still equal, and tells apart what does not come back.
    fn verify(
        &mut self,
        spec: &QueueSpec,
        moved: &MoveSpec,
        batch: &Batch<'_>,
        results: &mut [Option<StepResult>],
    ) -> Result<(), StoreError> {
        let open: Vec<usize> = (0..results.len()).filter(|n| results.get(*n).is_some_and(Option::is_none)).collect();
        let wanted = |numbers: &[usize]| {
            let steps = numbers.iter().filter_map(|n| batch.steps.get(*n));
            steps.map(|step| (&step.key, step.fence.0.as_str())).collect::<Vec<_>>()
        };
        if open.is_empty() {
            return Ok(());
        }
        let dialect = self.session.dialect();
        let statement = sql::verify(spec, dialect, batch.r#move, moved.locks_for_update, &wanted(&open));
        let verified: BTreeSet<usize> =
            self.session.query(&statement)?.iter().filter_map(|row| position(row, &open)).collect();
        let missing: Vec<usize> = open.into_iter().filter(|n| !verified.contains(n)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let statement = sql::reread(spec, dialect, batch.r#move, &wanted(&missing));
        let mut seen = BTreeMap::new();
        for row in self.session.query(&statement)? {
            if let Some(n) = position(&row, &missing) {
                seen.insert(n, matches!(row.get(1), Some(Cell::Integer(1))));
            }
        }
        for n in missing {
            let outcome = match seen.get(&n) {
                None => Outcome::Gone,
                Some(false) => Outcome::Changed,
                Some(true) => Outcome::Locked,
            };
            set(results, n, StepResult::of(outcome));
        }
        Ok(())
    }

    /// Runs the statements of the move and makes sure that they did exactly what they should.
    fn act(
        &mut self,
        spec: &QueueSpec,
        moved: &MoveSpec,
        keys: &[&Key],
        now: Timestamp,
        reason: &str,
    ) -> Result<(), StoreError> {
        if keys.is_empty() {
            return Ok(());
        }
        let dialect = self.session.dialect();
        let each = keys.len() as u64;
        for act in sql::acts(spec, dialect, moved, keys, now, reason) {
            let touched = self.session.execute(&act.statement)?;
            let fits = match act.rows {
                Rows::Each => touched == each,
                Rows::AtMostEach => touched <= each,
                Rows::Any => true,
            };
            if !fits {
                let why = if touched > each { "the key is not unique" } else { "a trigger or rule stands in the way" };
                let message = format!("the statement touched {touched} rows instead of {each}: {why}");
                return Err(StoreError::new(StoreErrorKind::RowData, message));
            }
        }
        if let Some(statement) = sql::state_check(spec, dialect, moved, keys) {
            let there = query_count(&mut self.session, &statement)?;
            if there != each {
                return Err(StoreError::new(
                    StoreErrorKind::RowData,
                    format!("{there} of {each} rows came to state {}: a trigger changed the others", moved.to.name),
                ));
            }
        }
        Ok(())
    }

    /// The same for one row behind a savepoint; the inner error is the row's own.
    fn act_alone(
        &mut self,
        spec: &QueueSpec,
        moved: &MoveSpec,
        key: &Key,
        now: Timestamp,
        reason: &str,
    ) -> Result<Result<(), RowError>, StoreError> {
        self.session.execute(&Statement::plain("SAVEPOINT jobdoctor_row"))?;
        match self.act(spec, moved, &[key], now, reason) {
            Ok(()) => {
                self.session.execute(&Statement::plain("RELEASE SAVEPOINT jobdoctor_row"))?;
                Ok(Ok(()))
            }
            Err(error) if error.kind == StoreErrorKind::RowData => {
                if self.session.in_transaction() {
                    self.session.execute(&Statement::plain("ROLLBACK TO SAVEPOINT jobdoctor_row"))?;
                    self.session.execute(&Statement::plain("RELEASE SAVEPOINT jobdoctor_row"))?;
                }
                Ok(Err(RowError { sqlstate: error.code, constraint: error.constraint, message: error.message }))
            }
            Err(error) => Err(error),
        }
    }

    /// Wakes the workers of each queue that got jobs back. The commit stands, whatever happens here.
    fn wake(&mut self, spec: &QueueSpec, batch: &Batch<'_>, results: &[StepResult]) -> Vec<String> {
        if batch.r#move != crate::model::Move::Requeue {
            return Vec::new();
        }
        let mut queues: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for (step, _) in batch.steps.iter().zip(results).filter(|(_, result)| result.outcome == Outcome::Moved) {
            *queues.entry(step.queue.as_deref()).or_default() += 1;
        }
        let mut warnings = Vec::new();
        for (queue, moved) in queues {
            for statement in sql::notifications(spec, self.session.dialect(), queue, moved) {
                if let Err(error) = self.session.query(&statement) {
                    let queue = queue.unwrap_or("(none)");
                    warnings.push(format!("queue {queue}: waking its workers failed, they will poll: {error}"));
                }
            }
        }
        warnings
    }
}

fn set(results: &mut [Option<StepResult>], n: usize, result: StepResult) {
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
