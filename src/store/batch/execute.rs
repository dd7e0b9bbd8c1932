//! Step two of a batch: runs the statements of an action on rows that are verified and locked, and checks their effect.

use super::record::images;
use super::verify::set;
use crate::model::{Batch, Cell, End, Key, Outcome, RowChange, RowError, RowImage};
use crate::preset::{ActionSpec, Column, Jobs, Rows};
use crate::store::session::{Answered, Session};
use crate::store::sql::Occasion;
use crate::store::{StoreError, StoreErrorKind, sql};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// What the statements of an action write besides their own values.
pub(super) struct ActionContext<'a> {
    pub(super) occasion: Occasion<'a>,
    /// True if the action was tried with more rows before.
    pub(super) again: bool,
    /// The columns to record, where one look at the rows serves the check and the record.
    pub(super) recorded: Option<&'a [&'a Column]>,
}

/// How long a job waits before it may run again.
pub(super) fn wait(batch: &Batch<'_>, n: usize) -> Duration {
    batch.waits.get(n).copied().unwrap_or_default()
}

/// Runs the action on some rows of a batch: its statements once for each instant at which jobs may run again and each
/// reason to fail, all in the batch's transaction. Checks that they moved exactly these rows; gives their images by their place where asked.
pub(super) fn act_on<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    rows: &[usize],
    context: &ActionContext<'_>,
) -> Result<BTreeMap<usize, RowImage>, StoreError> {
    let (mut keys, mut alike): (Vec<&Key>, BTreeMap<_, Vec<&Key>>) = Default::default();
    for (n, step) in rows.iter().filter_map(|n| Some((*n, batch.steps.get(*n)?))) {
        keys.push(&step.key);
        alike.entry((wait(batch, n), step.fail_code())).or_default().push(&step.key);
    }
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let dialect = session.dialect();
    let (mut acts, mut fits) = (Vec::new(), Vec::new());
    let returning = context.recorded.and_then(|columns| sql::returning(jobs, dialect, moved, columns));
    for ((wait, fail_code), keys) in &alike {
        let (run_at, fail_code) = (context.occasion.now.plus(*wait), *fail_code);
        let occasion = Occasion { run_at, fail_code, ..context.occasion };
        for mut act in sql::acts(jobs, dialect, moved, keys, occasion) {
            if context.recorded.is_some() {
                sql::or_roll_back(jobs, dialect, moved, &mut act.statement);
            }
            act.statement.sql.push_str(returning.as_deref().unwrap_or_default());
            fits.push((act.rows, keys.len() as u64));
            acts.push(act.statement);
        }
    }
    let look = match context.recorded {
        Some(_) if returning.is_some() => Some(sql::returns_final_rows(jobs, dialect)),
        Some(columns) => Some(sql::after(jobs, dialect, moved, columns, &keys)),
        None => sql::left_behind(jobs, dialect, moved, &keys),
    };
    let (mut acted, looked) = session.act(acts, look, context.again).map_err(|error| placed(error, moved))?;
    for (acted, (rows, each)) in acted.iter().zip(fits) {
        require_rows(acted.touched, rows, each)?;
    }
    let Some(Answered { rows: mut looked, .. }) = looked else { return Ok(BTreeMap::new()) };
    let first = looked.first().map(Vec::as_slice);
    let Some(columns) = context.recorded else {
        return require_nothing_left(first, &moved.to.name, keys.len()).map(|()| BTreeMap::new());
    };
    if returning.is_none() {
        return effect(jobs, moved, columns, &mut looked, keys.len());
    }
    let are_final = matches!(first, Some([Cell::Integer(1)]));
    match returned(jobs, moved, columns, &keys, acted.iter_mut().flat_map(|acted| &mut acted.rows))
        .filter(|_| are_final)
    {
        Some(images) => Ok(images),
        None => {
            let mut looked = session.query(&sql::after(jobs, dialect, moved, columns, &keys))?;
            effect(jobs, moved, columns, &mut looked, keys.len())
        }
    }
}

