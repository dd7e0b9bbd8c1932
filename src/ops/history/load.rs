//! One run as it was recorded: from the journal of this host, with what its ledger adds, or from the ledger alone.

use super::Records;
use crate::history::{self, Counts, Directory, JournalLines, RunEnd, is_run_id};
use crate::model::{End, Outcome, RunHead, Step, Target};
use crate::ops::passes::Hashes;
use crate::ops::{OpsError, Snapshot};
use crate::output::advice;
use crate::preset::LedgerSpec;
use crate::store::{StoreError, StoreErrorKind};
use std::collections::{BTreeMap, BTreeSet};

/// A run as it was recorded, without its steps, of which there may be a million: [`Loaded::each`] reads them.
pub(in crate::ops) struct Loaded {
    pub(in crate::ops) head: RunHead,
    /// How many steps of the journal ended how.
    pub(in crate::ops) recorded: Counts,
    /// The last line of the journal, if there is a journal and it has one.
    pub(in crate::ops) end: Option<RunEnd>,
    /// How many jobs the ledger says were moved, where it was read and has the run.
    pub(in crate::ops) in_ledger: Option<u64>,
    /// `journal` or `ledger`.
    pub(in crate::ops) source: &'static str,
    /// What the ledger knows of steps whose rows the journal lacks, by key.
    rows: BTreeMap<String, Step<End>>,
    /// Steps that the ledger alone has.
    more: Vec<Step<End>>,
}

impl Loaded {
    /// Jobs that were moved and that neither journal nor ledger names; `None` where their number is not known.
    pub(in crate::ops) fn unrecorded(&self) -> Option<u64> {
        self.in_ledger.map(|_| 0).or_else(|| self.end.as_ref().map(|end| end.unrecorded))
    }

    pub(in crate::ops) fn each(
        &self,
        records: &mut Records<'_>,
        each: &mut dyn FnMut(Step<End>),
    ) -> Result<(), OpsError> {
        let run_id = &self.head.run_id;
        let journals = records.journals.filter(|_| self.source == "journal");
        let journal = journals.map(|journals| history::read(journals, run_id)).transpose()?;
        if let Some((_, lines)) = journal.flatten() {
            history::steps::<OpsError>(lines, &mut |mut step| {
                if let Some(row) = self.rows.get(&step.key.exact()) {
                    step.stage.outcome = Outcome::Moved;
                    step.stage.row = step.stage.row.take().or_else(|| row.stage.row.clone());
                }
                each(step);
                Ok(())
            })?;
            self.more.iter().cloned().for_each(each);
            return Ok(());
        }
        match (records.ledger()?, records.snapshot.as_mut()) {
            (Some(ledger), Some(snapshot)) => ledger_steps(snapshot, &ledger, run_id, &mut |_, step| each(step)),
            _ => Ok(()),
        }
    }
}

/// Reads a run: from the journal of this host, or else from the ledger.
pub(in crate::ops) fn load(records: &mut Records<'_>, run_id: &str) -> Result<Loaded, OpsError> {
    if let Some(journals) = records.journals
        && let Some((head, lines)) = history::read(journals, run_id)?
    {
        return of_journal(head, lines, records);
    }
    let ledger = records.ledger()?;
    if let (Some(ledger), Some(snapshot)) = (ledger, records.snapshot.as_mut()) {
        let (mut head, mut steps) = (None, 0);
        ledger_steps(snapshot, &ledger, run_id, &mut |of, _| {
            head.get_or_insert(of);
            steps += 1;
        })?;
        if let Some(head) = head {
            return Ok(Loaded {
                head: placed(head, snapshot)?,
                recorded: Counts::new(),
                end: None,
                in_ledger: Some(steps),
                source: "ledger",
                rows: BTreeMap::new(),
                more: Vec::new(),
            });
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
    let file = journals.file(run_id);
    let path = file.display();
    format!("{path} has no complete line, so it does not say what the run did, and nothing of it can be reverted")
}

/// What a journal says of a run; where it has gaps, or ends too early, the ledger may have what it lacks.
fn of_journal(head: RunHead, lines: JournalLines, records: &mut Records<'_>) -> Result<Loaded, OpsError> {
    let (mut recorded, mut known) = (Counts::new(), Hashes::default());
    // Steps of which the ledger may know more, and whether one lacks its row.
    let (mut unsure, mut has_gaps) = (BTreeSet::new(), false);
    let ledger = records.ledger()?;
    let end = history::steps::<OpsError>(lines, &mut |step| {
        *recorded.entry(step.stage.outcome).or_default() += 1;
        if ledger.is_some() {
            known.insert(step.key.exact());
        }
        let is_gap = step.stage.may_have_moved() && step.stage.row.is_none();
        has_gaps |= is_gap;
        if is_gap || step.stage.outcome == Outcome::Unknown {
            unsure.insert(step.key.exact());
        }
        Ok(())
    })?;
    let (rows, more) = (BTreeMap::new(), Vec::new());
    let mut loaded = Loaded { head, recorded, end, in_ledger: None, source: "journal", rows, more };
    if !has_gaps && loaded.unrecorded() == Some(0) {
        return Ok(loaded);
    }
    let (Some(ledger), Some(snapshot)) = (ledger, records.snapshot.as_mut()) else { return Ok(loaded) };
    let (run_id, mut count) = (loaded.head.run_id.clone(), 0);
    ledger_steps(snapshot, &ledger, &run_id, &mut |_, step| {
        count += 1;
        let key = step.key.exact();
        if !known.has(&key) {
            loaded.more.push(step);
        } else if unsure.contains(&key) {
            loaded.rows.insert(key, step);
        }
    })?;
    loaded.in_ledger = Some(count).filter(|count| *count > 0);
    Ok(loaded)
}

/// Hands over what a ledger has of a run: with each step the head of the run.
fn ledger_steps(
    snapshot: &mut Snapshot,
    ledger: &LedgerSpec,
    run_id: &str,
    each: &mut dyn FnMut(RunHead, Step<End>),
) -> Result<(), OpsError> {
    let mut failed = Ok(());
    snapshot.reader.ledger_rows(ledger, run_id, &mut |row| match row {
        Ok(row) => each(row.head, row.step),
        Err(job) => {
            let message = format!("the ledger's row of job {job} in run {run_id} is not what this program writes");
            failed = Err(OpsError::usage(message, "it was altered, or written by another version of jobdoctor"));
        }
    })?;
    failed
}

/// The head of a run in a ledger, which lies in the queue's own database and does not name it.
pub(super) fn placed(head: RunHead, snapshot: &mut Snapshot) -> Result<RunHead, OpsError> {
    let Target { engine, database, identity, file, .. } = snapshot.identified()?;
    let target = Target { engine, database, identity, file, ..head.target };
    // A foreign row must not name what no run is called.
    Ok(RunHead { target, undoes: head.undoes.filter(|run| is_run_id(run)), ..head })
}
