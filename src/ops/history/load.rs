use super::Records;
use crate::journal::{self, Actor, Entry, Head, Target, is_run_id, key_from_json};
use crate::model::{LedgerRow, Move, Outcome, Timestamp};
use crate::ops::{Look, OpsError};
use crate::report::Spool;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run as it was recorded.
pub(in crate::ops) struct Loaded {
    /// Which run.
    pub(in crate::ops) head: Head,
    /// What it was about to do to each job that it moved, or may have; and how each other step ended.
    pub(in crate::ops) steps: Spool<Kept>,
    /// How many ended how.
    pub(in crate::ops) outcomes: BTreeMap<Outcome, u64>,
    /// True if the run came to an end of its own; `None` where that is not recorded.
    pub(in crate::ops) is_complete: Option<bool>,
    /// Why it stopped early, if it says.
    pub(in crate::ops) stop: Option<String>,
    /// `journal` or `ledger`.
    pub(in crate::ops) source: &'static str,
}

/// One step of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::ops) struct Kept {
    /// The id as people see it.
    pub(in crate::ops) id: String,
    /// What was done, where something was about to be.
    pub(in crate::ops) entry: Option<Entry>,
    /// How it ended; `None` where nobody could say.
    pub(in crate::ops) outcome: Option<Outcome>,
    /// The code of the database's error.
    pub(in crate::ops) sqlstate: Option<String>,
    /// The constraint that was in the way.
    pub(in crate::ops) constraint: Option<String>,
}

/// Reads a run: from the journal of this host, or else from the ledger.
pub(in crate::ops) fn load(records: &mut Records<'_>, run_id: &str) -> Result<Loaded, OpsError> {
    if let Some(journals) = records.journals
        && let Some((head, lines)) = journal::read(journals, run_id)?
    {
        let loaded = of_journal(head, lines)?;
        return completed(records, loaded);
    }
    let ledger = records.ledger()?;
    match (ledger, records.look.as_mut()) {
        (Some(ledger), Some(look)) => {
            let mut rows = Rows::default();
            look.reader.ledger_rows(&ledger, run_id, &mut |row| rows.take(row))?;
            rows.loaded(look, run_id)
        }
        _ => Err(OpsError::usage(
            format!("run {run_id} committed nothing: its journal ends before its first line"),
            "there is nothing to tell",
        )),
    }
}

/// Where the journal has gaps, the ledger may have what it lacks.
fn completed(records: &mut Records<'_>, mut loaded: Loaded) -> Result<Loaded, OpsError> {
    let is_gap = |kept: &Kept| kept.entry.is_none() && kept.outcome.is_none_or(|outcome| outcome == Outcome::Moved);
    let gaps = loaded.steps.iter().filter(|kept| kept.as_ref().is_ok_and(is_gap)).count();
    if gaps == 0 {
        return Ok(loaded);
    }
    let (Some(ledger), Some(look)) = (records.ledger()?, records.look.as_mut()) else { return Ok(loaded) };
    let mut rows = Rows::default();
    look.reader.ledger_rows(&ledger, &loaded.head.run_id, &mut |row| rows.take(row))?;
    if let Some(error) = rows.failed {
        return Err(error);
    }
    let mut known = BTreeMap::new();
    for kept in rows.steps.iter() {
        let kept = kept?;
        known.insert(kept.id, kept.entry);
    }
    let mut steps = Spool::default();
    for kept in loaded.steps.iter() {
        let mut kept = kept?;
        if is_gap(&kept) {
            kept.entry = known.remove(&kept.id).flatten();
        }
        steps.push(0, &kept)?;
    }
    loaded.steps = steps;
    Ok(loaded)
}

fn of_journal(head: Head, lines: journal::Lines) -> Result<Loaded, OpsError> {
    let (mut steps, mut counted) = (Spool::default(), BTreeMap::<Outcome, u64>::new());
    let end = journal::batches::<OpsError>(lines, &mut |batch| {
        let mut entries: BTreeMap<usize, Entry> =
            batch.changes.iter().map(|entry| (entry.step, entry.clone())).collect();
        let ends = batch.ends.unwrap_or_default();
        for (n, end) in ends.into_iter().enumerate() {
            *counted.entry(end.outcome).or_default() += 1;
            let outcome = Some(end.outcome).filter(|outcome| *outcome != Outcome::Unknown);
            let (sqlstate, constraint) = (end.sqlstate, end.constraint);
            let kept = Kept { id: end.id, entry: entries.remove(&n), outcome, sqlstate, constraint };
            steps.push(0, &kept)?;
        }
        // What is left is of a batch that never told how it ended.
        for entry in entries.into_values() {
            *counted.entry(Outcome::Unknown).or_default() += 1;
            let id = entry.id.clone();
            steps.push(0, &Kept { id, entry: Some(entry), outcome: None, sqlstate: None, constraint: None })?;
        }
        Ok(())
    })?;
    let is_complete = Some(end.is_some());
    let (outcomes, stop) = end.unwrap_or((counted, None));
    Ok(Loaded { head, steps, outcomes, is_complete, stop, source: "journal" })
}

