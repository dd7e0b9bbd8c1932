use super::Records;
use crate::history::{self, Actor, Counts, Directory, End, Entry, Head, Target, is_run_id, key_from_json};
use crate::model::{Action, LedgerRow, Outcome, Timestamp};
use crate::ops::{OpsError, Snapshot};
use crate::output::{Spool, advice};
use crate::preset::LedgerSpec;
use crate::store::{StoreError, StoreErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run as it was recorded.
pub(in crate::ops) struct Loaded {
    /// Which run.
    pub(in crate::ops) head: Head,
    /// What it was about to do to each job that it moved, or may have; and how each other step ended.
    pub(in crate::ops) steps: Spool<Kept>,
    /// How many steps of the journal ended how.
    pub(in crate::ops) recorded: Counts,
    /// The last line of the journal, if there is a journal and it has one.
    pub(in crate::ops) end: Option<End>,
    /// How many jobs the ledger says were moved, where it was asked and has the run.
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
        && let Some((head, lines)) = history::read(journals, run_id)?
    {
        let loaded = of_journal(head, lines)?;
        return completed(records, loaded);
    }
    let ledger = records.ledger()?;
    if let (Some(ledger), Some(snapshot)) = (ledger, records.snapshot.as_mut()) {
        let rows = Rows::of(snapshot, &ledger, run_id)?;
        if let Some(first) = &rows.first {
            let head = head_of(first, snapshot)?;
            let (recorded, in_ledger) = (Counts::new(), Some(rows.moved));
            return Ok(Loaded { head, steps: rows.steps, recorded, end: None, in_ledger, source: "ledger" });
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

/// What there is to say of a journal without a whole line.
pub(super) fn tells_nothing(journals: &Directory, run_id: &str) -> String {
    let path = journals.file(run_id);
    format!(
        "{} has no whole line, so it is not recorded what the run did, and nothing of it can be taken back",
        path.display()
    )
}

/// Where the journal has gaps, or ends too early, the ledger may have what it lacks.
fn completed(records: &mut Records<'_>, mut loaded: Loaded) -> Result<Loaded, OpsError> {
    let is_gap = |kept: &Kept| kept.entry.is_none() && kept.outcome.is_none_or(|outcome| outcome == Outcome::Moved);
    let gaps = loaded.steps.iter().filter(|kept| kept.as_ref().is_ok_and(is_gap)).count();
    if gaps == 0 && loaded.unrecorded() == Some(0) {
        return Ok(loaded);
    }
    let (Some(ledger), Some(snapshot)) = (records.ledger()?, records.snapshot.as_mut()) else { return Ok(loaded) };
    let rows = Rows::of(snapshot, &ledger, &loaded.head.run_id)?;
    if rows.first.is_none() {
        return Ok(loaded);
    }
    // Two jobs may have one id, and the journal says of this step no more than that.
    let mut known: BTreeMap<String, Vec<Option<Entry>>> = BTreeMap::new();
    for kept in rows.steps.iter() {
        let kept = kept?;
        known.entry(kept.id).or_default().push(kept.entry);
    }
    let mut steps = Spool::default();
    for kept in loaded.steps.iter() {
        let mut kept = kept?;
        let row = known.get_mut(&kept.id).and_then(Vec::pop);
        if row.is_some() && kept.outcome.is_none() {
            kept.outcome = Some(Outcome::Moved);
        }
        if is_gap(&kept) {
            kept.entry = row.flatten();
        }
        steps.push(0, kept)?;
    }
    for (id, entries) in known {
        for entry in entries {
            steps.push(0, Kept::moved(id.clone(), entry))?;
        }
    }
    loaded.steps = steps;
    loaded.in_ledger = Some(rows.moved);
    Ok(loaded)
}

fn of_journal(head: Head, lines: history::Lines) -> Result<Loaded, OpsError> {
    let (mut steps, mut recorded) = (Spool::default(), Counts::new());
    let end = history::batches::<OpsError>(lines, &mut |batch| {
        let mut entries: BTreeMap<usize, Entry> =
            batch.changes.iter().map(|entry| (entry.step, entry.clone())).collect();
        let ends = batch.ends.unwrap_or_default();
        for (n, end) in ends.into_iter().enumerate() {
            *recorded.entry(end.outcome).or_default() += 1;
            let outcome = Some(end.outcome).filter(|outcome| *outcome != Outcome::Unknown);
            let (sqlstate, constraint) = (end.sqlstate, end.constraint);
            let kept = Kept { id: end.id, entry: entries.remove(&n), outcome, sqlstate, constraint };
            steps.push(0, kept)?;
        }
        // What is left is of a batch that never told how it ended.
        for entry in entries.into_values() {
            *recorded.entry(Outcome::Unknown).or_default() += 1;
            let id = entry.id.clone();
            steps.push(0, Kept { id, entry: Some(entry), outcome: None, sqlstate: None, constraint: None })?;
        }
        Ok(())
    })?;
    Ok(Loaded { head, steps, recorded, end, in_ledger: None, source: "journal" })
}

#[derive(Default)]
struct Rows {
    first: Option<LedgerRow>,
    steps: Spool<Kept>,
    moved: u64,
    failed: Option<OpsError>,
}

impl Kept {
    fn moved(id: String, entry: Option<Entry>) -> Kept {
        Kept { id, entry, outcome: Some(Outcome::Moved), sqlstate: None, constraint: None }
    }
}

impl Rows {
    /// What a ledger has of a run.
    fn of(snapshot: &mut Snapshot, ledger: &LedgerSpec, run_id: &str) -> Result<Rows, OpsError> {
        let mut rows = Rows::default();
        snapshot.reader.ledger_rows(ledger, run_id, &mut |row| rows.take(row))?;
        match rows.failed.take() {
            Some(error) => Err(error),
            None => Ok(rows),
        }
    }

    fn take(&mut self, row: LedgerRow) {
        let taken = match entry(&row) {
            Some(entry) => self.steps.push(0, Kept::moved(row.job_id.clone(), Some(entry))).map_err(OpsError::from),
            None => Err(OpsError::usage(
                format!("the ledger's row of job {} in run {} is not what this program writes", row.job_id, row.run_id),
                "it was altered, or written by another version of jobdoctor",
            )),
        };
        match taken {
            Ok(()) => self.moved += 1,
            Err(error) => drop(self.failed.get_or_insert(error)),
        }
        self.first.get_or_insert(row);
    }
}

/// A head from a row of the ledger: it lies in the queue's own database, so that need not be said there.
pub(super) fn head_of(row: &LedgerRow, snapshot: &mut Snapshot) -> Result<Head, OpsError> {
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
            engine: snapshot.target.engine.clone(),
            preset: row.preset.clone(),
            variants: Vec::new(),
            name: None,
            database: snapshot.target.database.clone(),
            identity: snapshot.reader.identity()?,
            table: row.job_table.clone(),
            key,
        },
        columns: Vec::new(),
        digest: None,
        planned: 0,
    })
}

fn entry(row: &LedgerRow) -> Option<Entry> {
    let action = Action::ALL.into_iter().find(|known| known.name() == row.action)?;
    let rules = row.rules.split(',').filter(|rule| !rule.is_empty()).map(str::to_owned).collect();
    let fingerprints = row.fingerprint_before.clone().zip(row.fingerprint_after.clone());
    Some(Entry {
        step: 0,
        id: row.job_id.clone(),
        key: key_from_json(&serde_json::from_str(&row.job_key).ok()?)?,
        queue: row.queue.clone(),
        kind: row.kind.clone(),
        owner: row.owner.clone(),
        action,
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
