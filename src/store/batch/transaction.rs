//! The transaction around a batch, and its retries.

use super::execute::row_error;
use super::savepoints::{BatchMode, Failure};
use crate::model::{BatchReport, Cost, End, Outcome};
use crate::store::session::{Commit, Session};
use crate::store::{StoreError, StoreErrorKind, random};
use std::time::{Duration, Instant};

pub(super) type Work = (Vec<End>, Vec<String>);

const TRIES: u32 = 3;

/// The pause before the first retry; each later pause is four times as long. A worker that updates the rows of a batch
/// one by one and moves each to another partition conflicts with every try until it has finished.
const PAUSE: Duration = Duration::from_millis(20);

/// Tries a batch of so many rows until it commits or fails: again after a conflict, and behind savepoints once one of
/// its rows is refused.
pub(super) fn settle(
    rows: usize,
    mut attempt: impl FnMut(&BatchMode) -> Result<BatchReport<StoreError>, Failure>,
) -> BatchReport<StoreError> {
    let mut mode = BatchMode::Together;
    let mut conflicts = 0;
    loop {
        match attempt(&mode) {
            Ok(report) => return report,
            Err(Failure::RowData(_)) if mode == BatchMode::Together => mode = BatchMode::SAVEPOINTS,
            Err(Failure::Aborted(aborted)) => mode = mode.after(aborted),
            Err(Failure::Store(error)) if error.kind == StoreErrorKind::Conflict && conflicts < TRIES => {
                std::thread::sleep(pause(conflicts, random()));
                conflicts += 1;
            }
            // A single row is refused; several are to be tried again in smaller batches.
            Err(Failure::AtCommit(error)) if rows == 1 => return report(vec![End::refused(row_error(&error))], None),
            Err(Failure::AtCommit(_)) => return report(vec![End::of(Outcome::NotTried); rows], None),
            Err(Failure::RowData(error) | Failure::Store(error)) => return stopped(rows, error),
        }
    }
}

/// The report of a batch of which no row was tried.
pub(super) fn stopped(rows: usize, error: StoreError) -> BatchReport<StoreError> {
    report(vec![End::of(Outcome::NotTried); rows], Some(error))
}

fn report(results: Vec<End>, stop: Option<StoreError>) -> BatchReport<StoreError> {
    BatchReport { results, stop, warnings: Vec::new(), cost: Cost::default() }
}

/// The pause after so many retries, from half to one and a half of the usual by a random number, so that two sweepers
/// that collided once do not collide again.
fn pause(tries: u32, random: u64) -> Duration {
    let part = 0.5 + random as f64 / u64::MAX as f64;
    (PAUSE * 4_u32.saturating_pow(tries)).mul_f64(part)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Commit,
    /// Once the database has checked what it checks at a commit.
    RollBack,
}

/// Runs `work` in one transaction, and ends it so.
pub(super) fn in_transaction<S: Session>(
    session: &mut S,
    schema: &str,
    ending: Ending,
    work: impl FnOnce(&mut S) -> Result<Work, Failure>,
) -> Result<BatchReport<StoreError>, Failure> {
    session.begin(schema)?;
    let begun = Instant::now();
    let done = match ending {
        Ending::Commit => work(session),
        Ending::RollBack => checked(session, work),
    };
    let took = begun.elapsed();
    let (busy, logged) = session.load().unwrap_or((took, 0));
    let cost = Cost { took, busy, logged };
    let (results, warnings) = match done {
        Ok(done) if ending == Ending::Commit => done,
        rolled_back => {
            session.rollback();
            return rolled_back.map(|(results, warnings)| BatchReport { results, stop: None, warnings, cost });
        }
    };
    match session.commit() {
        Commit::Done => Ok(BatchReport { results, stop: None, warnings, cost }),
        Commit::Failed(error) => {
            session.rollback();
            Err(Failure::of_commit(error))
        }
        Commit::Unknown(error) => {
            let unknown = |result: End| match result.outcome {
                Outcome::Moved => End::of(Outcome::Unknown),
                _ => result,
            };
            Ok(report(results.into_iter().map(unknown).collect(), Some(error)))
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
        let tries = |kind| {
            let mut tries = 0;
            let report = settle(1, |_| {
                tries += 1;
                Err(Failure::Store(StoreError::new(kind, "no")))
            });
            assert_eq!(report.stop.map(|error| error.kind), Some(kind));
            tries
        };
        assert_eq!(tries(StoreErrorKind::Busy), 1);
        let begun = Instant::now();
        assert_eq!(tries(StoreErrorKind::Conflict), 4);
        assert!(begun.elapsed() >= Duration::from_millis(10 + 40 + 160), "{:?}", begun.elapsed());
    }
}
