use super::database::{Database, now};
use super::expression::{Scope, evaluate};
use super::row::{Joined, joined, owner_image, owner_row};
use jobdoctor::model::{Batch, BatchReport, Cell, Outcome, Step, StepResult, Timestamp, Witness};
use jobdoctor::spec::{Assignment, Marker, MoveSpec, QueueSpec, StepSpec};
use jobdoctor::store::{StoreError, StoreErrorKind, Writer};
use std::sync::{Arc, Mutex};

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
    fn apply(&mut self, spec: &QueueSpec, batch: &Batch<'_>) -> BatchReport<StoreError> {
        must_keep_the_contract(spec, batch);
        let Some(moved) = spec.moves.get(&batch.r#move).filter(|moved| moved.refused.is_none()) else {
            let error = StoreError::new(StoreErrorKind::Unfit, format!("there is no {}", batch.r#move));
            let results = batch.steps.iter().map(|_| StepResult::of(Outcome::NotTried)).collect();
            return BatchReport { results, stop: Some(error), warnings: Vec::new() };
        };
        let mut database = self.database.lock().unwrap();
        let now = now();
        let outcomes = batch.steps.iter().map(|step| apply(&mut database, spec, moved, step, batch.reason, now));
        BatchReport { results: outcomes.map(StepResult::of).collect(), stop: None, warnings: Vec::new() }
    }
}

fn must_keep_the_contract(spec: &QueueSpec, batch: &Batch<'_>) {
    for (n, step) in batch.steps.iter().enumerate() {
        assert_eq!(step.r#move, batch.r#move, "a batch has one kind of move");
        assert!(!step.fence.0.is_empty(), "a step without a fence");
        assert_eq!(step.key.0.len(), spec.claim.key.len(), "a key that is none");
        assert!(!batch.steps[..n].iter().any(|other| other.key == step.key), "{} is in the batch twice", step.key);
    }
}

fn apply(
    database: &mut Database,
    spec: &QueueSpec,
    moved: &MoveSpec,
    step: &Step,
    reason: &str,
    now: Timestamp,
) -> Outcome {
    let tables = database.snapshot();
    let rows = joined(spec, &tables);
    let table = spec.tables[&spec.claim.lock_table].name.as_str();
    let Some(row) = rows.iter().find(|row| row.key() == step.key) else { return Outcome::Gone };
    if let Some(outcome) = witness(database, spec, step, &tables) {
        return outcome;
    }
    let held = spec.holds.iter().zip(row.holds()).any(|(hold, applies)| applies && hold.moves.contains(&step.r#move));
    if !row.in_flight() || row.fence() != step.fence || held {
        return Outcome::Changed;
    }
    if database.is_locked(table, row.row) {
        return Outcome::Locked;
    }
    let cells: Vec<(&str, Cell)> = moved
        .steps
        .iter()
        .flat_map(assignments)
        .map(|a| (a.column.name.as_str(), assigned(a, row, reason, now)))
        .collect();
    let key = row.row[database.key_of(table)].clone();
    database.put(table, &key, cells);
    Outcome::Moved
}

/// What the owner's row says against the step, if anything.
fn witness(
    database: &Database,
    spec: &QueueSpec,
    step: &Step,
    tables: &std::collections::BTreeMap<&'static str, Vec<super::database::Row>>,
) -> Option<Outcome> {
    let owner = spec.owner.row.as_ref()?;
    let table = spec.tables[&owner.table].name.as_str();
    match &step.witness {
        Witness::None => None,
        Witness::Absent => database.is_written(table).then_some(Outcome::Locked),
        Witness::Row { key, image } => match owner_row(spec, owner, tables, key) {
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

fn assigned(assignment: &Assignment, row: &Joined<'_>, reason: &str, now: Timestamp) -> Cell {
    let column = |alias: &str, name: &str| {
        assert_eq!(alias, "j", "an assignment reads the row itself");
        row.row[name].clone()
    };
    let marker = |marker: &Marker| match marker {
        Marker::Now(None) | Marker::RunAt => {
            let encodings = assignment.encodings.as_ref().expect("a time is written in its column's encoding");
            encodings.encode(now)
        }
        Marker::Reason => Cell::Text(reason.to_owned()),
        other => panic!("no value for {other:?} here"),
    };
    evaluate(&assignment.value, &Scope { column: &column, marker: &marker })
}