/// The images in the rows of [`sql::returning`], if each job is among them in the announced state.
fn returned<'r>(
    jobs: &Jobs,
    moved: &ActionSpec,
    columns: &[&Column],
    keys: &[&Key],
    rows: impl Iterator<Item = &'r mut Vec<Cell>>,
) -> Option<BTreeMap<usize, RowImage>> {
    let places: HashMap<String, usize> = keys.iter().enumerate().map(|(n, key)| (key.exact(), n)).collect();
    let one = |row: &'r mut Vec<Cell>| {
        let (key, rest) = row.split_at_mut_checked(jobs.claim.key.len())?;
        let (state, image) = rest.split_first_mut()?;
        let place = places.get(&Key(key.to_vec()).exact()).filter(|_| state.to_text() == moved.to.stored.to_text());
        Some((*place?, super::record::image(jobs, columns, image)?))
    };
    let images: BTreeMap<usize, RowImage> = rows.map(one).collect::<Option<_>>()?;
    (images.len() == keys.len()).then_some(images)
}

/// The images in the rows of [`sql::after`], once it is checked that none of so many jobs is left behind.
fn effect(
    jobs: &Jobs,
    moved: &ActionSpec,
    columns: &[&Column],
    rows: &mut [Vec<Cell>],
    each: usize,
) -> Result<BTreeMap<usize, RowImage>, StoreError> {
    let (mut found, mut in_flight, mut elsewhere) = (BTreeMap::new(), 0, 0);
    let found_rows = rows.len();
    for row in rows {
        if let [Cell::Integer(n), image @ .., Cell::Integer(is_held), Cell::Integer(is_there)] = row.as_mut_slice() {
            let n = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
            found.extend(n.zip(super::record::image(jobs, columns, image)));
            in_flight += *is_held;
            elsewhere += 1 - *is_there;
        }
    }
    // A requeued row that is gone waits nowhere.
    let gone = if moved.requeues { each as i64 - found_rows as i64 } else { 0 };
    let counts = [Cell::Integer(in_flight), Cell::Integer(elsewhere + gone)];
    require_nothing_left(Some(&counts), &moved.to.name, each).map(|()| found)
}

