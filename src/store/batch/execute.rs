//! Step two of a batch: the statements of an action on rows that are verified and locked.

use super::slices::Slice;
use crate::model::{Cell, Key, RowError, Timestamp};
use crate::preset::{ActionSpec, QueueSpec, Rows};
use crate::store::session::Session;
use crate::store::sql;
use crate::store::{StoreError, StoreErrorKind};

/// What the statements of an action write of their own.
pub(super) struct ActionContext<'a> {
    /// The transaction's clock.
    pub(super) now: Timestamp,
    /// Why the jobs are moved.
    pub(super) reason: &'a str,
    /// True if it was tried with more rows before.
    pub(super) again: bool,
}

/// Runs the statements of the action, slice by slice, and makes sure that they did exactly what they should. `keys` are all rows,
/// told apart from the slices so that one which fell between two of them would be missed.
pub(super) fn act<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    moved: &ActionSpec,
    keys: &[&Key],
    slices: &[Slice<'_>],
    context: &ActionContext<'_>,
) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let dialect = session.dialect();
    let each = keys.len() as u64;
    session.begin_acting(context.again)?;
    for slice in slices {
        let (keys, run_at) = (slice.keys.as_slice(), context.now.plus(slice.wait));
        for act in sql::acts(spec, dialect, moved, keys, (context.now, run_at), context.reason) {
            let touched = session.execute(&act.statement).map_err(|error| placed(error, moved))?;
            must_fit(touched, act.rows, keys.len() as u64)?;
        }
    }
    session.end_acting()?;
    match sql::left_behind(spec, dialect, moved, keys) {
        Some(statement) => nothing_is_left(&session.query(&statement)?, &moved.to.name, each),
        None => Ok(()),
    }
}

/// Whether the rows are what they are about to be reported as; `counts` is what [`sql::left_behind`] gives.
pub(in crate::store) fn nothing_is_left(counts: &[Vec<Cell>], state: &str, each: u64) -> Result<(), StoreError> {
    let message = match counts.first().map(Vec::as_slice) {
        Some([Cell::Integer(0), Cell::Integer(0)]) => return Ok(()),
        Some([Cell::Integer(0), elsewhere]) => format!(
            "{elsewhere} of {each} rows are not in state {state} after the action: a trigger changed them, or the action does \
             not write the state"
        ),
        Some([in_flight, _]) => format!(
            "{in_flight} of {each} rows are still in flight after the action: what it writes does not end the condition of \
             [claim], or a trigger undid it"
        ),
        _ => "the database did not say what became of the rows".to_owned(),
    };
    Err(StoreError::new(StoreErrorKind::RowData, message))
}

/// An error about the statements themselves, with the place in the preset or mapping that says what they do.
fn placed(error: StoreError, moved: &ActionSpec) -> StoreError {
    match error.kind {
        StoreErrorKind::Unfit => StoreError { message: format!("{}: {}", moved.at, error.message), ..error },
        _ => error,
    }
}

/// Whether a statement on so many keys touched as many rows as it must.
fn must_fit(touched: u64, rows: Rows, each: u64) -> Result<(), StoreError> {
    let fits = match rows {
        Rows::Each => touched == each,
        Rows::AtMostEach => touched <= each,
        Rows::Any => true,
    };
    if fits {
        return Ok(());
    }
    let why = if touched > each { "the key is not unique" } else { "a trigger or rule stands in the way" };
    let message = format!("the statement touched {touched} rows instead of {each}: {why}");
    Err(StoreError::new(StoreErrorKind::RowData, message))
}

/// Whether an error in the middle of an action may be one row's: its data is in the way, another session holds what it needs, or
/// a trigger raised whatever it likes. Rows are then tried one by one, which finds out.
pub(super) fn is_of_a_row(error: &StoreError) -> bool {
    match error.kind {
        StoreErrorKind::RowData => true,
        StoreErrorKind::Busy => error.code.as_deref() == Some("55P03"),
        // What the server says of itself, not of a statement.
        StoreErrorKind::Other | StoreErrorKind::Unfit => error
            .code
            .as_deref()
            .is_some_and(|code| !["XX", "53", "57", "58"].iter().any(|class| code.starts_with(class))),
        _ => false,
    }
}

/// Why the database refused a row, as a report tells it.
pub(super) fn row_error(error: &StoreError) -> RowError {
    RowError { sqlstate: error.code.clone(), constraint: error.constraint.clone(), message: error.message.clone() }
}