#[derive(Default)]
struct Rows {
    first: Option<LedgerRow>,
    steps: Spool<Kept>,
    moved: u64,
    failed: Option<OpsError>,
}

impl Rows {
    fn take(&mut self, row: LedgerRow) {
        let taken = match entry(&row) {
            Some(entry) => {
                let kept = Kept {
                    id: row.job_id.clone(),
                    entry: Some(entry),
                    outcome: Some(Outcome::Moved),
                    sqlstate: None,
                    constraint: None,
                };
                self.steps.push(0, &kept).map_err(OpsError::from)
            }
            None => Err(OpsError::usage(
                format!("the ledger's row of job {} in run {} is not what this program writes", row.job_id, row.run_id),
                "it was altered, or written by a newer jobdoctor",
            )),
        };
        match taken {
            Ok(()) => self.moved += 1,
            Err(error) => drop(self.failed.get_or_insert(error)),
        }
        self.first.get_or_insert(row);
    }

    fn loaded(self, look: &mut Look, run_id: &str) -> Result<Loaded, OpsError> {
        let first = match (self.failed, self.first) {
            (Some(error), _) => return Err(error),
            (None, Some(first)) => first,
            (None, None) => {
                let message = format!("run {run_id} is gone from the ledger");
                return Err(OpsError::usage(message, "somebody has deleted its rows"));
            }
        };
        Ok(Loaded {
            head: head_of(&first, look)?,
            steps: self.steps,
            outcomes: BTreeMap::from([(Outcome::Moved, self.moved)]),
            is_complete: None,
            stop: None,
            source: "ledger",
        })
    }
}

/// A head from a row of the ledger: it lies in the queue's own database, so that need not be said there.
pub(super) fn head_of(row: &LedgerRow, look: &mut Look) -> Result<Head, OpsError> {
    let key: Vec<String> = serde_json::from_str(&row.key_columns).unwrap_or_default();
    Ok(Head {
        schema: "jobdoctor.journal/v1".to_owned(),
        run_id: row.run_id.clone(),
        time: row.moved_at,
        command: row.command.clone(),
        version: row.version.clone(),
        actor: Actor { user: row.actor.clone(), uid: None },
        host: row.host.clone(),
        reason: row.reason.clone(),
        undoes: row.undoes.clone().filter(|run| is_run_id(run)),
        target: Target {
            engine: look.target.engine.clone(),
            preset: row.preset.clone(),
            variants: Vec::new(),
            name: None,
            database: look.target.database.clone(),
            identity: look.reader.identity()?,
            table: row.job_table.clone(),
            key,
        },
        columns: Vec::new(),
        digest: None,
        planned: 0,
    })
}

fn entry(row: &LedgerRow) -> Option<Entry> {
    let r#move = Move::ALL.into_iter().find(|known| known.name() == row.r#move)?;
    let rules = row.rules.split(',').filter(|rule| !rule.is_empty()).map(str::to_owned).collect();
    let fingerprints = row.fingerprint_before.clone().zip(row.fingerprint_after.clone());
    Some(Entry {
        step: 0,
        id: row.job_id.clone(),
        key: key_from_json(&serde_json::from_str(&row.job_key).ok()?)?,
        queue: row.queue.clone(),
        kind: row.kind.clone(),
        owner: row.owner.clone(),
        r#move,
        state_before: row.state_before.clone(),
        state_after: row.state_after.clone(),
        attempts_before: row.attempts_before,
        attempts_after: row.attempts_after,
        rules,
        row: match (&row.before, &row.after, fingerprints) {
            (Some(before), Some(after), Some(fingerprints)) => Some(Entry::row_of(before, after, fingerprints)?),
            _ => None,
        },
    })
}

/// The time that a run is listed under.
pub(super) fn time_of(row: &LedgerRow) -> Timestamp {
    row.moved_at
}
