//! Setting rows back to what they were, where nobody has touched them since: lock and compare the whole row, one UPDATE,
//! record, commit.

use super::acting::{is_of_a_row, row_error};
use super::apply::{Failure, SqlWriter, WriteSession, at_commit, open, set};
use super::conflict::Conflicts;
use super::record::{Recorder, changes, images, record};
use super::session::{Commit, Session};
use super::sql::{self, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{BatchReport, Cell, Key, Outcome, Restore, RestoreBatch, RowError, RowImage, StepResult, Timestamp};
use crate::spec::{Column, QueueSpec};
use std::collections::BTreeMap;

impl<S: WriteSession> SqlWriter<S> {
    /// See [`Writer::restore`](super::Writer::restore).
    pub(super) fn set_back(
        &mut self,
        spec: &QueueSpec,
        batch: &RestoreBatch<'_>,
        recorder: &mut dyn Recorder,
    ) -> BatchReport<StoreError> {
        let not_tried = || batch.rows.iter().map(|_| StepResult::of(Outcome::NotTried)).collect::<Vec<_>>();
        let stop = |error| BatchReport { results: not_tried(), stop: Some(error), warnings: Vec::new() };
        let columns = match columns(spec, batch) {
            Ok(columns) => columns,
            Err(error) => return stop(error),
        };
        let mut run = Run { spec, batch, columns, alone: false, left_out: BTreeMap::new() };
        let mut conflicts = Conflicts::default();
        loop {
            match run.transaction(self, recorder) {
                Ok((results, warnings)) => return BatchReport { results, stop: None, warnings },
                Err(Failure::RowData(_)) if !run.alone => run.alone = true,
                Err(Failure::Store(error)) if conflicts.may_try_again(&error) => {}
                // Which row it was is known by now, and it is left out the next time.
                Err(Failure::Swept(_)) => run.alone = true,
                Err(Failure::AtCommit(error)) => return at_commit(&error, batch.rows.len()),
                Err(Failure::RowData(error) | Failure::Store(error)) => return stop(error),
                Err(Failure::CommitUnknown(end)) => {
                    let (results, error) = *end;
                    return BatchReport { results, stop: Some(error), warnings: Vec::new() };
                }
            }
        }
    }
}

/// The columns that are set back. None but those that the action assigns: what a record says is not believed further than that.
fn columns<'s>(spec: &'s QueueSpec, batch: &RestoreBatch<'_>) -> Result<Vec<&'s Column>, StoreError> {
    let unfit = |message: String| StoreError::new(StoreErrorKind::Unfit, message);
    let moved = spec.given_back(batch.action);
    let moved =
        moved.ok_or_else(|| unfit(format!("a {} of preset {} cannot be taken back", batch.action, spec.preset)))?;
    let named = batch.rows.first().map_or(&[][..], |row| row.values.as_slice());
    let known = |(name, _): &(String, Cell)| {
        moved.iter().copied().find(|column| column.name == *name).ok_or_else(|| {
            unfit(format!("column {name} is none that a {} of preset {} writes", batch.action, spec.preset))
        })
    };
    named.iter().map(known).collect()
}

struct Run<'a> {
    spec: &'a QueueSpec,
    batch: &'a RestoreBatch<'a>,
    columns: Vec<&'a Column>,
    /// Each row behind a savepoint, because one of them is refused.
    alone: bool,
    /// Rows that make the database give up the whole transaction.
    left_out: BTreeMap<usize, RowError>,
}

type Done = (Vec<StepResult>, Vec<String>);

