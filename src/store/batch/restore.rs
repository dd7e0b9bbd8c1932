//! Restores rows that a run changed: locks and compares the whole row, sets the recorded columns, and checks the
//! effect.

use super::execute::must_fit;
use super::record::images;
use super::verify::set;
use crate::model::{Batch, End, Key, Outcome, RowChange, RowImage};
use crate::preset::{Column, QueueSpec, Rows};
use crate::store::session::Session;
use crate::store::sql;
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// The columns that a batch restores; `None` if it acts. Only those that the action assigns: a record may have been
/// altered.
pub(super) fn restored<'s>(spec: &'s QueueSpec, batch: &Batch<'_>) -> Result<Option<Vec<&'s Column>>, StoreError> {
    let Some(row) = batch.steps.first().and_then(|step| step.restores()) else { return Ok(None) };
    let unfit = |message: String| StoreError::new(StoreErrorKind::Unfit, message);
    let written = spec.revertible(batch.action);
    let written =
        written.ok_or_else(|| unfit(format!("a {} of preset {} cannot be reverted", batch.action, spec.preset)))?;
    let columns = row.values.iter().map(|value| {
        written.iter().copied().find(|column| column.name == value.column).ok_or_else(|| {
            let column = &value.column;
            unfit(format!("a {} of preset {} does not write column {column}", batch.action, spec.preset))
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
    spec: &QueueSpec,
    columns: &[&Column],
    batch: &Batch<'_>,
    results: &mut [Option<End>],
) -> Result<BTreeMap<usize, RowImage>, StoreError> {
    let keys: Vec<&Key> = batch.steps.iter().map(|step| &step.key).collect();
    let for_update = spec.actions.get(&batch.action).is_some_and(|moved| moved.locks_for_update);
    let locked = images(session, spec, columns, &keys, Some(for_update))?;
    let missing = (0..keys.len()).any(|n| !locked.contains_key(&n));
    let seen = if missing { images(session, spec, columns, &keys, None)? } else { BTreeMap::new() };
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
    spec: &QueueSpec,
    columns: &[&Column],
    batch: &Batch<'_>,
    numbers: &[usize],
    again: bool,
) -> Result<(), StoreError> {
    let rows = rows(batch, numbers);
    if rows.is_empty() {
        return Ok(());
    }
    session.begin_acting(again)?;
    for (statement, each) in sql::restores(spec, session.dialect(), columns, &rows) {
        must_fit(session.execute(&statement)?, Rows::Each, each)?;
    }
    session.end_acting()?;
    let keys: Vec<&Key> = rows.iter().map(|(_, key, _)| *key).collect();
    let now = images(session, spec, columns, &keys, None)?;
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
