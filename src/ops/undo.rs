//! Plans an undo: which rows to restore, and which cannot be, or changed since. The plan is executed like any other.

use super::OpsError;
use super::history::{COMPARED, Loaded, Records, RowNow, belongs, compared, load, undone_by};
use super::passes::{Bound, STEPS};
use super::plan::{Part, Plan, SkippedJobs, Tally, require_writable};
use super::selection::Selection;
use super::session::Snapshot;
use crate::model::{Action, End, Outcome, Step};
use crate::output::{Job, StepJob, Undoes, advice};
use crate::policy::{Finding, Policy, SkipReason, Skipped};
use crate::preset::{Jobs, SpecError};

/// Warns that a run moved jobs which no record names; `None` if the record does not say how many.
fn not_recorded(run_id: &str, unrecorded: Option<u64>) -> Option<String> {
    match unrecorded {
        Some(0) => None,
        Some(jobs) => Some(format!(
            "{jobs} of the jobs that run {run_id} moved are not recorded and cannot be reverted: its journal could not be written then"
        )),
        None => Some(format!(
            "the journal of run {run_id} has no end; if the run moved more jobs than are recorded there, they cannot be reverted"
        )),
    }
}

/// Plans the undo of a run: a step restores what one of its steps changed, where the row is unchanged since. Each pass
/// takes in as many of the recorded steps as a plan holds; the first one counts the steps of all.
pub fn undo_plan(records: &mut Records<'_>, prefix: &str, bound: &Bound) -> Result<Plan, OpsError> {
    let run_id = records.find(prefix)?;
    let loaded = load(records, &run_id)?;
    let mut steps = recorded(records, &loaded, bound.passes)?;
    if let Some(only) = &bound.only {
        steps.retain(|step| step.reverted().is_some_and(|undo| only.has(&undo)));
    }
    let unrecorded = loaded.unrecorded();
    let mut warnings: Vec<String> = not_recorded(&run_id, unrecorded).into_iter().collect();
    let undone = undone_by(records, &run_id);
    if !undone.is_empty() {
        warnings.push(format!("run {run_id} was reverted already, or in part: by {}", undone.join(", ")));
    }
    let Some(snapshot) = records.snapshot.as_deref_mut() else { return Err(no_database()) };
    belongs(snapshot, &run_id, &loaded.head.target)?;
    require_writable(&snapshot.jobs)?;
    if loaded.head.target.is_of_earlier_file(&snapshot.identified()?) {
        let file = &snapshot.target.database;
        warnings.push(format!("run {run_id} was on an earlier file: another one lies at {file} since"));
    }
    let columns: Vec<&str> = snapshot.jobs.row.iter().map(|column| column.name.as_str()).collect();
    let has_rows = steps.iter().any(Step::is_undoable);
    if has_rows && !loaded.head.columns.is_empty() && loaded.head.columns != columns {
        let table = &snapshot.target.table;
        warnings.push(format!(
            "the columns of table {table} that can be read here are not those of that run, so every row counts as changed"
        ));
    }
    let mut spool = snapshot.spool.take();
    let Drafts { steps: mine, mut skipped, .. } = Drafts::of(snapshot, &run_id, &steps)?;
    let mut tally = Tally::of(mine.iter());
    let mut later = bound.left(0).map_or(0, |left| left.saturating_sub(steps.len() as u64));
    for pass in (1..).take_while(|_| bound.only.is_none()) {
        let steps = recorded(records, &loaded, pass)?;
        let Some(snapshot) = records.snapshot.as_deref_mut().filter(|_| !steps.is_empty()) else { break };
        let others = Drafts::of(snapshot, &run_id, &steps)?;
        skipped.append(others.skipped);
        for (step, job) in others.steps {
            later += 1;
            tally.add(0, &step);
            spool.iter_mut().for_each(|spool| spool.draft(&step, job.clone()));
        }
    }
    let Some(snapshot) = records.snapshot.as_deref_mut() else { return Err(no_database()) };
    let mut plan = Plan::empty(snapshot, &Selection::default(), &Policy::default())?;
    plan.in_flight = snapshot.reader.in_flight(&plan.jobs)?;
    plan.undoable = !mine.is_empty() || later > 0;
    plan.undoes = Some(Undoes { run_id, recorded_in: loaded.source.to_owned(), unrecorded });
    (plan.skipped, plan.spool, plan.warnings) = (skipped, spool, warnings);
    let (jobs, policy) = (plan.jobs.clone(), plan.policy.clone());
    plan.parts.push(Part { jobs, policy, steps: mine, later, beyond: later });
    plan.count(tally);
    Ok(plan)
}

