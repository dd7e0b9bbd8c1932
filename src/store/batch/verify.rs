//! Step one of a batch: locks the evidence rows and the jobs, and settles each step whose row is no longer what was
//! judged.

use super::record::image;
use crate::model::{Batch, Cell, End, EvidenceRow, Key, Outcome, Precondition, RowError, RowImage};
use crate::preset::{ActionSpec, Column, Jobs};
use crate::store::StoreError;
use crate::store::session::Session;
use crate::store::sql::{self, Statement};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Locks the owners' rows on which verdicts rest, and settles the steps whose evidence row has changed.
pub(super) fn evidence_rows<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    batch: &Batch<'_>,
) -> Result<Vec<Option<End>>, StoreError> {
    let mut results: Vec<Option<End>> = batch.steps.iter().map(|_| None).collect();
    // If no other session can write meanwhile, the precondition, which covers the owner's row, is enough.
    let Some(row) = jobs.owner.row.as_ref().filter(|_| session.shares_writes()) else { return Ok(results) };
    let mut keys: BTreeMap<String, Key> = BTreeMap::new();
    for step in batch.steps {
        if let (EvidenceRow::Row { key, .. }, true) = (step.evidence_row(), row.can_lock) {
            let key = Key(vec![key.clone()]);
            keys.insert(key.exact(), key);
        }
    }
    let dialect = session.dialect();
    let keys: Vec<&Key> = keys.values().collect();
    let locked = images(session, &sql::evidence_rows(jobs, dialect, row, &keys, true), &keys)?;
    let missed = keys.iter().any(|key| !locked.contains_key(&key.exact()));
    let seen = if missed {
        images(session, &sql::evidence_rows(jobs, dialect, row, &keys, false), &keys)?
    } else {
        BTreeMap::new()
    };
    let absent = batch.steps.iter().any(|step| *step.evidence_row() == EvidenceRow::Absent);
    let returning = absent && session.count(&sql::evidence_writers(jobs, dialect, &row.table))? > 0;
    for (n, step) in batch.steps.iter().enumerate() {
        let outcome = match step.evidence_row() {
            EvidenceRow::None => None,
            EvidenceRow::Row { .. } if !row.can_lock => None,
            EvidenceRow::Absent => returning.then_some(Outcome::Locked),
            EvidenceRow::Row { key, image } => {
                let key = Key(vec![key.clone()]).exact();
                match (locked.get(&key), seen.get(&key)) {
                    (Some(now), _) => (now != image).then_some(Outcome::Changed),
                    (None, Some(now)) if now == image => Some(Outcome::Locked),
                    (None, _) => Some(Outcome::Changed),
                }
            }
        };
        if let Some(outcome) = outcome {
            set(&mut results, n, End::of(outcome));
        }
    }
    Ok(results)
}

fn images<S: Session>(
    session: &mut S,
    statement: &Statement,
    keys: &[&Key],
) -> Result<BTreeMap<String, Precondition>, StoreError> {
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = session.query(statement)?;
    let pair = |row: Vec<Cell>| match row.as_slice() {
        [key, image] => Some((Key(vec![key.clone()]).exact(), Precondition(image.to_text().unwrap_or_default()))),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(pair).collect())
}

/// Locks the rows whose precondition still holds, and settles the others as gone, changed or locked. Gives the images
/// of the locked rows by their step if the columns to record are named.
pub(super) fn verify<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    recorded: Option<&[&Column]>,
    results: &mut [Option<End>],
) -> Result<BTreeMap<usize, RowImage>, StoreError> {
    let (open, mut images) = (open(results), BTreeMap::new());
    if open.is_empty() {
        return Ok(images);
    }
    let kind = (batch.action, moved.locks_for_update);
    let statement = sql::verify(jobs, session.dialect(), kind, recorded, &wanted(batch, &open));
    let mut verified = BTreeSet::new();
    for mut row in session.query(&statement)? {
        if let Some(n) = position(&row, &open) {
            verified.insert(n);
            let cells = row.get_mut(1..).unwrap_or_default();
            images.extend(recorded.and_then(|columns| image(jobs, columns, cells)).map(|image| (n, image)));
        }
    }
    let missing: Vec<usize> = open.into_iter().filter(|n| !verified.contains(n)).collect();
    let unchanged = is_unchanged(session, jobs, batch, &missing)?;
    for n in missing {
        let outcome = match unchanged.get(&n) {
            None => Outcome::Gone,
            Some(false) => Outcome::Changed,
            Some(true) => Outcome::Locked,
        };
        set(results, n, End::of(outcome));
    }
    Ok(images)
}

/// Whether the rows of these steps are still what was judged, read without a lock; missing rows are left out.
fn is_unchanged<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    batch: &Batch<'_>,
    numbers: &[usize],
) -> Result<BTreeMap<usize, bool>, StoreError> {
    let mut unchanged = BTreeMap::new();
    if numbers.is_empty() {
        return Ok(unchanged);
    }
    let statement = sql::reread(jobs, session.dialect(), batch.action, &wanted(batch, numbers));
    for row in session.query(&statement)? {
        if let Some(n) = position(&row, numbers) {
            *unchanged.entry(n).or_default() |= matches!(row.get(1), Some(Cell::Integer(1)));
        }
    }
    Ok(unchanged)
}

