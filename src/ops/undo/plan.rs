//! Plans an undo: which rows to restore, and which changed since.

use super::snapshot;
use crate::history::Entry;
use crate::model::{Action, Outcome, Restore, Timestamp};
use crate::ops::OpsError;
use crate::ops::history::{Kept, Loaded, Now, Records, belongs, load, now_of, undone_by};
use crate::output::{Spool, Target, UndoLeft, UndoStep, UndoSummary};
use crate::preset::{QueueSpec, SpecError};

/// Jobs that one query reads.
const LOOKUP: usize = 500;

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
    /// The rows to restore, each with the action to revert and the recorded step.
    pub(super) rows: Spool<(Action, Restore, Entry)>,
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
    let snapshot = snapshot(records)?;
    belongs(snapshot, &run_id, &head.target)?;
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
        rows: Spool::default(),
        jobs: Spool::default(),
        left: Spool::default(),
        summary: UndoSummary { unrecorded, ..UndoSummary::default() },
        warnings,
    };
    let mut waiting = Vec::new();
    for kept in steps.iter() {
        waiting.push(kept?);
        if waiting.len() == LOOKUP {
            plan.take(snapshot, std::mem::take(&mut waiting))?;
        }
    }
    plan.take(snapshot, waiting)?;
    plan.summary.planned = plan.jobs.len() as u64;
    plan.summary.left = plan.left.len() as u64;
    Ok(plan)
}

impl UndoPlan {
    fn take(&mut self, snapshot: &mut crate::ops::Snapshot, kept: Vec<Kept>) -> Result<(), OpsError> {
        let may_have_moved = |kept: &Kept| kept.outcome.is_none_or(|outcome| outcome == Outcome::Moved);
        let mut recorded: Vec<(Option<Outcome>, Entry)> = Vec::new();
        for kept in kept.into_iter().filter(may_have_moved) {
            match kept.entry {
                // A wake changed nothing.
                Some(entry) if entry.action == Action::Wake => {}
                Some(entry) => recorded.push((kept.outcome, entry)),
                None => self.left.push(0, unrecorded(kept.id))?,
            }
        }
        let kept = recorded;
        let entries: Vec<&Entry> = kept.iter().map(|(_, entry)| entry).collect();
        let now = now_of(snapshot, &entries)?;
        for ((outcome, entry), now) in kept.into_iter().zip(now) {
            match (now, outcome) {
                (None, _) => self.left.push(0, left(&entry))?,
                // The batch was never committed.
                (Some((Now::NotMoved, _)), None) => {}
                (Some((now, state)), _) => self.add(entry, now, state)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, entry: Entry, now: Now, state_seen: Option<String>) -> Result<(), OpsError> {
        let Some(row) = &entry.row else { return Ok(()) };
        let known = self.spec.given_back(entry.action).unwrap_or_default();
        if let Some(value) = row.values.iter().find(|value| !known.iter().any(|column| column.name == value.column)) {
            let message = format!(
                "column {} of job {} is none that a {} of preset {} writes here",
                value.column, entry.id, entry.action, self.spec.preset
            );
            return Err(SpecError::whole(&format!("run {}", self.undoes), message).into());
        }
        let seen = match now {
            Now::Untouched => {
                self.summary.untouched += 1;
                Now::Untouched
            }
            Now::Gone => {
                self.summary.gone += 1;
                Now::Gone
            }
            Now::NotMoved | Now::Changed => {
                self.summary.changed += 1;
                now
            }
        };
        let job = UndoStep {
            id: entry.id.clone(),
            queue: entry.queue.clone(),
            kind: entry.kind.clone(),
            owner: entry.owner.clone(),
            action: entry.action,
            state: entry.state_after.clone(),
            state_after: entry.state_before.clone(),
            attempts: entry.attempts_after,
            attempts_after: entry.attempts_before,
            // For a job that was moved: an undo has restored it already.
            seen: if seen == Now::NotMoved { "as_before" } else { seen.name() }.to_owned(),
            state_seen,
            outcome: None,
            error: None,
        };
        let restore = Restore {
            key: entry.key.clone(),
            now: row.after.clone(),
            was: row.before.clone(),
            values: row.values.iter().map(|value| (value.column.clone(), value.before.clone())).collect(),
        };
        self.jobs.push(0, job)?;
        self.rows.push(0, (entry.action, restore, entry))?;
        Ok(())
    }
}

fn unrecorded(id: String) -> UndoLeft {
    let detail = "what it was before is not recorded: the journal of that run has gaps".to_owned();
    UndoLeft { id, action: None, state: None, detail }
}

fn left(entry: &Entry) -> UndoLeft {
    UndoLeft {
        id: entry.id.clone(),
        action: Some(entry.action),
        state: Some(entry.state_after.clone()),
        detail: format!(
            "this {} was more than one UPDATE of one table, or its columns could not be read",
            entry.action
        ),
    }
}
