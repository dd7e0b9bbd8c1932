//! Why a transaction of a batch did not commit, and how the batch goes on.

use super::execute::row_error;
use crate::model::{BatchReport, Outcome, RowError, StepResult};
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// Why a transaction of a batch did not commit.
pub(super) enum Failure {
    /// One row's data is in the way.
    RowData(StoreError),
    /// One row's data is in the way, and the database has said so only as it was to commit: no savepoint tells which row.
    AtCommit(StoreError),
    /// A row's data made the database abort the whole transaction, the rows before it included.
    Aborted(Aborted),
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

/// What made the database abort a transaction.
pub(super) enum Aborted {
    /// This row.
    One(usize, RowError),
    /// One of several.
    OneOfMany,
}

/// How the verified rows are acted on.
#[derive(PartialEq, Eq)]
pub(super) enum BatchMode {
    /// In one go.
    Together,
    /// Behind savepoints, because one of them is refused; without those that take the whole transaction with them, which are
    /// known by then.
    Savepoints { left_out: BTreeMap<usize, RowError>, is_row_by_row: bool },
}

impl BatchMode {
    pub(super) const SAVEPOINTS: BatchMode = BatchMode::Savepoints { left_out: BTreeMap::new(), is_row_by_row: false };

    /// How to go on after the database aborted a whole transaction.
    pub(super) fn after(self, aborted: Aborted) -> BatchMode {
        let mut left_out = match self {
            BatchMode::Together => BTreeMap::new(),
            BatchMode::Savepoints { left_out, .. } => left_out,
        };
        match aborted {
            Aborted::One(n, error) => drop(left_out.insert(n, error)),
            Aborted::OneOfMany => {}
        }
        BatchMode::Savepoints { left_out, is_row_by_row: true }
    }
}

/// What became of a batch of so many rows whose commit was refused because of a row: alone, that row is known; of several, each
/// is to be tried again among fewer.
pub(super) fn at_commit(error: &StoreError, rows: usize) -> BatchReport<StoreError> {
    let result = if rows == 1 { StepResult::refused(row_error(error)) } else { StepResult::of(Outcome::NotTried) };
    BatchReport { results: vec![result; rows], stop: None, warnings: Vec::new() }
}
