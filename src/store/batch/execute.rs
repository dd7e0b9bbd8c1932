//! Step two of a batch: runs the statements of an action on rows that are verified and locked, and checks their effect.

use crate::model::{Batch, Cell, Key, RowError, Timestamp};
use crate::preset::{ActionSpec, QueueSpec, Rows};
use crate::store::session::Session;
use crate::store::sql;
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the statements of an action write besides their own values.
pub(super) struct ActionContext<'a> {
    pub(super) now: Timestamp,
    pub(super) reason: &'a str,
    /// True if the action was tried with more rows before.
    pub(super) again: bool,
}

/// Rows that may run again at the same instant, and are written together.
struct Slice<'a> {
    keys: Vec<&'a Key>,
    /// How long after the transaction's now.
    wait: Duration,
}

/// Runs the action on some rows of a batch: its statements once for each instant, all in the batch's transaction.
pub(super) fn act_on<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    rows: &[usize],
    context: &ActionContext<'_>,
) -> Result<(), StoreError> {
    let keys: Vec<&Key> = rows.iter().filter_map(|n| batch.steps.get(*n)).map(|step| &step.key).collect();
    act(session, spec, moved, &keys, &slices(batch, rows), context)
}

/// The rows by their wait, the shortest first.
fn slices<'a>(batch: &Batch<'a>, rows: &[usize]) -> Vec<Slice<'a>> {
    let mut by_wait: BTreeMap<Duration, Vec<&Key>> = BTreeMap::new();
    for n in rows {
        if let Some(step) = batch.steps.get(*n) {
            by_wait.entry(wait(batch, *n)).or_default().push(&step.key);
        }
    }
    by_wait.into_iter().map(|(wait, keys)| Slice { keys, wait }).collect()
}

/// How long a job waits before it may run again.
pub(super) fn wait(batch: &Batch<'_>, n: usize) -> Duration {
    batch.waits.get(n).copied().unwrap_or_default()
}

/// Runs the statements slice by slice and checks that they moved exactly `keys`, which come on their own so that a row
/// missing from the slices is noticed.
fn act<S: Session>(
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
    let acts_on = |slice: &Slice<'_>| {
        let acts =
            sql::acts(spec, dialect, moved, &slice.keys, (context.now, context.now.plus(slice.wait)), context.reason);
        acts.into_iter().map(|act| (act, slice.keys.len() as u64)).collect::<Vec<_>>()
    };
    let acts: Vec<_> = slices.iter().flat_map(acts_on).collect();
    for (act, _) in &acts {
        session.names_are_found(&act.statement, context.again).map_err(|error| placed(error, moved))?;
    }
    session.begin_acting(context.again)?;
    for (act, rows) in acts {
        let touched = session.execute(&act.statement).map_err(|error| placed(error, moved))?;
        must_fit(touched, act.rows, rows)?;
    }
    session.end_acting()?;
    match sql::left_behind(spec, dialect, moved, keys) {
        Some(statement) => nothing_is_left(&session.query(&statement)?, &moved.to.name, each),
        None => Ok(()),
    }
}

/// Fails if rows are not in the state that is about to be reported; `counts` is the row of [`sql::left_behind`].
fn nothing_is_left(counts: &[Vec<Cell>], state: &str, each: u64) -> Result<(), StoreError> {
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
        _ => "the database did not say what the action did to the rows".to_owned(),
    };
    Err(StoreError::new(StoreErrorKind::RowData, message))
}

/// Adds the place in the preset or mapping to an error about a statement itself.
fn placed(error: StoreError, moved: &ActionSpec) -> StoreError {
    match error.kind {
        StoreErrorKind::Unfit => StoreError { message: format!("{}: {}", moved.at, error.message), ..error },
        _ => error,
    }
}

/// Fails if a statement on so many keys touched another number of rows than it must.
pub(super) fn must_fit(touched: u64, rows: Rows, each: u64) -> Result<(), StoreError> {
    let fits = match rows {
        Rows::Each => touched == each,
        Rows::AtMostEach => touched <= each,
        Rows::Any => true,
    };
    if fits {
        return Ok(());
    }
    let why = if touched > each { "the key is not unique" } else { "a trigger or rule interferes" };
    let message = format!("the statement touched {touched} rows instead of {each}: {why}");
    Err(StoreError::new(StoreErrorKind::RowData, message))
}

/// Whether an error during an action may concern one row only: its data, a lock that another session holds, or an error
/// raised by a trigger. The rows are then tried one by one to find out.
pub(super) fn is_of_a_row(error: &StoreError) -> bool {
    match error.kind {
        StoreErrorKind::RowData => true,
        StoreErrorKind::Busy => error.code.as_deref() == Some("55P03"),
        // Except for errors of the server itself.
        StoreErrorKind::Other | StoreErrorKind::Unfit => error
            .code
            .as_deref()
            .is_some_and(|code| !["XX", "53", "57", "58"].iter().any(|class| code.starts_with(class))),
        _ => false,
    }
}

/// The database's refusal of a row, for the report.
pub(super) fn row_error(error: &StoreError) -> RowError {
    RowError { sqlstate: error.code.clone(), constraint: error.constraint.clone(), message: error.message.clone() }
}