fn no_database() -> OpsError {
    OpsError::usage("no database is named", advice::NAME_DATABASE)
}

/// The recorded steps that a pass takes in.
fn recorded(records: &mut Records<'_>, loaded: &Loaded, pass: usize) -> Result<Vec<Step<End>>, OpsError> {
    let (mut seen, mut steps) = (0, Vec::new());
    loaded.each(records, &mut |step| {
        // A wake changed nothing.
        if step.stage.may_have_moved() && step.action != Action::Wake {
            if seen / STEPS == pass {
                steps.push(step);
            }
            seen += 1;
        }
    })?;
    Ok(steps)
}

impl Plan {
    /// Why an undo does nothing, if nothing of its run is recorded that could be restored.
    pub(super) fn nothing_left_to_revert(&self) -> Option<String> {
        let undoes = self.undoes.as_ref().filter(|_| self.total() == 0)?;
        let is_lost = self.skipped.by_reason.contains_key(&SkipReason::Unrecorded);
        let is_incomplete = undoes.unrecorded.is_some_and(|jobs| jobs > 0) || is_lost;
        is_incomplete.then(|| format!("run {} cannot be reverted: its changes are not recorded in full", undoes.run_id))
    }
}

struct Drafts<'a> {
    run_id: &'a str,
    steps: Vec<(Step, StepJob)>,
    skipped: SkippedJobs,
}

impl<'a> Drafts<'a> {
    fn of(snapshot: &mut Snapshot, run_id: &'a str, recorded: &[Step<End>]) -> Result<Drafts<'a>, OpsError> {
        let mut drafts = Drafts { run_id, steps: Vec::new(), skipped: SkippedJobs::default() };
        recorded.chunks(COMPARED).try_for_each(|some| drafts.add(snapshot, some))?;
        Ok(drafts)
    }

    /// Adds the undo of recorded steps, by what their rows are now.
    fn add(&mut self, snapshot: &mut Snapshot, recorded: &[Step<End>]) -> Result<(), OpsError> {
        let now = compared(snapshot, recorded)?;
        for (step, now) in recorded.iter().zip(now) {
            let job = Job::recorded(step);
            let (Some(now), Some(undo)) = (now, step.reverted()) else {
                let finding = match snapshot.jobs.revertible(step.action) {
                    Some(_) => Finding::RowNotRecorded,
                    None => Finding::ManyUpdates,
                };
                self.skip(job, SkipReason::Unrecorded, finding);
                continue;
            };
            self.require_written_here(step, &snapshot.jobs)?;
            match (now.row, now.state) {
                (RowNow::Untouched, _) => {
                    let job = StepJob::of(&undo, job);
                    self.steps.push((undo, job));
                }
                // The batch was never committed.
                (RowNow::AsBefore, _) if step.stage.outcome == Outcome::Unknown => {}
                (RowNow::AsBefore, _) => self.skip(job, SkipReason::AsBefore, Finding::AsBefore),
                (RowNow::Gone, _) => self.skip(job, SkipReason::Gone, Finding::RowGone),
                (RowNow::Changed, state) => {
                    let moved_to = state.filter(|state| *state != step.state_after);
                    self.skip(job, SkipReason::Changed, Finding::ChangedSinceRun(moved_to));
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, job: Job, reason: SkipReason, finding: Finding) {
        self.skipped.add(0, Skipped { reason, findings: vec![finding] }, || job);
    }

    /// Refuses a record that names columns which the action does not write: it was altered.
    fn require_written_here(&self, step: &Step<End>, jobs: &Jobs) -> Result<(), OpsError> {
        let known = jobs.revertible(step.action).unwrap_or_default();
        let mut values = step.stage.row.iter().flat_map(|row| &row.values);
        let is_known = |name: &str| known.iter().any(|column| column.name == name);
        let Some(value) = values.find(|value| !is_known(&value.column)) else { return Ok(()) };
        let (action, id, preset, column) = (step.action, &step.id, &jobs.queue.preset, &value.column);
        let message = format!("a {action} of preset {preset} does not write column {column} of job {id} here");
        Err(SpecError::whole(&format!("run {}", self.run_id), message).into())
    }
}
