//! The transaction around a batch, and its retries.

use super::savepoints::{BatchMode, Failure, at_commit};
use crate::model::{BatchReport, End, Outcome, Timestamp};
use crate::store::session::{Commit, Session};
use crate::store::{StoreError, StoreErrorKind, random};
use std::time::{Duration, Instant};

/// One result for each row, and warnings.
pub(super) type Work = (Vec<End>, Vec<String>);

pub(super) struct Done {
    results: Vec<End>,
    warnings: Vec<String>,
    /// How long the work took, without the beginning and the commit.
    took: Duration,
}

/// Tries a batch of so many rows until it commits or fails: again after a conflict, and behind savepoints once one of
/// its rows is refused.
pub(super) fn settle(
    rows: usize,
    mut attempt: impl FnMut(&BatchMode) -> Result<Done, Failure>,
) -> BatchReport<StoreError> {
    let mut mode = BatchMode::Together;
    let mut conflicts = Conflicts::default();
    loop {
        match attempt(&mode) {
            Ok(Done { results, warnings, took }) => return BatchReport { results, stop: None, warnings, took },
            Err(Failure::RowData(_)) if mode == BatchMode::Together => mode = BatchMode::SAVEPOINTS,
            Err(Failure::Aborted(aborted)) => mode = mode.after(aborted),
            Err(Failure::Store(error)) if conflicts.may_try_again(&error) => {}
            Err(Failure::AtCommit(error)) => return at_commit(&error, rows),
            Err(Failure::RowData(error) | Failure::Store(error)) => return stopped(rows, error),
            Err(Failure::CommitUnknown(end)) => {
                let (results, error) = *end;
                return BatchReport { results, stop: Some(error), warnings: Vec::new(), took: Duration::ZERO };
            }
        }
    }
}

/// The report of a batch of which no row was tried.
pub(super) fn stopped(rows: usize, error: StoreError) -> BatchReport<StoreError> {
    let results = vec![End::of(Outcome::NotTried); rows];
    BatchReport { results, stop: Some(error), warnings: Vec::new(), took: Duration::ZERO }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Commit,
    /// Once the database has checked what it checks at a commit.
    RollBack,
}

/// Runs `work` in one transaction, with the transaction's clock, and ends it so.
pub(super) fn in_transaction<S: Session>(
    session: &mut S,
    schema: &str,
    ending: Ending,
    work: impl FnOnce(&mut S, Timestamp) -> Result<Work, Failure>,
) -> Result<Done, Failure> {
    let now = session.begin(schema)?;
    let begun = Instant::now();
    if ending == Ending::RollBack {
        let done = checked(session, |session| work(session, now));
        session.rollback();
        return done.map(|(results, warnings)| Done { results, warnings, took: begun.elapsed() });
    }
    let (results, warnings) = match work(session, now) {
        Ok(done) => done,
        Err(failure) => {
            session.rollback();
            return Err(failure);
        }
    };
    let took = begun.elapsed();
    match session.commit() {
        Commit::Done => Ok(Done { results, warnings, took }),
        Commit::Failed(error) => {
            session.rollback();
            Err(Failure::of_commit(error))
        }
        Commit::Unknown(error) => {
            let unknown = |result: End| match result.outcome {
                Outcome::Moved => End::of(Outcome::Unknown),
                _ => result,
            };
            Err(Failure::CommitUnknown(Box::new((results.into_iter().map(unknown).collect(), error))))
        }
    }
}

/// Runs `work`, then has the database check what it would check at a commit.
fn checked<S: Session>(session: &mut S, work: impl FnOnce(&mut S) -> Result<Work, Failure>) -> Result<Work, Failure> {
    let before = session.broken_at_commit()?;
    let done = work(session)?;
    if session.broken_at_commit()? > before {
        // As SQLite words it, which alone checks at a commit.
        let error = StoreError::new(StoreErrorKind::RowData, "FOREIGN KEY constraint failed");
        let code = Some("SQLITE_CONSTRAINT_FOREIGNKEY".to_owned());
        return Err(Failure::of_commit(StoreError { code, ..error }));
    }
    Ok(done)
}

/// How often a batch is tried again after a conflict.
const TRIES: u32 = 3;

/// The pause before the first retry; each later pause is four times as long. A worker that updates the rows of a batch
/// one by one and moves each to another partition conflicts with every try until it has finished.
const PAUSE: Duration = Duration::from_millis(20);

/// The conflicts of a batch so far.
#[derive(Default)]
pub(super) struct Conflicts {
    count: u32,
}

impl Conflicts {
    /// Whether to try the batch again after that error. Waits first, with no transaction open.
    pub(super) fn may_try_again(&mut self, error: &StoreError) -> bool {
        if error.kind != StoreErrorKind::Conflict || self.count == TRIES {
            return false;
        }
        std::thread::sleep(pause(self.count, random()));
        self.count += 1;
        true
    }
}

/// The pause after so many retries, from half to one and a half of the usual by a random number, so that two sweepers
/// that collided once do not collide again.
fn pause(tries: u32, random: u64) -> Duration {
    let part = 0.5 + random as f64 / u64::MAX as f64;
    (PAUSE * 4_u32.saturating_pow(tries)).mul_f64(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ() {
        let of = |tries| [0, u64::MAX / 2, u64::MAX].map(|random| pause(tries, random).as_millis());
        assert_eq!([of(0), of(1), of(2)], [[10, 20, 30], [40, 80, 120], [160, 320, 480]]);
    }

    #[test]
    fn only_conflicts_are_tried_again_and_not_at_once_and_not_for_ever() {
        let error = |kind| StoreError::new(kind, "no");
        let mut conflicts = Conflicts::default();
        assert!(!conflicts.may_try_again(&error(StoreErrorKind::Busy)));
        let begun = Instant::now();
        let tried = (0..10).take_while(|_| conflicts.may_try_again(&error(StoreErrorKind::Conflict))).count();
        assert_eq!(tried, 3);
        assert!(begun.elapsed() >= Duration::from_millis(10 + 40 + 160), "{:?}", begun.elapsed());
    }
}
