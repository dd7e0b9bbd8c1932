//! One run as it was recorded: from the journal of this host, with what its ledger adds, or from the ledger alone.

use super::Records;
use crate::history::{self, Counts, Directory, JournalLines, RunEnd, is_run_id};
use crate::model::{End, Outcome, RunHead, Step, Target};
use crate::ops::{OpsError, Snapshot};
use crate::output::{Spool, advice};
use crate::preset::LedgerSpec;
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// A run as it was recorded.
pub(in crate::ops) struct Loaded {
    pub(in crate::ops) head: RunHead,
    pub(in crate::ops) steps: Spool<Step<End>>,
    /// How many steps of the journal ended how.
    pub(in crate::ops) recorded: Counts,
    /// The last line of the journal, if there is a journal and it has one.
    pub(in crate::ops) end: Option<RunEnd>,
    /// How many jobs the ledger says were moved, where it was read and has the run.
    pub(in crate::ops) in_ledger: Option<u64>,
    /// `journal` or `ledger`.
    pub(in crate::ops) source: &'static str,
}

impl Loaded {
    /// Jobs that were moved and that neither journal nor ledger names; `None` where their number is not known.
    pub(in crate::ops) fn unrecorded(&self) -> Option<u64> {
        self.in_ledger.map(|_| 0).or_else(|| self.end.as_ref().map(|end| end.unrecorded))
    }
}

/// Reads a run: from the journal of this host, or else from the ledger.
pub(in crate::ops) fn load(records: &mut Records<'_>, run_id: &str) -> Result<Loaded, OpsError> {
    if let Some(journals) = records.journals
        && let Some((head, lines)) = history::read(journals, run_id)?
    {
        let loaded = of_journal(head, lines)?;
        return completed(records, loaded);
    }
    let ledger = records.ledger()?;
    if let (Some(ledger), Some(snapshot)) = (ledger, records.snapshot.as_mut()) {
        let (head, steps) = of_ledger(snapshot, &ledger, run_id)?;
        if let Some(head) = head {
            let (head, in_ledger) = (placed(head, snapshot)?, Some(steps.len() as u64));
            return Ok(Loaded { head, steps, recorded: Counts::new(), end: None, in_ledger, source: "ledger" });
        }
    }
    let (what, hint) = match records.journals {
        Some(journals) if journals.file(run_id).exists() => {
            (tells_nothing(journals, run_id), advice::NO_JOURNAL_OF_RUN)
        }
        _ => (format!("run {run_id} is gone from the ledger"), "its rows were deleted there"),
    };
    Err(StoreError::new(StoreErrorKind::Missing, what).hint(hint).into())
}

/// Describes a journal without a whole line.
pub(super) fn tells_nothing(journals: &Directory, run_id: &str) -> String {
    let path = journals.file(run_id);
    format!(
        "{} has no whole line, so it is not recorded what the run did, and nothing of it can be reverted",
        path.display()
    )
}

/// Where the journal has gaps, or ends too early, the ledger may have what it lacks.
fn completed(records: &mut Records<'_>, mut loaded: Loaded) -> Result<Loaded, OpsError> {
    let is_gap = |step: &Step<End>| step.may_have_moved() && step.stage.row.is_none();
    let has_gaps = loaded.steps.iter().any(|step| step.as_ref().is_ok_and(is_gap));
    if !has_gaps && loaded.unrecorded() == Some(0) {
        return Ok(loaded);
    }
    let (Some(ledger), Some(snapshot)) = (records.ledger()?, records.snapshot.as_mut()) else { return Ok(loaded) };
    let (head, rows) = of_ledger(snapshot, &ledger, &loaded.head.run_id)?;
    if head.is_none() {
        return Ok(loaded);
    }
    loaded.in_ledger = Some(rows.len() as u64);
    let mut moved: BTreeMap<String, Step<End>> = BTreeMap::new();
    for step in rows.iter() {
        let step = step?;
        moved.insert(step.key.exact(), step);
    }
    let mut steps = Spool::default();
    for step in loaded.steps.iter() {
        let mut step = step?;
        if let Some(row) = moved.remove(&step.key.exact()) {
            step.stage.outcome = Outcome::Moved;
            step.stage.row = step.stage.row.or(row.stage.row);
        }
        steps.push(0, step)?;
    }
    for step in moved.into_values() {
        steps.push(0, step)?;
    }
    loaded.steps = steps;
    Ok(loaded)
}

fn of_journal(head: RunHead, lines: JournalLines) -> Result<Loaded, OpsError> {
    let (mut steps, mut recorded) = (Spool::default(), Counts::new());
    let end = history::steps::<OpsError>(lines, &mut |step| {
        *recorded.entry(step.stage.outcome).or_default() += 1;
        Ok(steps.push(0, step)?)
    })?;
    Ok(Loaded { head, steps, recorded, end, in_ledger: None, source: "journal" })
}

/// What a ledger has of a run: its head, if it has the run, and its steps.
fn of_ledger(
    snapshot: &mut Snapshot,
    ledger: &LedgerSpec,
    run_id: &str,
) -> Result<(Option<RunHead>, Spool<Step<End>>), OpsError> {
    let (mut head, mut steps, mut failed) = (None, Spool::default(), None);
    snapshot.reader.ledger_rows(ledger, run_id, &mut |row| {
        let taken = match row {
            Ok(row) => {
                head.get_or_insert(row.head);
                steps.push(0, row.step).map_err(OpsError::from)
            }
            Err(job) => Err(OpsError::usage(
                format!("the ledger's row of job {job} in run {run_id} is not what this program writes"),
                "it was altered, or written by another version of jobdoctor",
            )),
        };
        failed = failed.take().or(taken.err());
    })?;
    failed.map_or(Ok((head, steps)), Err)
}

/// The head of a run in a ledger, which lies in the queue's own database and does not name it.
pub(super) fn placed(head: RunHead, snapshot: &mut Snapshot) -> Result<RunHead, OpsError> {
    let Target { engine, database, identity, .. } = snapshot.identified()?;
    let target = Target { engine, database, identity, ..head.target };
    // A foreign row must not name what no run is called.
    Ok(RunHead { target, undoes: head.undoes.filter(|run| is_run_id(run)), ..head })
}