impl Run<'_> {
    fn transaction<S: WriteSession>(
        &mut self,
        writer: &mut SqlWriter<S>,
        recorder: &mut dyn Recorder,
    ) -> Result<Done, Failure> {
        let now = writer.session.begin(&self.spec.schema)?;
        let (results, warnings) = match self.work(writer, recorder, now) {
            Ok(done) => done,
            Err(failure) => {
                writer.session.rollback();
                return Err(failure);
            }
        };
        match writer.session.commit() {
            Commit::Done => Ok((results, warnings)),
            Commit::Failed(error) => {
                writer.session.rollback();
                Err(Failure::of_commit(error))
            }
            Commit::Unknown(error) => {
                let unknown = |result: StepResult| match result.outcome {
                    Outcome::Moved => StepResult::of(Outcome::Unknown),
                    _ => result,
                };
                Err(Failure::CommitUnknown(Box::new((results.into_iter().map(unknown).collect(), error))))
            }
        }
    }

    fn work<S: WriteSession>(
        &mut self,
        writer: &mut SqlWriter<S>,
        recorder: &mut dyn Recorder,
        now: Timestamp,
    ) -> Result<Done, Failure> {
        let mut results: Vec<Option<StepResult>> = self.batch.rows.iter().map(|_| None).collect();
        let before = self.lock(&mut writer.session, &mut results)?;
        let keys: Vec<&Key> = self.batch.rows.iter().map(|row| &row.key).collect();
        writer.refuse_shared_keys(self.spec, &keys, &mut results)?;
        writer.guarded(self.spec, &keys, &mut results)?;
        for (n, error) in &self.left_out {
            set(&mut results, *n, StepResult::refused(error.clone()));
        }
        let open = open(&results);
        let after = if self.alone {
            self.one_by_one(&mut writer.session, &mut results, &open)?
        } else {
            self.set_back(&mut writer.session, &open, false)?
        };
        let moved: Vec<usize> = open.iter().copied().filter(|n| results.get(*n).is_some_and(Option::is_none)).collect();
        let after: BTreeMap<usize, RowImage> =
            moved.iter().enumerate().filter_map(|(at, n)| Some((at, after.get(n)?.clone()))).collect();
        let warnings = self.differing(&moved, &after);
        let changes = changes(&self.columns, &before, &after, &moved);
        record(&mut writer.session, self.spec, recorder, now, &changes)?;
        let results = results.into_iter().map(|result| result.unwrap_or_else(|| StepResult::of(Outcome::Moved)));
        Ok((results.collect(), warnings))
    }

    /// Locks the rows that are still what they must be, and tells apart what is not.
    fn lock<S: Session>(
        &self,
        session: &mut S,
        results: &mut [Option<StepResult>],
    ) -> Result<BTreeMap<usize, RowImage>, StoreError> {
        let keys: Vec<&Key> = self.batch.rows.iter().map(|row| &row.key).collect();
        let for_update = self.spec.actions.get(&self.batch.action).is_some_and(|moved| moved.locks_for_update);
        let locked = images(session, self.spec, &self.columns, &keys, Some(for_update))?;
        let missing = (0..keys.len()).any(|n| !locked.contains_key(&n));
        let seen = if missing { images(session, self.spec, &self.columns, &keys, None)? } else { BTreeMap::new() };
        for (n, row) in self.batch.rows.iter().enumerate() {
            let outcome = match (locked.get(&n), seen.get(&n)) {
                (Some(image), _) => (image.fingerprint != row.now).then_some(Outcome::Changed),
                (None, Some(image)) if image.fingerprint == row.now => Some(Outcome::Locked),
                (None, Some(_)) => Some(Outcome::Changed),
                (None, None) => Some(Outcome::Gone),
            };
            if let Some(outcome) = outcome {
                set(results, n, StepResult::of(outcome));
            }
        }
        Ok(locked)
    }

    /// One UPDATE, and a look at what came of it.
    fn set_back<S: Session>(
        &self,
        session: &mut S,
        numbers: &[usize],
        again: bool,
    ) -> Result<BTreeMap<usize, RowImage>, Failure> {
        match self.try_set_back(session, numbers, again) {
            Err(error) if is_of_a_row(&error) => Err(Failure::RowData(error)),
            other => other.map_err(Failure::from),
        }
    }

    fn try_set_back<S: Session>(
        &self,
        session: &mut S,
        numbers: &[usize],
        again: bool,
    ) -> Result<BTreeMap<usize, RowImage>, StoreError> {
        let rows: Vec<&Restore> = numbers.iter().filter_map(|n| self.batch.rows.get(*n)).collect();
        if rows.is_empty() {
            return Ok(BTreeMap::new());
        }
        session.begin_acting(again)?;
        for (statement, each) in sql::restores(self.spec, session.dialect(), &self.columns, &rows) {
            let touched = session.execute(&statement)?;
            if touched != each {
                let why = if touched > each { "the key is not unique" } else { "a trigger or rule stands in the way" };
                let message = format!("the statement touched {touched} rows instead of {each}: {why}");
                return Err(StoreError::new(StoreErrorKind::RowData, message));
            }
        }
        session.end_acting()?;
        let keys: Vec<&Key> = rows.iter().map(|row| &row.key).collect();
        let after = images(session, self.spec, &self.columns, &keys, None)?;
        let is_so = |(n, row): (usize, &&Restore)| {
            let wanted = row.values.iter().map(|(_, value)| value);
            after.get(&n).is_some_and(|image| image.values.iter().eq(wanted))
        };
        if !rows.iter().enumerate().all(is_so) {
            let message = "the row is not what it was set back to: a trigger changed it";
            return Err(StoreError::new(StoreErrorKind::RowData, message));
        }
        Ok(numbers.iter().enumerate().filter_map(|(at, n)| Some((*n, after.get(&at)?.clone()))).collect())
    }

    /// Row by row, so that one which is refused does not hold back the others.
    fn one_by_one<S: Session>(
        &mut self,
        session: &mut S,
        results: &mut [Option<StepResult>],
        open: &[usize],
    ) -> Result<BTreeMap<usize, RowImage>, Failure> {
        let mut after = BTreeMap::new();
        for n in open {
            session.execute(&Statement::plain("SAVEPOINT jobdoctor_rows"))?;
            match self.set_back(session, &[*n], true) {
                Ok(image) => after.extend(image),
                Err(Failure::RowData(error)) => {
                    let refused = row_error(&error);
                    if !session.in_transaction() {
                        self.left_out.insert(*n, refused.clone());
                        return Err(Failure::Swept(super::apart::Swept::One(*n, refused)));
                    }
                    session.execute(&Statement::plain("ROLLBACK TO SAVEPOINT jobdoctor_rows"))?;
                    let is_held = error.kind == StoreErrorKind::Busy;
                    let result = if is_held { StepResult::of(Outcome::Locked) } else { StepResult::refused(refused) };
                    set(results, *n, result);
                }
                Err(other) => return Err(other),
            }
            session.execute(&Statement::plain("RELEASE SAVEPOINT jobdoctor_rows"))?;
        }
        Ok(after)
    }

    /// Rows that have their values back and yet are not what they were in every column.
    fn differing(&self, moved: &[usize], after: &BTreeMap<usize, RowImage>) -> Vec<String> {
        let differs = |(at, n): (usize, &usize)| {
            let was = self.batch.rows.get(*n).map(|row| &row.was);
            after.get(&at).map(|image| &image.fingerprint) != was
        };
        let ids = moved.iter().enumerate().filter(|pair| differs(*pair)).filter_map(|(_, n)| self.batch.rows.get(*n));
        let ids: Vec<String> = ids.map(|row| row.key.to_string()).collect();
        let shown = ids.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        let line = format!(
            "{} set back, but a trigger has written to other columns of the row: {shown}",
            if ids.len() == 1 { "1 job was".to_owned() } else { format!("{} jobs were", ids.len()) }
        );
        if ids.is_empty() { Vec::new() } else { vec![line] }
    }
}
