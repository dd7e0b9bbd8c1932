use super::compare::RowNow;
use super::load::load;
use super::{COMPARED, Records, belongs, compared};
use crate::history;
use crate::model::{End, Outcome, Step};
use crate::ops::OpsError;
use crate::output::{Collector, HistoryOne, HistoryOneHead, HistoryOneSummary, HistoryRun, HistoryStep, HistoryUnsure};

/// One run: its steps, how they ended, and where the record does not know, what the database says now.
pub fn history_run(
    records: &mut Records<'_>,
    prefix: &str,
    mut shown: Collector<HistoryStep>,
) -> Result<HistoryOne, OpsError> {
    let run_id = records.find(prefix)?;
    let loaded = load(records, &run_id)?;
    let mut run = HistoryRun::of(loaded.head.clone(), loaded.source);
    if loaded.source == "journal" {
        run.set_record(&loaded.recorded, loaded.end.clone());
    }
    if let Some(moved) = loaded.in_ledger {
        run.set_ledger(moved);
    }
    run.undone_by = undone_by(records, &run_id);
    if loaded.source == "journal"
        && let (Some(ledger), Some(snapshot)) = (records.ledger()?, records.snapshot.as_mut())
        && !snapshot.reader.ledger_run_ids(&ledger, &run_id, 1)?.is_empty()
    {
        run.recorded_in.push("ledger".to_owned());
    }
    let mut open = Vec::new();
    loaded.each(records, &mut |step| {
        run.undoable += u64::from(step.is_undoable());
        if step.stage.outcome == Outcome::Unknown {
            open.push(step);
        }
    })?;
    let (now, unsure) = compare(records, &run, &open)?;
    let mut now = now.into_iter();
    let mut number = 0;
    loaded.each(records, &mut |step| {
        number += 1;
        let is_open = step.stage.outcome == Outcome::Unknown;
        let compared = if is_open { now.next().flatten() } else { None };
        shown.add(number, || HistoryStep { step, compared: compared.map(str::to_owned) });
    })?;
    let steps = shown.finish()?;
    let summary = HistoryOneSummary { steps: u64::try_from(number).unwrap_or(0), unsure };
    let read_at = records.snapshot.as_ref().map(|snapshot| snapshot.now());
    let head = HistoryOneHead { schema: "jobdoctor.history-run/v1", run };
    Ok(HistoryOne { head, summary, steps, read_at })
}

/// Compares the steps of unknown outcome with the rows as they are, and counts what became of them. Compared with
/// another database, every job would seem to be gone.
fn compare(
    records: &mut Records<'_>,
    run: &HistoryRun,
    open: &[Step<End>],
) -> Result<(Vec<Option<&'static str>>, HistoryUnsure), OpsError> {
    let (mut list, mut unsure) = (Vec::new(), HistoryUnsure::default());
    let mut snapshot = match records.snapshot.as_deref_mut() {
        Some(snapshot) => belongs(snapshot, &run.head.run_id, &run.head.target).is_ok().then_some(snapshot),
        None => None,
    };
    for steps in open.chunks(COMPARED) {
        let seen: Vec<Option<RowNow>> = match &mut snapshot {
            Some(snapshot) => compared(snapshot, steps)?.into_iter().map(|seen| seen.map(|seen| seen.row)).collect(),
            None => vec![None; steps.len()],
        };
        list.extend(seen.into_iter().map(|now| {
            let (count, word) = match now {
                None => (&mut unsure.open, None),
                Some(RowNow::Untouched) => (&mut unsure.moved, Some("moved")),
                Some(RowNow::AsBefore) => (&mut unsure.not_moved, Some("not_moved")),
                Some(RowNow::Changed) => (&mut unsure.changed, Some("changed")),
                Some(RowNow::Gone) => (&mut unsure.changed, Some("gone")),
            };
            *count += 1;
            word
        }));
    }
    Ok((list, unsure))
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
