use super::list::run_of;
use super::load::{Loaded, load};
use super::{COMPARED, Records, belongs, compared};
use crate::history::{self, StepRecord};
use crate::model::{Outcome, RecordedStep, ValueChange};
use crate::ops::OpsError;
use crate::output::{
    HistoryChange, HistoryOne, HistoryOneSummary, HistoryStep, HistoryUnsure, RecordedJob, RowNow, Spool,
};

/// One run: its steps, how they ended, and where the record does not know, what the database says now.
///
/// # Errors
/// When there is no such run, or its record cannot be read.
pub fn history_run(records: &mut Records<'_>, prefix: &str) -> Result<HistoryOne, OpsError> {
    let run_id = records.find(prefix)?;
    let Loaded { head, steps, recorded, end, in_ledger, source } = load(records, &run_id)?;
    let mut run = run_of(&head, source);
    run.planned = (source == "journal").then_some(head.planned);
    if source == "journal" {
        run.set_record(&recorded, end);
    }
    if let Some(moved) = in_ledger {
        run.set_ledger(moved);
    }
    run.undone_by = undone_by(records, &run_id);
    if source == "journal"
        && let (Some(ledger), Some(snapshot)) = (records.ledger()?, records.snapshot.as_mut())
        && !snapshot.reader.ledger_run_ids(&ledger, &run_id, 1)?.is_empty()
    {
        run.recorded_in.push("ledger".to_owned());
    }
    // Compared with another database, every job would seem to be gone.
    let fits = match records.snapshot.as_mut() {
        Some(snapshot) => belongs(snapshot, &run_id, &head.target).is_ok(),
        None => false,
    };
    let (mut shown, mut unsure) = (Spool::default(), HistoryUnsure::default());
    let mut waiting = Vec::new();
    for record in steps.iter() {
        let record = record?;
        run.undoable += u64::from(record.is_undoable());
        waiting.push(record);
        if waiting.len() == COMPARED {
            list(std::mem::take(&mut waiting), records, fits, &mut shown, &mut unsure)?;
        }
    }
    list(waiting, records, fits, &mut shown, &mut unsure)?;
    let summary = HistoryOneSummary { steps: shown.len() as u64, unsure };
    let read_at = records.snapshot.as_ref().map(|snapshot| snapshot.now());
    Ok(HistoryOne { schema: "jobdoctor.history-run/v1", run, summary, steps: shown, read_at })
}

/// The runs that reverted this one, as far as the journals of this host know.
pub(in crate::ops) fn undone_by(records: &Records<'_>, run_id: &str) -> Vec<String> {
    let Some(journals) = records.journals else { return Vec::new() };
    let later = journals.runs().unwrap_or_default();
    let reverts = |run: &String| {
        // A journal that cannot be read is reported by a command that needs it.
        let head = history::read(journals, run).ok().flatten().map(|(head, _)| head);
        head.and_then(|head| head.undoes).as_deref() == Some(run_id)
    };
    later.into_iter().filter(reverts).rev().collect()
}

/// Adds the documents of some steps, and counts those of unknown outcome.
fn list(
    listed: Vec<StepRecord>,
    records: &mut Records<'_>,
    fits: bool,
    shown: &mut Spool<HistoryStep>,
    unsure: &mut HistoryUnsure,
) -> Result<(), OpsError> {
    let is_open = |record: &&StepRecord| record.outcome.is_none();
    let open: Vec<&RecordedStep> = listed.iter().filter(is_open).filter_map(|record| record.step.as_ref()).collect();
    let now = match records.snapshot.as_mut().filter(|_| fits && !open.is_empty()) {
        Some(snapshot) => compared(snapshot, &open)?,
        None => vec![None; open.len()],
    };
    let mut now = now.into_iter().map(|now| now.map(|(now, _)| now));
    for record in listed {
        let mut seen = None;
        if record.outcome.is_none() && record.step.is_some() {
            seen = now.next().flatten();
            let count = match seen {
                None => &mut unsure.open,
                Some(RowNow::Untouched) => &mut unsure.moved,
                Some(RowNow::AsBefore) => &mut unsure.not_moved,
                Some(RowNow::Changed | RowNow::Gone) => &mut unsure.changed,
            };
            *count += 1;
        }
        shown.push(0, document(record, seen))?;
    }
    Ok(())
}

fn document(record: StepRecord, seen: Option<RowNow>) -> HistoryStep {
    let undoable = record.is_undoable();
    let StepRecord { id, step, outcome, sqlstate, constraint } = record;
    let change = |value: &ValueChange| HistoryChange {
        column: value.column.clone(),
        before: value.before.to_text(),
        after: value.after.to_text(),
    };
    let row = step.as_ref().and_then(|step| step.row.as_ref());
    HistoryStep {
        changes: row.map(|row| row.values.iter().map(change).collect()),
        job: step.as_ref().map_or_else(|| RecordedJob::unknown(id), RecordedJob::of),
        rules: step.map(|step| step.rules).unwrap_or_default(),
        outcome: outcome.unwrap_or(Outcome::Unknown),
        compared: seen.map(|seen| seen.as_outcome().to_owned()),
        undoable,
        sqlstate,
        constraint,
    }
}
