use super::database::{Database, now};
use super::expression::{Scope, evaluate};
use super::record::{image, recorded, rows};
use super::row::{Joined, joined, owner_image, owner_row};
use jobdoctor::model::{
    Batch, BatchReport, Cell, Cost, End, EvidenceRow, FailCode, Key, Outcome, RowChange, RowError, Step, Timestamp,
};
use jobdoctor::preset::{ActionSpec, Assignment, Jobs, Marker, StepSpec};
use jobdoctor::store::{Recorder, StoreError, StoreErrorKind, SweepLock, Writer};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct MemoryWriter {
    database: Arc<Mutex<Database>>,
}

impl MemoryWriter {
    pub fn new(database: Arc<Mutex<Database>>) -> MemoryWriter {
        MemoryWriter { database }
    }
}

impl Writer for MemoryWriter {
    /// It takes none: no test of it has several writers.
    fn use_sweep_lock(&mut self, _: SweepLock) {}

    fn quiet(&mut self) -> Duration {
        Duration::ZERO
    }

    /// It has no unique keys.
    fn key_holders(&mut self, _: &Jobs, _: &[Key]) -> Result<Vec<(usize, RowError)>, StoreError> {
        Ok(Vec::new())
    }

    fn roll_back(&mut self) {
        let copy = self.database.lock().unwrap().clone();
        self.database = Arc::new(Mutex::new(copy));
    }

    fn apply(&mut self, spec: &Jobs, batch: &Batch<'_>, recorder: &mut dyn Recorder) -> BatchReport<StoreError> {
        must_keep_the_contract(spec, batch);
        let Some(moved) = spec.actions.get(&batch.action).filter(|moved| moved.refused.is_none()) else {
            let error = StoreError::new(StoreErrorKind::Unfit, format!("there is no {}", batch.action));
            let results = batch.steps.iter().map(|_| End::of(Outcome::NotTried)).collect();
            return BatchReport { results, stop: Some(error), warnings: Vec::new(), cost: Cost::default() };
        };
        let mut database = self.database.lock().unwrap();
        let now = now();
        let (before, saved) = (rows(&database, spec), database.clone());
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (n, step) in batch.steps.iter().enumerate() {
            let run_at = now.plus(batch.waits.get(n).copied().unwrap_or_default());
            outcomes.push(match step.restores() {
                Some(row) => restore(&mut database, spec, step, row),
                None => apply(&mut database, spec, moved, step, batch.reason, (now, run_at)),
            });
        }
        let all = spec.recorded(batch.action);
        let columns = match batch.steps.first().and_then(Step::restores) {
            Some(row) => {
                let known =
                    |name: &str| *all.iter().flatten().find(|column| column.name == name).expect("a column of it");
                Some(row.values.iter().map(|value| known(&value.column)).collect())
            }
            None => all.clone(),
        };
        let steps = recorded(spec, columns.as_deref(), &before, &rows(&database, spec), batch.steps, &outcomes);
        let told = if steps.is_empty() || recorder.head().is_none() { Ok(()) } else { recorder.intent(now, &steps) };
        let report = |results, stop| BatchReport { results, stop, warnings: Vec::new(), cost: Cost::default() };
        match told {
            Ok(()) => report(outcomes.into_iter().map(End::of).collect(), None),
            Err(error) => {
                *database = saved;
                report(outcomes.iter().map(|_| End::of(Outcome::NotTried)).collect(), Some(error))
            }
        }
    }
}

fn restore(database: &mut Database, spec: &Jobs, step: &Step, change: &RowChange) -> Outcome {
    let table = spec.queue.tables[&spec.claim.lock_table].name.as_str();
    let rows = rows(database, spec);
    match rows.iter().find(|(key, _)| *key == step.key).map(|(_, row)| row) {
        None => Outcome::Gone,
        Some(row) if image(spec, &[], row).fingerprint != change.after => Outcome::Changed,
        Some(row) if database.is_locked(table, row) => Outcome::Locked,
        Some(row) => {
            let cells = change.values.iter().map(|value| (&*value.column, value.before.clone())).collect();
            let key = row[database.key_of(table)].clone();
            database.put(table, &key, cells);
            Outcome::Moved
        }
    }
}

fn must_keep_the_contract(spec: &Jobs, batch: &Batch<'_>) {
    assert!(batch.waits.is_empty() || batch.waits.len() == batch.steps.len(), "a wait for each step, or for none");
    for (n, step) in batch.steps.iter().enumerate() {
        assert_eq!(step.action, batch.action, "a batch has one kind of action");
        assert!(!step.precondition().is_empty(), "a step without a precondition");
        assert_eq!(step.key.0.len(), spec.claim.key.len(), "a key that is none");
        assert!(!batch.steps[..n].iter().any(|other| other.key == step.key), "{} is in the batch twice", step.key);
    }
}

fn apply(
    database: &mut Database,
    spec: &Jobs,
    moved: &ActionSpec,
    step: &Step,
    reason: &str,
    times: (Timestamp, Timestamp),
) -> Outcome {
    let tables = database.snapshot();
    let rows = joined(spec, &tables);
    let table = spec.queue.tables[&spec.claim.lock_table].name.as_str();
    let Some(row) = rows.iter().find(|row| row.key() == step.key) else { return Outcome::Gone };
    if let Some(outcome) = evidence_row(database, spec, step, &tables) {
        return outcome;
    }
    let held = spec.skips.iter().zip(row.skips()).any(|(skip, applies)| applies && skip.actions.contains(&step.action));
    if !row.in_flight() || row.precondition().0 != step.precondition() || held {
        return Outcome::Changed;
    }
    if database.is_locked(table, row.row) {
        return Outcome::Locked;
    }
    let cells: Vec<(&str, Cell)> = moved
        .steps
        .iter()
        .flat_map(assignments)
        .map(|a| (a.column.name.as_str(), assigned(a, row, (reason, step.fail_code()), times)))
        .collect();
    let key = row.row[database.key_of(table)].clone();
    database.put(table, &key, cells);
    Outcome::Moved
}

/// What the owner's row says against the step, if anything.
fn evidence_row(
    database: &Database,
    spec: &Jobs,
    step: &Step,
    tables: &std::collections::BTreeMap<&'static str, Vec<super::database::Row>>,
) -> Option<Outcome> {
    let owner = spec.owner.row.as_ref()?;
    let table = spec.queue.tables[&owner.table].name.as_str();
    match step.evidence_row() {
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

fn assigned(
    assignment: &Assignment,
    row: &Joined<'_>,
    (reason, fail_code): (&str, FailCode),
    (now, run_at): (Timestamp, Timestamp),
) -> Cell {
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
        Marker::FailCode => Cell::Text(fail_code.name().to_owned()),
        other => panic!("no value for {other:?} here"),
    };
    evaluate(&assignment.value, &Scope { column: &column, marker: &marker })
}
