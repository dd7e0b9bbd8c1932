use super::database::{Database, now};
use super::expression::{Scope, evaluate};
use super::record::{changes, image, rows};
use super::row::{Joined, joined, owner_image, owner_row};
use jobdoctor::model::{Batch, BatchReport, Cell, EvidenceRow, Outcome, RestoreBatch, Step, StepResult, Timestamp};
use jobdoctor::preset::{ActionSpec, Assignment, Column, Marker, QueueSpec, StepSpec};
use jobdoctor::store::{Recorder, StoreError, StoreErrorKind, SweepLock, Writer};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Moves rows that are still what was judged.
pub struct MemoryWriter {
    database: Arc<Mutex<Database>>,
}

impl MemoryWriter {
    /// A writer to that database.
    pub fn new(database: Arc<Mutex<Database>>) -> MemoryWriter {
        MemoryWriter { database }
    }
}

impl Writer for MemoryWriter {
    /// It takes none: no test of it has several writers.
    fn use_sweep_lock(&mut self, _: SweepLock) {}

    fn roll_back(&mut self) {
        let copy = self.database.lock().unwrap().clone();
        self.database = Arc::new(Mutex::new(copy));
    }

    fn apply(&mut self, spec: &QueueSpec, batch: &Batch<'_>, recorder: &mut dyn Recorder) -> BatchReport<StoreError> {
        must_keep_the_contract(spec, batch);
        let Some(moved) = spec.actions.get(&batch.action).filter(|moved| moved.refused.is_none()) else {
            let error = StoreError::new(StoreErrorKind::Unfit, format!("there is no {}", batch.action));
            let results = batch.steps.iter().map(|_| StepResult::of(Outcome::NotTried)).collect();
            return BatchReport { results, stop: Some(error), warnings: Vec::new(), took: Duration::ZERO };
        };
        let mut database = self.database.lock().unwrap();
        let now = now();
        let (before, saved) = (rows(&database, spec), database.clone());
        let outcomes = batch.steps.iter().enumerate().map(|(n, step)| {
            let run_at = now.plus(batch.waits.get(n).copied().unwrap_or_default());
            apply(&mut database, spec, moved, step, batch.reason, (now, run_at))
        });
        let outcomes: Vec<Outcome> = outcomes.collect();
        let columns = spec.recorded(batch.action);
        let keys = batch.steps.iter().map(|step| &step.key);
        let changes = changes(spec, columns.as_deref(), &before, &rows(&database, spec), keys.zip(&outcomes));
        recorded(&mut database, saved, recorder, now, &changes, outcomes)
    }

    fn restore(
        &mut self,
        spec: &QueueSpec,
        batch: &RestoreBatch<'_>,
        recorder: &mut dyn Recorder,
    ) -> BatchReport<StoreError> {
        let mut database = self.database.lock().unwrap();
        let table = spec.tables[&spec.claim.lock_table].name.as_str();
        let columns: Vec<&Column> = spec.recorded(batch.action).expect("an action that can be taken back");
        let (before, saved, now) = (rows(&database, spec), database.clone(), now());
        let mut outcomes = Vec::new();
        for (n, restore) in batch.rows.iter().enumerate() {
            assert!(!batch.rows[..n].iter().any(|other| other.key == restore.key), "{} is there twice", restore.key);
            for (name, _) in &restore.values {
                assert!(columns.iter().any(|column| column.name == *name), "{name} is none that the action writes");
            }
            let row = before.iter().find(|(key, _)| *key == restore.key).map(|(_, row)| row);
            outcomes.push(match row {
                None => Outcome::Gone,
                Some(row) if image(spec, &[], row).fingerprint != restore.now => Outcome::Changed,
                Some(row) if database.is_locked(table, row) => Outcome::Locked,
                Some(row) => {
                    let cells = restore.values.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                    let key = row[database.key_of(table)].clone();
                    database.put(table, &key, cells);
                    Outcome::Moved
                }
            });
        }
        let keys = batch.rows.iter().map(|row| &row.key);
        let changes = changes(spec, Some(&columns), &before, &rows(&database, spec), keys.zip(&outcomes));
        recorded(&mut database, saved, recorder, now, &changes, outcomes)
    }
}

