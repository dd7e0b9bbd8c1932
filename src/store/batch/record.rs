//! Step three of a batch: records what was done, in the transaction that did it and before it commits.

use crate::model::{
    Cell, End, Fingerprint, Key, Remedy, RowChange, RowImage, RunHead, Step, Timestamp, ValueChange, hex,
};
use crate::preset::{Column, Jobs, LedgerSpec};
use crate::store::session::Session;
use crate::store::sql;
use crate::store::{StoreError, StoreErrorKind};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Records what each batch is about to commit.
pub trait Recorder {
    /// The run; `None` if nothing is recorded: then rows are not read for it.
    fn head(&self) -> Option<&RunHead>;

    /// Records the steps whose rows are about to be committed, right before that; `at` is the transaction's own clock.
    /// Not called for a transaction that has moved nothing; called again for one that is tried again.
    ///
    /// # Errors
    /// When they must be recorded and cannot be: the transaction is rolled back.
    fn intent(&mut self, at: Timestamp, steps: &[Step<End>]) -> Result<(), StoreError>;
}

/// Reads the rows of these keys, one by one; by their number.
pub(in crate::store) fn images<S: Session + ?Sized>(
    session: &mut S,
    jobs: &Jobs,
    columns: &[&Column],
    keys: &[&Key],
    lock: Option<bool>,
) -> Result<BTreeMap<usize, RowImage>, StoreError> {
    let mut found = BTreeMap::new();
    if keys.is_empty() {
        return Ok(found);
    }
    let statement = sql::images(jobs, session.dialect(), columns, keys, lock);
    session.stream(&statement, &mut |row| {
        if let Some((Cell::Integer(n), rest)) = row.split_first_mut() {
            let n = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
            found.extend(n.zip(image(jobs, columns, rest)));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Takes the image out of a row of a statement, after the number.
pub(super) fn image(jobs: &Jobs, columns: &[&Column], cells: &mut [Cell]) -> Option<RowImage> {
    let (values, whole) = cells.split_at_mut_checked(columns.len())?;
    let fingerprint = fingerprint(&jobs.row, whole);
    Some(RowImage { values: values.iter_mut().map(std::mem::take).collect(), fingerprint })
}

/// Of the names of all columns and the values in them, each with its length and kind, so that no two rows run together
/// to the same bytes.
pub fn fingerprint(columns: &[Column], cells: &[Cell]) -> Fingerprint {
    let mut hash = Sha256::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    columns.iter().for_each(|column| add(b'c', column.name.as_bytes()));
    for cell in cells {
        match cell {
            Cell::Null => add(b'0', &[]),
            Cell::Integer(n) => add(b'i', &n.to_be_bytes()),
            Cell::Real(n) => add(b'r', &n.to_bits().to_be_bytes()),
            Cell::Text(text) => add(b't', text.as_bytes()),
            Cell::BrokenText(bytes) => add(b'u', bytes),
            Cell::Bytes(bytes) => add(b'b', bytes),
            Cell::Instant(micros) => add(b'z', &micros.to_be_bytes()),
            Cell::WallClock(micros) => add(b'w', &micros.to_be_bytes()),
            Cell::Infinity => add(b'+', &[]),
            Cell::NegativeInfinity => add(b'-', &[]),
        }
    }
    Fingerprint(hex(&hash.finalize()))
}

/// What became of a row, from how it was before and how it is now.
pub(super) fn change(columns: &[Arc<str>], before: RowImage, after: RowImage) -> RowChange {
    let values = columns.iter().cloned().zip(before.values.into_iter().zip(after.values));
    RowChange {
        values: values.map(|(column, (before, after))| ValueChange { column, before, after }).collect(),
        before: before.fingerprint,
        after: after.fingerprint,
    }
}

/// Adds the ledger's rows, then has the recorder write the intent: the last thing before the commit.
pub(super) fn record<S: Session + ?Sized>(
    session: &mut S,
    jobs: &Jobs,
    recorder: &mut dyn Recorder,
    at: Timestamp,
    steps: &[Step<End>],
) -> Result<(), StoreError> {
    let Some(head) = recorder.head().filter(|_| !steps.is_empty()) else { return Ok(()) };
    if let Some(ledger) = &jobs.queue.ledger {
        add(session, ledger, head, at, steps)?;
    }
    recorder.intent(at, steps)
}

fn add<S: Session + ?Sized>(
    session: &mut S,
    ledger: &LedgerSpec,
    head: &RunHead,
    at: Timestamp,
    steps: &[Step<End>],
) -> Result<(), StoreError> {
    let dialect = session.dialect();
    let name = dialect.table(&ledger.table);
    if !ledger.lacks.is_empty() {
        let message = format!("the ledger {name} lacks columns: {}", ledger.lacks.join(", "));
        return Err(StoreError::new(StoreErrorKind::Unfit, message)
            .hint("rename or drop that table")
            .remedy(Remedy::MakeLedger));
    }
    // The jobs are locked by now: the ledger is waited for no longer than an action may take.
    let inserts = sql::ledger_inserts(dialect, ledger, head, at, steps);
    let (inserted, _) = session.act(inserts, None, false).map_err(|error| match error.kind {
        StoreErrorKind::Denied => {
            let role = session.role().unwrap_or_else(|| "(this role)".to_owned());
            let message = format!("may not write to the ledger {name}: {}", error.message);
            let error = StoreError { message, ..error };
            error.hint(format!("GRANT INSERT, SELECT ON {name} TO {role}"))
        }
        // A constraint on the ledger is no fault of a job's row.
        StoreErrorKind::RowData => StoreError {
            kind: StoreErrorKind::Unfit,
            message: format!("the ledger {name} refuses what is written there: {}", error.message),
            ..error
        },
        _ => error,
    })?;
    let written: u64 = inserted.iter().map(|inserted| inserted.touched).sum();
    if written != steps.len() as u64 {
        let of = steps.len();
        let message = format!("the ledger {name} took {written} of {of} rows: a trigger or a rule swallows the others");
        return Err(StoreError::new(StoreErrorKind::Unfit, message)
            .hint("the batch was rolled back; `jobdoctor check` names the triggers and rules: drop them"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<Column> {
        let column = |name: &&str| Column { alias: "j".into(), name: (*name).into(), type_name: String::new() };
        names.iter().map(column).collect()
    }

    #[test]
    fn rows_that_look_alike_have_other_fingerprints() {
        let two = columns(&["a", "b"]);
        let rows = [
            vec![Cell::Null, Cell::Null],
            vec![Cell::Text(String::new()), Cell::Null],
            vec![Cell::Null, Cell::Text(String::new())],
            vec![Cell::Integer(0), Cell::Null],
            vec![Cell::Real(0.0), Cell::Null],
            vec![Cell::Real(-0.0), Cell::Null],
            vec![Cell::Text("0".into()), Cell::Null],
            vec![Cell::Bytes(b"0".to_vec()), Cell::Null],
            vec![Cell::BrokenText(b"0".to_vec()), Cell::Null],
            vec![Cell::Text("ab".into()), Cell::Text("c".into())],
            vec![Cell::Text("a".into()), Cell::Text("bc".into())],
            vec![Cell::Instant(1), Cell::Null],
            vec![Cell::WallClock(1), Cell::Null],
            vec![Cell::Integer(1), Cell::Null],
            vec![Cell::Infinity, Cell::Null],
            vec![Cell::NegativeInfinity, Cell::Null],
        ];
        let prints: std::collections::BTreeSet<String> = rows.iter().map(|row| fingerprint(&two, row).0).collect();
        assert_eq!(prints.len(), rows.len());
        assert_ne!(fingerprint(&two, &rows[0]), fingerprint(&columns(&["a", "c"]), &rows[0]), "another column");
        assert_eq!(fingerprint(&two, &rows[0]), fingerprint(&two, &rows[0].clone()));
    }
}
