use super::compare::RowNow;
use super::load::{Loaded, load};
use super::{COMPARED, Records, belongs, compared};
use crate::history;
use crate::model::{End, Outcome, Step};
use crate::ops::OpsError;
use crate::output::{HistoryOne, HistoryOneHead, HistoryOneSummary, HistoryRun, HistoryStep, HistoryUnsure, Spool};

/// One run: its steps, how they ended, and where the record does not know, what the database says now.
pub fn history_run(records: &mut Records<'_>, prefix: &str) -> Result<HistoryOne, OpsError> {
    let run_id = records.find(prefix)?;
    let Loaded { head, steps, recorded, end, in_ledger, source } = load(records, &run_id)?;
    let mut run = HistoryRun::of(head, source);
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
        Some(snapshot) => belongs(snapshot, &run_id, &run.head.target).is_ok(),
        None => false,
    };
    let (mut shown, mut unsure) = (Spool::default(), HistoryUnsure::default());
    let mut waiting = Vec::new();
    for step in steps.iter() {
        let step = step?;
        run.undoable += u64::from(step.is_undoable());
        waiting.push(step);
        if waiting.len() == COMPARED {
            list(std::mem::take(&mut waiting), records, fits, &mut shown, &mut unsure)?;
        }
    }
    list(waiting, records, fits, &mut shown, &mut unsure)?;
    let summary = HistoryOneSummary { steps: shown.len() as u64, unsure };
    let read_at = records.snapshot.as_ref().map(|snapshot| snapshot.now());
    let head = HistoryOneHead { schema: "jobdoctor.history-run/v1", run };
    Ok(HistoryOne { head, summary, steps: shown, read_at })
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
    steps: Vec<Step<End>>,
    records: &mut Records<'_>,
    fits: bool,
    shown: &mut Spool<HistoryStep>,
    unsure: &mut HistoryUnsure,
) -> Result<(), OpsError> {
    let is_open = |step: &Step<End>| step.stage.outcome == Outcome::Unknown;
    let open: Vec<Step<End>> = steps.iter().filter(|step| is_open(step)).cloned().collect();
    let seen = match records.snapshot.as_mut().filter(|_| fits && !open.is_empty()) {
        Some(snapshot) => compared(snapshot, &open)?,
        None => Vec::new(),
    };
    let mut seen = seen.into_iter();
    for step in steps {
        let mut now = None;
        if is_open(&step) {
            now = seen.next().flatten().map(|seen| seen.row);
            let count = match now {
                None => &mut unsure.open,
                Some(RowNow::Untouched) => &mut unsure.moved,
                Some(RowNow::AsBefore) => &mut unsure.not_moved,
                Some(RowNow::Changed | RowNow::Gone) => &mut unsure.changed,
            };
            *count += 1;
        }
        let compared = now.map(|now| match now {
            RowNow::Untouched => "moved",
            RowNow::Changed => "changed",
            RowNow::AsBefore => "not_moved",
            RowNow::Gone => "gone",
        });
        shown.push(0, HistoryStep { step, compared: compared.map(str::to_owned) })?;
    }
    Ok(())
}
