//! Rows of a batch of which at least one is refused, or needs what another session holds: halves of halves are tried behind
//! savepoints until what cannot be moved stands alone. One row in 500 takes some twenty tries, not 500, and all that time the
//! batch's locks stand in the workers' way.

use super::execute::{ActionContext, is_of_a_row, row_error};
use super::failure::{Aborted, Failure};
use super::slices::act_on;
use crate::model::{Batch, Outcome, StepResult};
use crate::preset::{ActionSpec, QueueSpec};
use crate::store::session::Session;
use crate::store::sql::Statement;
use crate::store::{StoreError, StoreErrorKind};

/// So many rows alone, all of them for want of a lock and none of them moved: it is no row that is held but a table.
const HELD: usize = 20;

/// The results of those rows that were not moved.
///
/// # Errors
/// When it is not the rows: all of them meet the same odd error, or nobody gets a lock.
pub(super) fn with_savepoints<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    context: &ActionContext<'_>,
    is_row_by_row: bool,
    rows: Vec<usize>,
) -> Result<Vec<(usize, StepResult)>, Failure> {
    let count = rows.len();
    let mut groups = if is_row_by_row { rows.chunks(1).rev().map(<[usize]>::to_vec).collect() } else { halves(&rows) };
    let mut results = Vec::new();
    let (mut odd, mut held, mut some_moved) = (Vec::new(), Vec::new(), false);
    while let Some(group) = groups.pop() {
        let Err(error) = behind_savepoint(session, spec, moved, batch, &group, context)? else {
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
                let is_held = error.kind == StoreErrorKind::Busy;
                let result =
                    if is_held { StepResult::of(Outcome::Locked) } else { StepResult::refused(row_error(&error)) };
                results.push((n, result));
                if let (Some(error), false) = (held.get(HELD), some_moved) {
                    return Err(Failure::Store(error.clone()));
                }
            }
            _ if is_aborted => return Err(Failure::Aborted(Aborted::OneOfMany)),
            _ => groups.extend(halves(&group)),
        }
    }
    match odd.first() {
        // Of one row alone, only what the tables cannot do at all is no fault of its own.
        Some(error) if odd.len() == count && (count > 1 || error.kind == StoreErrorKind::Unfit) => {
            Err(Failure::Store(error.clone()))
        }
        _ => Ok(results),
    }
}

/// The two halves, the first on top.
fn halves(rows: &[usize]) -> Vec<Vec<usize>> {
    let (first, second) = rows.split_at(rows.len() / 2);
    [second, first].into_iter().filter(|half| !half.is_empty()).map(<[usize]>::to_vec).collect()
}

/// Acts on some rows so that it can be taken back; the inner error is theirs.
fn behind_savepoint<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    rows: &[usize],
    context: &ActionContext<'_>,
) -> Result<Result<(), StoreError>, StoreError> {
    session.execute(&Statement::plain("SAVEPOINT jobdoctor_rows"))?;
    match act_on(session, spec, moved, batch, rows, &ActionContext { again: true, ..*context }) {
        Ok(()) => {
            session.execute(&Statement::plain("RELEASE SAVEPOINT jobdoctor_rows"))?;
            Ok(Ok(()))
        }
        Err(error) if is_of_a_row(&error) => {
            if session.in_transaction() {
                session.execute(&Statement::plain("ROLLBACK TO SAVEPOINT jobdoctor_rows"))?;
                session.execute(&Statement::plain("RELEASE SAVEPOINT jobdoctor_rows"))?;
            }
            Ok(Err(error))
        }
        Err(error) => Err(error),
    }
}
