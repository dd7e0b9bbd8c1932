//! Why a transaction of a batch did not commit, and how the batch continues.

use super::execute::{is_of_a_row, row_error};
use crate::model::{BatchReport, End, Outcome, RowError};
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// Why a transaction of a batch did not commit.
pub(super) enum Failure {
    /// A row's data is the reason.
    RowData(StoreError),
    /// A row's data is the reason, and the database refused only the commit, so no savepoint tells which row.
    AtCommit(StoreError),
    /// A row's data made the database abort the whole transaction.
    Aborted(Aborted),
    Store(StoreError),
    /// It may have been written.
    CommitUnknown(Box<(Vec<End>, StoreError)>),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.kind == StoreErrorKind::RowData { Failure::RowData(error) } else { Failure::Store(error) }
    }
}

impl Failure {
    /// The failure of statements on verified rows.
    pub(super) fn of_rows(error: StoreError) -> Failure {
        if is_of_a_row(&error) { Failure::RowData(error) } else { Failure::Store(error) }
    }

    /// The failure of a refused commit.
    pub(super) fn of_commit(error: StoreError) -> Failure {
        if error.kind == StoreErrorKind::RowData { Failure::AtCommit(error) } else { Failure::Store(error) }
    }
}

/// What made the database abort a transaction.
pub(super) enum Aborted {
    /// The row's number, and its error.
    One(usize, RowError),
    OneOfMany,
}

/// How the verified rows are acted on.
#[derive(PartialEq, Eq)]
pub(super) enum BatchMode {
    Together,
    /// Behind savepoints, because one of them is refused. Rows that abort the whole transaction are left out once
    /// known.
    Savepoints {
        left_out: BTreeMap<usize, RowError>,
        is_row_by_row: bool,
    },
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

/// The report of a batch whose commit was refused because of a row. A single row is refused; several are to be tried
/// again in smaller batches.
pub(super) fn at_commit(error: &StoreError, rows: usize) -> BatchReport<StoreError> {
    let result = if rows == 1 { End::refused(row_error(error)) } else { End::of(Outcome::NotTried) };
    BatchReport { results: vec![result; rows], stop: None, warnings: Vec::new(), took: Duration::ZERO }
}
