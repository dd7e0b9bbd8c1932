//! The savepoint fallback for a batch in which a row is refused or locked: halves of halves are tried behind savepoints
//! until each such row stands alone. One row in 500 takes some twenty tries, not 500; meanwhile the batch's locks block
//! workers.

use super::execute::{is_of_a_row, row_error};
use super::failure::{Aborted, Failure};
use crate::model::{End, Outcome};
use crate::store::session::Session;
use crate::store::sql::Statement;
use crate::store::{StoreError, StoreErrorKind};

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
    session.execute(&Statement::plain("SAVEPOINT jobdoctor_rows"))?;
    let done = work(session);
    match &done {
        Err(error) if !is_of_a_row(error) => return done.map(Ok),
        Err(_) if !session.in_transaction() => return Ok(done),
        Err(_) => {
            session.execute(&Statement::plain("ROLLBACK TO SAVEPOINT jobdoctor_rows"))?;
        }
        Ok(_) => {}
    }
    session.execute(&Statement::plain("RELEASE SAVEPOINT jobdoctor_rows"))?;
    Ok(done)
}

/// The end of a row that could not be moved alone.
fn row_result(error: &StoreError) -> End {
    match error.kind {
        StoreErrorKind::Busy => End::of(Outcome::Locked),
        _ => End::refused(row_error(error)),
    }
}
