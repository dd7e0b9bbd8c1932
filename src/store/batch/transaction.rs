//! The transaction around a batch, and how often it is tried.

use super::conflict::Conflicts;
use super::failure::{BatchMode, Failure, at_commit};
use crate::model::{BatchReport, Outcome, StepResult, Timestamp};
use crate::store::StoreError;
use crate::store::session::{Commit, Session};

/// One result a row, and what an operator should know.
pub(super) type Done = (Vec<StepResult>, Vec<String>);

/// Tries a batch of so many rows until it is committed or cannot be: again after a conflict, and behind savepoints once one of
/// its rows is refused.
pub(super) fn settle(
    rows: usize,
    mut attempt: impl FnMut(&BatchMode) -> Result<Done, Failure>,
) -> BatchReport<StoreError> {
    let mut mode = BatchMode::Together;
    let mut conflicts = Conflicts::default();
    loop {
        match attempt(&mode) {
            Ok((results, warnings)) => return BatchReport { results, stop: None, warnings },
            Err(Failure::RowData(_)) if mode == BatchMode::Together => mode = BatchMode::SAVEPOINTS,
            Err(Failure::Aborted(aborted)) => mode = mode.after(aborted),
            Err(Failure::Store(error)) if conflicts.may_try_again(&error) => {}
            Err(Failure::AtCommit(error)) => return at_commit(&error, rows),
            Err(Failure::RowData(error) | Failure::Store(error)) => return stopped(rows, error),
            Err(Failure::CommitUnknown(end)) => {
                let (results, error) = *end;
                return BatchReport { results, stop: Some(error), warnings: Vec::new() };
            }
        }
    }
}

/// A batch of so many rows of which none was tried.
pub(super) fn stopped(rows: usize, error: StoreError) -> BatchReport<StoreError> {
    let results = vec![StepResult::of(Outcome::NotTried); rows];
    BatchReport { results, stop: Some(error), warnings: Vec::new() }
}

/// Does the work of one transaction, with the transaction's clock; what it did stands only if the commit does.
pub(super) fn in_transaction<S: Session>(
    session: &mut S,
    schema: &str,
    work: impl FnOnce(&mut S, Timestamp) -> Result<Done, Failure>,
) -> Result<Done, Failure> {
    let now = session.begin(schema)?;
    let (results, warnings) = match work(session, now) {
        Ok(done) => done,
        Err(failure) => {
            session.rollback();
            return Err(failure);
        }
    };
    match session.commit() {
        Commit::Done => Ok((results, warnings)),
        Commit::Failed(error) => {
            session.rollback();
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