/// Reads evidence that cannot be locked once more, now that the jobs are locked: a missing owner's row, and signs of
/// life in a view or a sub-select.
pub(super) fn read_again<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    batch: &Batch<'_>,
    results: &mut [Option<End>],
) -> Result<(), StoreError> {
    let open = open(results);
    let is_absent = |n: &usize| batch.steps.get(*n).is_some_and(|step| *step.evidence_row() == EvidenceRow::Absent);
    let is_unlocked = jobs.unlocked.is_some() || open.iter().any(is_absent);
    if !is_unlocked || !session.shares_writes() {
        return Ok(());
    }
    let is_written = has_writers(session, jobs)?;
    let unchanged = is_unchanged(session, jobs, batch, &open)?;
    for n in open {
        match unchanged.get(&n) {
            Some(true) if is_written => set(results, n, End::of(Outcome::Locked)),
            Some(true) => {}
            _ => set(results, n, End::of(Outcome::Changed)),
        }
    }
    Ok(())
}

/// How often writers of evidence that cannot be locked are asked for, and the pause before each further time: a heartbeat
/// takes a moment.
const ASKED: (u32, Duration) = (20, Duration::from_millis(10));

/// Whether some session still writes to a table whose rows show life and cannot be locked: its sign of life is not to be
/// seen before it commits.
fn has_writers<S: Session>(session: &mut S, jobs: &Jobs) -> Result<bool, StoreError> {
    let tables = jobs.evidence_tables();
    let statements: Vec<Statement> =
        tables.iter().map(|table| sql::evidence_writers(jobs, session.dialect(), table)).collect();
    for again in 0..ASKED.0 {
        let mut writers = 0;
        for statement in &statements {
            writers += session.count(statement)?;
        }
        if writers == 0 {
            return Ok(false);
        }
        if again + 1 < ASKED.0 {
            std::thread::sleep(ASKED.1);
        }
    }
    Ok(true)
}

/// Refuses each row whose key another row or step has too: no statement could tell them apart. Where an index proves
/// that a key names one row, the database is not asked.
pub(super) fn refuse_shared_keys<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    keys: &[&Key],
    results: &mut [Option<End>],
) -> Result<(), StoreError> {
    let open = open(results);
    let rows: Vec<(&Key, &str)> = open.iter().filter_map(|n| keys.get(*n)).map(|key| (*key, "")).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let mut steps: BTreeMap<String, usize> = BTreeMap::new();
    keys.iter().for_each(|key| *steps.entry(key.exact()).or_default() += 1);
    let is_twice = |n: &usize| keys.get(*n).and_then(|key| steps.get(&key.exact())).is_some_and(|count| *count > 1);
    let mut shared: BTreeSet<usize> = open.iter().copied().filter(is_twice).collect();
    if !jobs.claim.has_unique_key {
        let statement = sql::shared_keys(jobs, session.dialect(), &rows);
        shared.extend(session.query(&statement)?.iter().filter_map(|row| position(row, &open)));
    }
    for n in shared {
        let message = "the key is not unique: it names more than one row or claim".to_owned();
        set(results, n, End::refused(RowError { sqlstate: None, constraint: None, message }));
    }
    Ok(())
}

/// Evaluates the preset's guard for each row that is locked and verified; a job that does not pass is held by a worker.
pub(super) fn guarded<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    keys: &[&Key],
    results: &mut [Option<End>],
) -> Result<(), StoreError> {
    let Some(guard) = &jobs.claim.guard else { return Ok(()) };
    let open = open(results);
    let wanted: Vec<(&Key, &str)> = open.iter().filter_map(|n| keys.get(*n)).map(|key| (*key, "")).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let rows = session
        .query(&sql::guard(jobs, session.dialect(), guard, &wanted))
        .map_err(|error| error.of_expressions(jobs))?;
    let passed = rows.iter().filter(|row| matches!(row.get(1), Some(Cell::Integer(1))));
    let passed: BTreeSet<usize> = passed.filter_map(|row| position(row, &open)).collect();
    for n in open.into_iter().filter(|n| !passed.contains(n)) {
        set(results, n, End::of(Outcome::Locked));
    }
    Ok(())
}

fn wanted<'b>(batch: &Batch<'b>, numbers: &[usize]) -> Vec<(&'b Key, &'b str)> {
    let steps = numbers.iter().filter_map(|n| batch.steps.get(*n));
    steps.map(|step| (&step.key, step.precondition())).collect()
}

/// The steps that are not settled.
pub(super) fn open(results: &[Option<End>]) -> Vec<usize> {
    (0..results.len()).filter(|n| results.get(*n).is_some_and(Option::is_none)).collect()
}

pub(super) fn set(results: &mut [Option<End>], n: usize, result: End) {
    if let Some(place) = results.get_mut(n) {
        *place = Some(result);
    }
}

/// The step of a row, by the row's number in the statement.
fn position(row: &[Cell], numbers: &[usize]) -> Option<usize> {
    match row.first() {
        Some(Cell::Integer(n)) => usize::try_from(*n).ok().and_then(|n| numbers.get(n.checked_sub(1)?)).copied(),
        _ => None,
    }
}