/// Fails if rows are not in the state that is about to be reported; `counts` is the row of [`sql::left_behind`].
fn require_nothing_left(counts: Option<&[Cell]>, state: &str, each: usize) -> Result<(), StoreError> {
    let message = match counts {
        Some([Cell::Integer(0), Cell::Integer(0)]) => return Ok(()),
        Some([Cell::Integer(0), elsewhere]) => format!(
            "{elsewhere} of {each} rows are not in state {state} after the action: a trigger changed them, or the action does \
             not write it"
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
fn require_rows(touched: u64, rows: Rows, each: u64) -> Result<(), StoreError> {
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

/// The columns that a batch restores; `None` if it acts. Only those that the action assigns: a record may have been
/// altered.
pub(super) fn restored<'s>(jobs: &'s Jobs, batch: &Batch<'_>) -> Result<Option<Vec<&'s Column>>, StoreError> {
    let Some(row) = batch.steps.first().and_then(|step| step.restores()) else { return Ok(None) };
    let unfit = |message: String| StoreError::new(StoreErrorKind::Unfit, message);
    let written = jobs.revertible(batch.action);
    let written = written
        .ok_or_else(|| unfit(format!("a {} of preset {} cannot be reverted", batch.action, jobs.queue.preset)))?;
    let columns = row.values.iter().map(|value| {
        written.iter().copied().find(|column| *column.name == *value.column).ok_or_else(|| {
            let column = &value.column;
            unfit(format!("a {} of preset {} does not write column {column}", batch.action, jobs.queue.preset))
        })
    });
    columns.collect::<Result<_, _>>().map(Some)
}

/// The row that a step restores, with its number.
fn rows<'b>(batch: &Batch<'b>, numbers: &[usize]) -> Vec<(usize, &'b Key, &'b RowChange)> {
    let row = |n: &usize| batch.steps.get(*n).and_then(|step| Some((*n, &step.key, step.restores()?)));
    numbers.iter().filter_map(row).collect()
}

/// Locks the rows that are still what the run left, and settles the others as gone, changed or locked. Gives their
/// images.
pub(super) fn lock<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    columns: &[&Column],
    batch: &Batch<'_>,
    results: &mut [Option<End>],
) -> Result<BTreeMap<usize, RowImage>, StoreError> {
    let keys: Vec<&Key> = batch.steps.iter().map(|step| &step.key).collect();
    let for_update = jobs.actions.get(&batch.action).is_some_and(|moved| moved.locks_for_update);
    let locked = images(session, jobs, columns, &keys, Some(for_update))?;
    let missing = (0..keys.len()).any(|n| !locked.contains_key(&n));
    let seen = if missing { images(session, jobs, columns, &keys, None)? } else { BTreeMap::new() };
    for (n, step) in batch.steps.iter().enumerate() {
        let is_unchanged = |image: &RowImage| image.fingerprint.0 == step.precondition();
        let outcome = match (locked.get(&n), seen.get(&n)) {
            (Some(image), _) => (!is_unchanged(image)).then_some(Outcome::Changed),
            (None, Some(image)) if is_unchanged(image) => Some(Outcome::Locked),
            (None, Some(_)) => Some(Outcome::Changed),
            (None, None) => Some(Outcome::Gone),
        };
        if let Some(outcome) = outcome {
            set(results, n, End::of(outcome));
        }
    }
    Ok(locked)
}

/// Sets the columns of rows that are locked, and checks that they are what they were.
pub(super) fn set_back<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    columns: &[&Column],
    batch: &Batch<'_>,
    numbers: &[usize],
    again: bool,
) -> Result<(), StoreError> {
    let rows = rows(batch, numbers);
    if rows.is_empty() {
        return Ok(());
    }
    let (restores, each): (Vec<_>, Vec<_>) = sql::restores(jobs, session.dialect(), columns, &rows).into_iter().unzip();
    let (restored, _) = session.act(restores, None, again)?;
    restored.iter().zip(each).try_for_each(|(restored, each)| require_rows(restored.touched, Rows::Each, each))?;
    let keys: Vec<&Key> = rows.iter().map(|(_, key, _)| *key).collect();
    let now = images(session, jobs, columns, &keys, None)?;
    let is_restored = |(n, (_, _, row)): (usize, &(usize, &Key, &RowChange))| {
        let wanted = row.values.iter().map(|value| &value.before);
        now.get(&n).is_some_and(|image| image.values.iter().eq(wanted))
    };
    if rows.iter().enumerate().all(is_restored) {
        return Ok(());
    }
    let message = "a trigger changed the row after it was set back";
    Err(StoreError::new(StoreErrorKind::RowData, message))
}

/// Names the rows that have their values back and yet are not what they were in every column.
pub(super) fn differing(batch: &Batch<'_>, moved: &[usize], after: &BTreeMap<usize, RowImage>) -> Vec<String> {
    let rows = rows(batch, moved);
    let differs = rows.iter().filter(|(n, _, row)| after.get(n).map(|image| &image.fingerprint) != Some(&row.before));
    let ids: Vec<String> = differs.map(|(_, key, _)| key.to_string()).collect();
    let shown = ids.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
    let line = format!(
        "{} set back, but a trigger has written to other columns of the row: {shown}",
        if ids.len() == 1 { "1 job was".to_owned() } else { format!("{} jobs were", ids.len()) }
    );
    if ids.is_empty() { Vec::new() } else { vec![line] }
}
