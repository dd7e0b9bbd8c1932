//! Why a transaction of a batch did not commit, and how the batch continues: in halves of halves behind savepoints,
//! until each row that is refused or locked stands alone. One row in 500 takes some twenty tries, not 500; meanwhile
//! the batch's locks block workers.

use super::execute::{is_of_a_row, row_error};
use crate::model::{End, Outcome, RowError};
use crate::store::session::Session;
use crate::store::sql::Statement;
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// If more rows than this fail for want of a lock and none has moved, a table is locked and not a row. Less than the
/// first batch has.
const HELD: usize = 10;

/// Acts on rows with `act`, which gets the rows and whether they were tried before; gives the results of those that
/// were not moved.
///
/// # Errors
/// When the rows are not the reason: all of them meet the same unexpected error, or none gets a lock.
pub(super) fn with_savepoints<S: Session>(
    session: &mut S,
    act: &mut impl FnMut(&mut S, &[usize], bool) -> Result<(), StoreError>,
    is_row_by_row: bool,
    rows: Vec<usize>,
) -> Result<Vec<(usize, End)>, Failure> {
    let count = rows.len();
    let mut groups = if is_row_by_row { rows.chunks(1).rev().map(<[usize]>::to_vec).collect() } else { halves(&rows) };
    let mut results = Vec::new();
    let (mut odd, mut held, mut some_moved) = (Vec::new(), Vec::new(), false);
    while let Some(group) = groups.pop() {
        let acted = behind_savepoint(session, |session| act(session, &group, true))?;
        let Err(error) = acted else {
            some_moved = true;
            continue;
        };
        let is_aborted = !session.in_transaction();
        match group.as_slice() {
            [n] => {
                let n = *n;
                if is_aborted {
                    return Err(Failure::Aborted(Aborted::One(n, row_error(&error))));
                }
                match error.kind {
                    StoreErrorKind::Busy => held.push(error.clone()),
                    StoreErrorKind::Other | StoreErrorKind::Unfit => odd.push(error.clone()),
                    _ => {}
                }
                results.push((n, row_result(&error)));
                if let (Some(error), false) = (held.get(HELD), some_moved) {
                    return Err(Failure::Store(error.clone()));
                }
            }
            _ if is_aborted => return Err(Failure::Aborted(Aborted::OneOfMany)),
            _ => groups.extend(halves(&group)),
        }
    }
    match odd.first() {
        // A batch of one row fails as a whole only if the tables do not fit.
        Some(error) if odd.len() == count && (count > 1 || error.kind == StoreErrorKind::Unfit) => {
            Err(Failure::Store(error.clone()))
        }
        _ => Ok(results),
    }
}

/// The two halves, the first one last, where it is popped first.
fn halves(rows: &[usize]) -> Vec<Vec<usize>> {
    let (first, second) = rows.split_at(rows.len() / 2);
    [second, first].into_iter().filter(|half| !half.is_empty()).map(<[usize]>::to_vec).collect()
}

/// Does some work behind a savepoint; the inner error is one of its rows, and the work is rolled back.
pub(super) fn behind_savepoint<S: Session, T>(
    session: &mut S,
    work: impl FnOnce(&mut S) -> Result<T, StoreError>,
) -> Result<Result<T, StoreError>, StoreError> {
    session.query(&Statement::plain("SAVEPOINT jobdoctor_rows"))?;
    let done = work(session);
    match &done {
        Err(error) if !is_of_a_row(error) => return done.map(Ok),
        Err(_) if !session.in_transaction() => return Ok(done),
        Err(_) => {
            session.query(&Statement::plain("ROLLBACK TO SAVEPOINT jobdoctor_rows"))?;
        }
        Ok(_) => {}
    }
    session.query(&Statement::plain("RELEASE SAVEPOINT jobdoctor_rows"))?;
    Ok(done)
}

/// The end of a row that could not be moved alone.
fn row_result(error: &StoreError) -> End {
    match error.kind {
        StoreErrorKind::Busy => End::of(Outcome::Locked),
        _ => End::refused(row_error(error)),
    }
}

/// Why a transaction of a batch did not commit.
pub(super) enum Failure {
    /// A row's data is the reason.
    RowData(StoreError),
    /// A row's data is the reason, and the database refused only the commit, so no savepoint tells which row.
    AtCommit(StoreError),
    /// A row's data made the database abort the whole transaction.
    Aborted(Aborted),
    Store(StoreError),
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