/// Tells the recorder, and takes everything back if it says no.
fn recorded(
    database: &mut Database,
    saved: Database,
    recorder: &mut dyn Recorder,
    now: Timestamp,
    changes: &[jobdoctor::model::Change],
    outcomes: Vec<Outcome>,
) -> BatchReport<StoreError> {
    let told = if changes.is_empty() || !recorder.keeps() { Ok(()) } else { recorder.intent(now, changes) };
    match told {
        Ok(()) => {
            let results = outcomes.into_iter().map(StepResult::of).collect();
            BatchReport { results, stop: None, warnings: Vec::new(), took: Duration::ZERO }
        }
        Err(error) => {
            *database = saved;
            let results = outcomes.iter().map(|_| StepResult::of(Outcome::NotTried)).collect();
            BatchReport { results, stop: Some(error), warnings: Vec::new(), took: Duration::ZERO }
        }
    }
}

fn must_keep_the_contract(spec: &QueueSpec, batch: &Batch<'_>) {
    assert!(batch.waits.is_empty() || batch.waits.len() == batch.steps.len(), "a wait for each step, or for none");
    for (n, step) in batch.steps.iter().enumerate() {
        assert_eq!(step.action, batch.action, "a batch has one kind of action");
        assert!(!step.precondition.0.is_empty(), "a step without a precondition");
        assert_eq!(step.key.0.len(), spec.claim.key.len(), "a key that is none");
        assert!(!batch.steps[..n].iter().any(|other| other.key == step.key), "{} is in the batch twice", step.key);
    }
}

fn apply(
    database: &mut Database,
    spec: &QueueSpec,
    moved: &ActionSpec,
    step: &Step,
    reason: &str,
    times: (Timestamp, Timestamp),
) -> Outcome {
    let tables = database.snapshot();
    let rows = joined(spec, &tables);
    let table = spec.tables[&spec.claim.lock_table].name.as_str();
    let Some(row) = rows.iter().find(|row| row.key() == step.key) else { return Outcome::Gone };
    if let Some(outcome) = evidence_row(database, spec, step, &tables) {
        return outcome;
    }
    let held = spec.skips.iter().zip(row.skips()).any(|(skip, applies)| applies && skip.actions.contains(&step.action));
    if !row.in_flight() || row.precondition() != step.precondition || held {
        return Outcome::Changed;
    }
    if database.is_locked(table, row.row) {
        return Outcome::Locked;
    }
    let cells: Vec<(&str, Cell)> = moved
        .steps
        .iter()
        .flat_map(assignments)
        .map(|a| (a.column.name.as_str(), assigned(a, row, reason, times)))
        .collect();
    let key = row.row[database.key_of(table)].clone();
    database.put(table, &key, cells);
    Outcome::Moved
}

/// What the owner's row says against the step, if anything.
fn evidence_row(
    database: &Database,
    spec: &QueueSpec,
    step: &Step,
    tables: &std::collections::BTreeMap<&'static str, Vec<super::database::Row>>,
) -> Option<Outcome> {
    let owner = spec.owner.row.as_ref()?;
    let table = spec.tables[&owner.table].name.as_str();
    match &step.evidence_row {
        EvidenceRow::None => None,
        EvidenceRow::Absent => database.is_written(table).then_some(Outcome::Locked),
        EvidenceRow::Row { key, image } => match owner_row(spec, owner, tables, key) {
            Some(row) if owner_image(owner, row) == *image => database.is_locked(table, row).then_some(Outcome::Locked),
            _ => Some(Outcome::Changed),
        },
    }
}

fn assignments(step: &StepSpec) -> &[Assignment] {
    match step {
        StepSpec::Update(assignments) => assignments,
        StepSpec::Sql { .. } => panic!("the memory store knows only moves made of assignments"),
    }
}

fn assigned(assignment: &Assignment, row: &Joined<'_>, reason: &str, (now, run_at): (Timestamp, Timestamp)) -> Cell {
    let column = |alias: &str, name: &str| {
        assert_eq!(alias, "j", "an assignment reads the row itself");
        row.row[name].clone()
    };
    let marker = |marker: &Marker| match marker {
        Marker::Now(None) | Marker::RunAt(None) => {
            let encodings = assignment.encodings.as_ref().expect("a time is written in its column's encoding");
            encodings.encode(if matches!(marker, Marker::Now(_)) { now } else { run_at })
        }
        Marker::Reason => Cell::Text(reason.to_owned()),
        other => panic!("no value for {other:?} here"),
    };
    evaluate(&assignment.value, &Scope { column: &column, marker: &marker })
}
