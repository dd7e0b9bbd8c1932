use super::list::run_of;
use super::load::{Kept, Loaded, load};
use super::{Records, belongs, now_of};
use crate::history::{self, Entry};
use crate::ops::OpsError;
use crate::output::{HistoryChange, HistoryOne, HistoryOneSummary, HistoryStep, HistoryUnsure, Spool};

/// Steps that are held against the database in one go.
const COMPARED: usize = 500;

/// Tells of one run: its steps, how they ended, and for those of which nobody could say, what the database says now.
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
    // Held against another database, every job would seem to be gone.
    let fits = match records.snapshot.as_mut() {
        Some(snapshot) => belongs(snapshot, &run_id, &head.target).is_ok(),
        None => false,
    };
    let (mut shown, mut unsure) = (Spool::default(), HistoryUnsure::default());
    let mut waiting = Vec::new();
    for kept in steps.iter() {
        let kept = kept?;
        run.undoable += u64::from(kept.is_undoable());
        waiting.push(kept);
        if waiting.len() == COMPARED {
            told(std::mem::take(&mut waiting), records, fits, &mut shown, &mut unsure)?;
        }
    }
    told(waiting, records, fits, &mut shown, &mut unsure)?;
    let summary = HistoryOneSummary { steps: shown.len() as u64, unsure };
    Ok(HistoryOne { schema: "jobdoctor.history-run/v1", run, summary, steps: shown })
}

/// The runs that take this one back, as far as the journals of this host know.
pub(in crate::ops) fn undone_by(records: &Records<'_>, run_id: &str) -> Vec<String> {
    let Some(journals) = records.journals else { return Vec::new() };
    let later = journals.runs().unwrap_or_default();
    let takes_back = |run: &String| {
        // A journal that cannot be read is spoken of where it is asked for.
        let head = history::read(journals, run).ok().flatten().map(|(head, _)| head);
        head.and_then(|head| head.undoes).as_deref() == Some(run_id)
    };
    later.into_iter().filter(takes_back).rev().collect()
}

impl Kept {
    /// True if the job was moved, or may have been, and its row is recorded.
    pub(in crate::ops) fn is_undoable(&self) -> bool {
        let may_have_moved = self.outcome.is_none_or(|outcome| outcome == crate::model::Outcome::Moved);
        may_have_moved && self.entry.as_ref().is_some_and(|entry| entry.row.is_some())
    }
}

fn told(
    kept: Vec<Kept>,
    records: &mut Records<'_>,
    fits: bool,
    shown: &mut Spool<HistoryStep>,
    unsure: &mut HistoryUnsure,
) -> Result<(), OpsError> {
    let open: Vec<&Entry> =
        kept.iter().filter(|kept| kept.outcome.is_none()).filter_map(|kept| kept.entry.as_ref()).collect();
    let mut compared = match records.snapshot.as_mut().filter(|_| fits && !open.is_empty()) {
        Some(snapshot) => now_of(snapshot, &open)?,
        None => vec![None; open.len()],
    }
    .into_iter();
    for kept in &kept {
        let mut word = None;
        if kept.outcome.is_none() && kept.entry.is_some() {
            let now = compared.next().flatten().map(|(now, _)| now);
            // Of a job whose outcome is not known, "untouched" means that it was moved after all.
            word = now.map(|now| match now.name() {
                "untouched" => "moved",
                other => other,
            });
            match word {
                None => unsure.open += 1,
                Some("moved") => unsure.moved += 1,
                Some("not_moved") => unsure.not_moved += 1,
                Some(_) => unsure.changed += 1,
            }
        }
        shown.push(0, step(kept, word))?;
    }
    Ok(())
}

fn step(kept: &Kept, compared: Option<&str>) -> HistoryStep {
    let entry = kept.entry.as_ref();
    let changes = entry.and_then(|entry| entry.row.as_ref()).map(|row| {
        let change = |value: &crate::model::ValueChange| HistoryChange {
            column: value.column.clone(),
            before: value.before.to_text(),
            after: value.after.to_text(),
        };
        row.values.iter().map(change).collect()
    });
    HistoryStep {
        id: kept.id.clone(),
        queue: entry.and_then(|entry| entry.queue.clone()),
        kind: entry.and_then(|entry| entry.kind.clone()),
        owner: entry.and_then(|entry| entry.owner.clone()),
        action: entry.map(|entry| entry.action.name().to_owned()),
        state: entry.map(|entry| entry.state_before.clone()),
        state_after: entry.map(|entry| entry.state_after.clone()),
        attempts: entry.and_then(|entry| entry.attempts_before),
        attempts_after: entry.and_then(|entry| entry.attempts_after),
        rules: entry.map(|entry| entry.rules.clone()).unwrap_or_default(),
        outcome: kept.outcome.map_or("unknown", crate::model::Outcome::name).to_owned(),
        compared: compared.map(str::to_owned),
        undoable: kept.is_undoable(),
        sqlstate: kept.sqlstate.clone(),
        constraint: kept.constraint.clone(),
        changes,
    }
}
