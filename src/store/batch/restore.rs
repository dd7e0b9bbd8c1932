//! Sets rows back to what they were, where they are unchanged since: lock and compare the whole row, one UPDATE, record,
//! commit.

use super::execute::{must_fit, row_error};
use super::failure::{Aborted, BatchMode, Failure};
use super::record::{Recorder, changes, images, record};
use super::savepoints::{behind_savepoint, row_result};
use super::transaction::{Ending, Work, in_transaction, settle, stopped};
use super::verify::{guarded, open, refuse_shared_keys, set};
use crate::model::{BatchReport, Cell, Key, Outcome, Restore, RestoreBatch, RowImage, StepResult, Timestamp};
use crate::preset::{Column, QueueSpec, Rows};
use crate::store::session::{Session, WriteSession};
use crate::store::sql;
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// See [`Writer::restore`](crate::store::Writer::restore).
pub(super) fn restore<S: WriteSession>(
    session: &mut S,
    spec: &QueueSpec,
    batch: &RestoreBatch<'_>,
    recorder: &mut dyn Recorder,
) -> BatchReport<StoreError> {
    let restoring = match columns(spec, batch) {
        Ok(columns) => Restoring { spec, batch, columns },
        Err(error) => return stopped(batch.rows.len(), error),
    };
    settle(batch.rows.len(), |mode| {
        in_transaction(session, &spec.schema, Ending::Commit, |session, now| {
            restoring.work(session, mode, recorder, now)
        })
    })
}

/// The columns that are set back: only those that the action assigns, because a record may have been altered.
fn columns<'s>(spec: &'s QueueSpec, batch: &RestoreBatch<'_>) -> Result<Vec<&'s Column>, StoreError> {
    let unfit = |message: String| StoreError::new(StoreErrorKind::Unfit, message);
    let moved = spec.revertible(batch.action);
    let moved =
        moved.ok_or_else(|| unfit(format!("a {} of preset {} cannot be reverted", batch.action, spec.preset)))?;
    let named = batch.rows.first().map_or(&[][..], |row| row.values.as_slice());
    let known = |(name, _): &(String, Cell)| {
        moved.iter().copied().find(|column| column.name == *name).ok_or_else(|| {
            unfit(format!("column {name} is none that a {} of preset {} writes", batch.action, spec.preset))
        })
    };
    named.iter().map(known).collect()
}

struct Restoring<'a> {
    spec: &'a QueueSpec,
    batch: &'a RestoreBatch<'a>,
    columns: Vec<&'a Column>,
}

impl Restoring<'_> {
    fn work<S: Session>(
        &self,
        session: &mut S,
        mode: &BatchMode,
        recorder: &mut dyn Recorder,
        now: Timestamp,
    ) -> Result<Work, Failure> {
        let mut results: Vec<Option<StepResult>> = self.batch.rows.iter().map(|_| None).collect();
        let before = self.lock(session, &mut results)?;
        let keys: Vec<&Key> = self.batch.rows.iter().map(|row| &row.key).collect();
        refuse_shared_keys(session, self.spec, &keys, &mut results)?;
        guarded(session, self.spec, &keys, &mut results)?;
        let after = match mode {
            BatchMode::Together => self.set_back(session, &open(&results), false).map_err(Failure::of_rows)?,
            BatchMode::Savepoints { left_out, .. } => {
                for (n, error) in left_out {
                    set(&mut results, *n, StepResult::refused(error.clone()));
                }
                self.one_by_one(session, &mut results)?
            }
        };
        let moved = open(&results);
        let after: BTreeMap<usize, RowImage> =
            moved.iter().enumerate().filter_map(|(at, n)| Some((at, after.get(n)?.clone()))).collect();
        let warnings = self.differing(&moved, &after);
        let changes = changes(&self.columns, &before, &after, &moved);
        record(session, self.spec, recorder, now, &changes)?;
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

    /// One UPDATE, and a check of its effect.
    fn set_back<S: Session>(
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
            must_fit(session.execute(&statement)?, Rows::Each, each)?;
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
        &self,
        session: &mut S,
        results: &mut [Option<StepResult>],
    ) -> Result<BTreeMap<usize, RowImage>, Failure> {
        let mut after = BTreeMap::new();
        for n in open(results) {
            match behind_savepoint(session, |session| self.set_back(session, &[n], true))? {
                Ok(image) => after.extend(image),
                Err(error) if !session.in_transaction() => {
                    return Err(Failure::Aborted(Aborted::One(n, row_error(&error))));
                }
                Err(error) => set(results, n, row_result(&error)),
            }
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
