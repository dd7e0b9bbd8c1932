//! One run, and a record compared with the rows as they are.

use super::Records;
use super::load::load;
use crate::history;
use crate::model::{Action, End, Key, Outcome, RowImage, Step, Target};
use crate::ops::reclaim::by_action;
use crate::ops::{OpsError, Snapshot};
use crate::output::advice::QUEUE_OPTIONS;
use crate::output::{
    Collector, HistoryOne, HistoryOneHead, HistoryOneSummary, HistoryRun, HistoryStep, HistoryUnsure, LISTED,
};
use crate::preset::{Column, SpecError};
use std::collections::BTreeMap;

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
    let (mut planned, mut moved, mut by_owner) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    loaded.each(records, &mut |step| {
        *planned.entry(step.action).or_default() += 1;
        if let Some(owner) =
            step.owner.as_ref().filter(|owner| by_owner.len() < LISTED || by_owner.contains_key(*owner))
        {
            *by_owner.entry(owner.clone()).or_default() += 1;
        }
        if step.stage.outcome == Outcome::Moved {
            *moved.entry(step.action).or_default() += 1;
        }
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
        shown.add(place(&step, number), || 0, || HistoryStep { step, compared: compared.map(str::to_owned) });
    })?;
    let steps = shown.finish()?;
    let summary = HistoryOneSummary {
        steps: u64::try_from(number).unwrap_or(0),
        by_action: by_action(&planned, Some(&moved)),
        by_owner,
        unsure,
    };
    let read_at = records.snapshot.as_ref().map(|snapshot| snapshot.now());
    let head = HistoryOneHead { schema: "jobdoctor.history-run/v1", run };
    Ok(HistoryOne { head, summary, steps, read_at })
}

/// Where the step of that number stands in a list: what was not moved comes first, then what does not come back.
fn place(step: &Step<End>, number: i64) -> i64 {
    match (step.stage.outcome, step.action) {
        (Outcome::Moved, Action::Requeue) => number,
        (Outcome::Moved, _) => number - (1 << 61),
        _ => number - (1 << 62),
    }
}

/// Compares the steps of unknown outcome with the rows as they are, and counts what became of them. Compared with
/// another database, every job would seem to be gone.
fn compare(
    records: &mut Records<'_>,
    run: &HistoryRun,
    open: &[Step<End>],
) -> Result<(Vec<Option<&'static str>>, HistoryUnsure), OpsError> {
    let (mut list, mut unsure) = (Vec::new(), HistoryUnsure::default());
    let is_of_run = |snapshot: &mut Snapshot| belongs(snapshot, &run.head.run_id, &run.head.target).is_ok();
    let mut snapshot = records.snapshot.as_deref_mut().and_then(|one| is_of_run(one).then_some(one));
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

/// Steps that are compared in one statement.
pub(in crate::ops) const COMPARED: usize = 500;

/// What the row of a recorded step is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum RowNow {
    /// As the run left it: it was moved, and is unchanged since.
    Untouched,
    /// Neither as before the run nor as the run left it.
    Changed,
    /// As it was before the run: it was not moved, or it was reverted already.
    AsBefore,
    Gone,
}

/// What a row is now, and the state it is in; that is `None` where the state is no column of the row.
pub(in crate::ops) struct RowSeen {
    pub(in crate::ops) row: RowNow,
    pub(in crate::ops) state: Option<String>,
}

/// What each row is now; `None` for a step whose row is not recorded.
pub(in crate::ops) fn compared(snapshot: &mut Snapshot, steps: &[Step<End>]) -> Result<Vec<Option<RowSeen>>, OpsError> {
    let state = snapshot.jobs.claim.own_state();
    let state = state.and_then(|column| snapshot.jobs.row.iter().find(|known| known.name == column.name)).cloned();
    let columns: Vec<&Column> = state.iter().collect();
    let keys: Vec<Key> = steps.iter().map(|step| step.key.clone()).collect();
    let images = snapshot.reader.images(&snapshot.jobs, &columns, &keys)?;
    let names: BTreeMap<String, &str> =
        snapshot.jobs.queue.states.all().map(|state| (state.stored.to_string(), state.name.as_str())).collect();
    let state_of = |image: &RowImage| {
        let stored = image.values.first()?.to_text()?;
        Some(names.get(&stored).map_or(stored.clone(), |name| (*name).to_owned()))
    };
    let now = |(step, image): (&Step<End>, &Option<RowImage>)| {
        let row = step.stage.row.as_ref()?;
        let now = match image {
            None => RowNow::Gone,
            Some(image) if image.fingerprint == row.after => RowNow::Untouched,
            Some(image) if image.fingerprint == row.before => RowNow::AsBefore,
            Some(_) => RowNow::Changed,
        };
        Some(RowSeen { row: now, state: image.as_ref().and_then(state_of) })
    };
    Ok(steps.iter().zip(&images).map(now).collect())
}

/// Makes sure that a run was on this very queue.
pub(in crate::ops) fn belongs(snapshot: &mut Snapshot, run_id: &str, target: &Target) -> Result<(), OpsError> {
    let Some((what, there, here)) = target.difference(&snapshot.identified()?) else { return Ok(()) };
    let renamed = match what == "database" && target.is_file() {
        true => "; if that file was renamed, move it to its old path until this is done",
        false => "",
    };
    let message = format!("it was made on {what} {there}, not {here}: name that one ({QUEUE_OPTIONS}){renamed}");
    Err(SpecError::whole(&format!("run {run_id}"), message).into())
}
