//! Plans an undo: which rows to restore, and which changed since.

use crate::history::StepRecord;
use crate::model::{Action, RecordedStep, Timestamp};
use crate::ops::history::{COMPARED, Loaded, Records, belongs, compared, load, undone_by};
use crate::ops::plan::is_writable;
use crate::ops::{OpsError, Snapshot};
use crate::output::{RecordedJob, RowNow, Spool, Target, UndoLeft, UndoStep, UndoSummary, advice};
use crate::preset::{QueueSpec, SpecError};

/// The plan of an undo. Nothing in it can write.
pub struct UndoPlan {
    pub(super) spec: QueueSpec,
    pub(super) store_time: Timestamp,
    pub(super) target: Target,
    pub(super) identity: Option<String>,
    /// The run to revert.
    pub(super) undoes: String,
    /// `journal` or `ledger`.
    pub(super) source: &'static str,
    /// The recorded steps to revert.
    pub(super) steps: Spool<RecordedStep>,
    /// The jobs as documents show them, in the same order.
    pub(super) jobs: Spool<UndoStep>,
    pub(super) left: Spool<UndoLeft>,
    pub(super) summary: UndoSummary,
    pub(super) warnings: Vec<String>,
}

impl UndoPlan {
    /// How many jobs there are to restore.
    pub fn len(&self) -> u64 {
        self.summary.planned
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Plans the undo of a run.
///
/// # Errors
/// When there is no such run, its record cannot be read, or it was on another queue than the one at hand.
pub fn undo_plan(records: &mut Records<'_>, prefix: &str) -> Result<UndoPlan, OpsError> {
    let run_id = records.find(prefix)?;
    let loaded = load(records, &run_id)?;
    let unrecorded = loaded.unrecorded();
    let Loaded { head, steps, source, .. } = loaded;
    let mut warnings = Vec::new();
    match unrecorded {
        Some(0) => {}
        Some(jobs) => warnings.push(format!(
            "{jobs} of the jobs that run {run_id} moved are not recorded and cannot be reverted: its journal could not be written then"
        )),
        None => warnings.push(format!(
            "the journal of run {run_id} has no end; if the run moved more jobs than are recorded there, they cannot be reverted"
        )),
    }
    let undone = undone_by(records, &run_id);
    if !undone.is_empty() {
        warnings.push(format!("run {run_id} was reverted already, or in part: by {}", undone.join(", ")));
    }
    let Some(snapshot) = records.snapshot.as_deref_mut() else {
        return Err(OpsError::usage("no database is at hand", advice::NAME_DATABASE));
    };
    belongs(snapshot, &run_id, &head.target)?;
    is_writable(&snapshot.spec)?;
    let columns: Vec<&str> = snapshot.spec.row.iter().map(|column| column.name.as_str()).collect();
    if !head.columns.is_empty() && head.columns != columns {
        warnings.push(format!(
            "the columns of table {} that can be read here are not those of that run, so every row counts as changed",
            snapshot.target.table
        ));
    }
    let mut plan = UndoPlan {
        spec: snapshot.spec.clone(),
        store_time: snapshot.now(),
        target: snapshot.target.clone(),
        identity: snapshot.reader.identity()?,
        undoes: run_id,
        source,
        steps: Spool::default(),
        jobs: Spool::default(),
        left: Spool::default(),
        summary: UndoSummary { unrecorded, ..UndoSummary::default() },
        warnings,
    };
    let mut waiting = Vec::new();
    for record in steps.iter() {
        let record = record?;
        if !record.may_have_moved() {
            continue;
        }
        match record.step.as_ref().map(|step| step.action) {
            // A wake changed nothing.
            Some(Action::Wake) => {}
            Some(_) => waiting.push(record),
            None => plan.left.push(0, left_unrecorded(record.id))?,
        }
        if waiting.len() == COMPARED {
            plan.take(snapshot, std::mem::take(&mut waiting))?;
        }
    }
    plan.take(snapshot, waiting)?;
    plan.summary.planned = plan.jobs.len() as u64;
    plan.summary.left = plan.left.len() as u64;
    Ok(plan)
}

impl UndoPlan {
    fn take(&mut self, snapshot: &mut Snapshot, records: Vec<StepRecord>) -> Result<(), OpsError> {
        let steps: Vec<&RecordedStep> = records.iter().filter_map(|record| record.step.as_ref()).collect();
        let now = compared(snapshot, &steps)?;
        for (record, now) in records.into_iter().zip(now) {
            let Some(step) = record.step else { continue };
            match (now, record.outcome) {
                (None, _) => self.left.push(0, left(&step))?,
                // The batch was never committed.
                (Some((RowNow::AsBefore, _)), None) => {}
                (Some((now, state)), _) => self.add(step, now, state)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, step: RecordedStep, seen: RowNow, state_seen: Option<String>) -> Result<(), OpsError> {
        let Some(row) = &step.row else { return Ok(()) };
        let known = self.spec.revertible(step.action).unwrap_or_default();
        if let Some(value) = row.values.iter().find(|value| !known.iter().any(|column| column.name == value.column)) {
            let message = format!(
                "column {} of job {} is none that a {} of preset {} writes here",
                value.column, step.id, step.action, self.spec.preset
            );
            return Err(SpecError::whole(&format!("run {}", self.undoes), message).into());
        }
        let count = match seen {
            RowNow::Untouched => &mut self.summary.untouched,
            RowNow::Gone => &mut self.summary.gone,
            RowNow::AsBefore | RowNow::Changed => &mut self.summary.changed,
        };
        *count += 1;
        let job = RecordedJob::of(&step.clone().reverted());
        self.jobs.push(0, UndoStep { job, seen, state_seen, outcome: None, error: None })?;
        self.steps.push(0, step)?;
        Ok(())
    }
}

fn left_unrecorded(id: String) -> UndoLeft {
    let detail = "what it was before is not recorded: the journal of that run has gaps".to_owned();
    UndoLeft { id, key: None, action: None, state: None, detail }
}

fn left(step: &RecordedStep) -> UndoLeft {
    UndoLeft {
        id: step.id.clone(),
        key: Some(step.key.parts()),
        action: Some(step.action),
        state: Some(step.state_after.clone()),
        detail: format!("this {} was more than one UPDATE of one table, or its columns could not be read", step.action),
    }
}
