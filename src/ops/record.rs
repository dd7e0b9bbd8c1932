//! Records a run in the journal of this host and in the queue's ledger: the intent of each batch before its commit, the result
//! after it.

use crate::history::{
    Actor, Directory, End, Entry, Head, Intent, JournalError, Line, StepEnd, Target, Writer, key_to_json,
    values_to_json,
};
use crate::model::{Action, Change, LedgerRow, Outcome, RowChange, Step, StepResult, Timestamp};
use crate::output::{self, StepJob};
use crate::policy::Proves;
use crate::preset::QueueSpec;
use crate::store::{Recorder, StoreError, StoreErrorKind};
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether a run keeps a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// No journal.
    #[default]
    Off,
    /// A journal if possible; otherwise a warning.
    IfPossible,
    /// A journal, or nothing is written to the queue.
    Required,
}

/// Who runs a command, why, and where the run is recorded.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The command.
    pub command: &'static str,
    /// Who runs it.
    pub actor: Actor,
    /// The host.
    pub host: Option<String>,
    /// The operator's reason.
    pub reason: Option<String>,
    /// Whether a journal is kept.
    pub keep: Keep,
    /// The directory of the journals; `None` if none is known.
    pub directory: Option<Directory>,
}

/// Why a job is moved, for the error that the queue keeps with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Its worker is dead.
    Dead,
    /// It took too long, or its deadline has passed; its worker may be alive.
    Late,
    /// It waited too long.
    Waited,
}

impl Cause {
    /// Every cause.
    pub(super) const ALL: [Cause; 3] = [Cause::Dead, Cause::Late, Cause::Waited];

    /// The cause of a step.
    pub(super) fn of(spec: &QueueSpec, job: &StepJob) -> Cause {
        match job.job.reasons.iter().any(|reason| reason.proves == Some(Proves::Death)) {
            _ if spec.waits => Cause::Waited,
            true => Cause::Dead,
            false => Cause::Late,
        }
    }

    /// The reason written with a job, before the operator's own.
    pub(super) fn reason(self, run_id: &str) -> String {
        let words = match self {
            Cause::Dead => "worker presumed dead",
            Cause::Late => "took too long",
            Cause::Waited => "waited too long",
        };
        format!("jobdoctor: {words} (run {run_id})")
    }
}

impl Record {
    /// The reason written with each job, if the queue keeps its last error.
    pub(super) fn words(&self, cause: Cause, run_id: &str) -> String {
        let words = cause.reason(run_id);
        self.reason.as_ref().map_or(words.clone(), |reason| format!("{words}: {reason}"))
    }
}

/// The queue of a run, for its head.
pub(super) fn target(target: &output::Target, spec: &QueueSpec, identity: Option<String>) -> Target {
    Target {
        engine: target.engine.clone(),
        preset: target.preset.clone(),
        variants: target.variants.clone(),
        name: target.name.clone(),
        database: target.database.clone(),
        identity,
        table: target.table.clone(),
        key: spec.claim.key.iter().map(|column| column.name.clone()).collect(),
    }
}

/// The facts of a run that its head records.
pub(super) struct About {
    pub(super) run_id: String,
    pub(super) time: Timestamp,
    pub(super) target: Target,
    pub(super) columns: Vec<String>,
    pub(super) undoes: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) planned: u64,
}

/// The record of a run that is under way.
pub(super) struct Recording {
    head: Head,
    keep: Keep,
    journal: Option<Writer>,
    has_ledger: bool,
    batch: u64,
    moved: u64,
    /// Moved jobs that no record can restore.
    lost: u64,
    /// Jobs that were moved, or may have been, without an intent in the journal.
    unrecorded: u64,
    /// Why the journal is missing or incomplete.
    trouble: Option<String>,
}

impl Recording {
    /// Begins a record. The file is created with its first intent.
    pub(super) fn begin(record: &Record, about: About, has_ledger: bool) -> Recording {
        let head = Head {
            schema: "jobdoctor.journal/v1".to_owned(),
            run_id: about.run_id,
            time: about.time,
            command: record.command.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            actor: record.actor.clone(),
            host: record.host.clone(),
            reason: record.reason.clone(),
            undoes: about.undoes,
            target: about.target,
            columns: about.columns,
            digest: about.digest,
            planned: about.planned,
        };
        let mut trouble = None;
        let journal = match (&record.directory, record.keep) {
            (_, Keep::Off) => None,
            (None, _) => {
                trouble =
                    Some("HOME is not set, so there is no place for it; JOBDOCTOR_STATE_DIR names one".to_owned());
                None
            }
            (Some(directory), _) => {
                Writer::new(directory.clone(), head.clone()).map_err(|error| trouble = Some(error.to_string())).ok()
            }
        };
        let keep = record.keep;
        Recording { head, keep, journal, has_ledger, batch: 0, moved: 0, lost: 0, unrecorded: 0, trouble }
    }

    /// Why nothing may be written, if so: a required journal that cannot be written.
    pub(super) fn refusal(&self) -> Option<String> {
        if self.keep != Keep::Required {
            return None;
        }
        let trouble = match &self.journal {
            Some(journal) => journal.ready().err().map(|error| error.to_string()),
            None => self.trouble.clone(),
        };
        trouble.map(|trouble| format!("the journal is required (journal = \"required\"), and {trouble}"))
    }

    /// The recorder of a batch with these steps.
    pub(super) fn batch(&mut self, steps: Vec<Entry>) -> BatchRecorder<'_> {
        self.batch += 1;
        let wakes = !steps.is_empty() && steps.iter().all(|step| step.action == Action::Wake);
        BatchRecorder { recording: self, steps, wakes, is_announced: false, is_in_journal: false, lost: 0 }
    }

    /// Records the results of the last batch.
    pub(super) fn ended(&mut self, ends: Vec<StepEnd>) {
        let line = Line::Result { batch: self.batch, steps: ends };
        self.write(&line, false);
    }

    /// Records the end of the run, also after a gap: then it says how much is missing.
    pub(super) fn finish(&mut self, outcomes: &BTreeMap<Outcome, u64>, stop: Option<&StoreError>) {
        let stop = stop.map(|stop| stop.message.clone());
        let end = Line::End(End { outcomes: outcomes.clone(), unrecorded: self.unrecorded, stop });
        let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_begun()) else { return };
        if let Err(error) = journal.write(&end, true) {
            self.give_up(&error);
        }
    }

    fn write(&mut self, line: &Line, sync: bool) {
        // After a gap, a further line would make the journal look complete.
        let Some(journal) = self.journal.as_mut().filter(|_| self.trouble.is_none()) else { return };
        if let Err(error) = journal.write_if_begun(line, sync) {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &JournalError) {
        self.trouble.get_or_insert_with(|| error.to_string());
        if self.journal.as_ref().is_some_and(|journal| !journal.is_begun()) {
            self.journal = None;
        }
    }

    /// The run's id, once the run has moved a job or written a journal.
    pub(super) fn run_id(&self) -> Option<String> {
        (self.moved > 0 || self.path().is_some()).then(|| self.head.run_id.clone())
    }

    /// The journal's file, if there is one.
    pub(super) fn path(&self) -> Option<String> {
        let journal = self.journal.as_ref().filter(|journal| journal.is_begun());
        journal.map(|journal| journal.path().display().to_string())
    }

    /// True if every moved job can be restored.
    pub(super) fn is_whole(&self) -> bool {
        self.lost == 0
    }

    /// True if there is a journal or a ledger.
    pub(super) fn keeps(&self) -> bool {
        self.has_ledger || self.journal.is_some()
    }

    /// True if `history` finds this run: a run that has moved nothing is in no ledger.
    pub(super) fn is_kept(&self) -> bool {
        self.path().is_some() || (self.has_ledger && self.moved > 0)
    }

    /// The warning about an incomplete record. An idle sweep has none.
    pub(super) fn warning(&self) -> Option<String> {
        let trouble = self.trouble.as_ref().filter(|_| self.moved > 0)?;
        Some(match (self.has_ledger, self.path()) {
            (true, _) => {
                format!("the ledger has this run, but this host's journal has not, or not all of it: {trouble}")
            }
            (false, None) => format!("this run is not recorded and cannot be reverted: {trouble}"),
            (false, Some(path)) => {
                format!("not all of this run is recorded in {path}, and the rest cannot be reverted: {trouble}")
            }
        })
    }
}

/// Receives what the store does in one batch.
pub(super) struct BatchRecorder<'r> {
    recording: &'r mut Recording,
    /// The steps of the batch, without the changes of their rows.
    steps: Vec<Entry>,
    /// True for wake-ups, which are not recorded: they change no row, and each sweep repeats them.
    wakes: bool,
    /// Whether the store has announced the batch.
    is_announced: bool,
    /// Whether its intent is in the journal.
    is_in_journal: bool,
    /// Jobs of the batch that no record can restore.
    lost: u64,
}

impl BatchRecorder<'_> {
    fn entries(&self, changes: &[Change]) -> Vec<Entry> {
        let entry = |change: &Change| {
            let step = self.steps.get(change.step)?;
            Some(Entry { row: change.row.clone(), ..step.clone() })
        };
        changes.iter().filter_map(entry).collect()
    }

    /// Counts what was committed.
    pub(super) fn committed(self, results: &[StepResult]) {
        if self.wakes {
            return;
        }
        let is_done = |result: &&StepResult| matches!(result.outcome, Outcome::Moved | Outcome::Unknown);
        let done = results.iter().filter(is_done).count() as u64;
        self.recording.moved += done;
        self.recording.unrecorded += if self.is_in_journal { 0 } else { done };
        self.recording.lost += if self.is_announced { self.lost.min(done) } else { done };
    }
}

impl Recorder for BatchRecorder<'_> {
    fn keeps(&self) -> bool {
        self.recording.keeps() && !self.wakes
    }

    fn ledger(&mut self, at: Timestamp, changes: &[Change]) -> Vec<LedgerRow> {
        if self.wakes {
            return Vec::new();
        }
        let head = &self.recording.head;
        self.entries(changes).into_iter().map(|entry| ledger_row(head, at, entry)).collect()
    }

    fn intent(&mut self, at: Timestamp, changes: &[Change]) -> Result<(), StoreError> {
        (self.is_announced, self.is_in_journal) = (true, false);
        if self.wakes {
            return Ok(());
        }
        let entries = self.entries(changes);
        let without_row = changes.iter().filter(|change| change.row.is_none()).count() as u64;
        let recording = &mut *self.recording;
        self.is_in_journal = match &mut recording.journal {
            Some(journal) if recording.trouble.is_none() => {
                let line = Line::Intent(Intent { batch: recording.batch, at, changes: entries });
                match journal.write(&line, true) {
                    Ok(()) => true,
                    Err(error) if recording.keep == Keep::Required => {
                        let message = format!("the journal is required (journal = \"required\"), and {error}");
                        return Err(StoreError::new(StoreErrorKind::Refused, message).hint(error.hint()));
                    }
                    Err(error) => {
                        recording.give_up(&error);
                        false
                    }
                }
            }
            _ => false,
        };
        self.lost = if self.is_in_journal || recording.has_ledger { without_row } else { changes.len() as u64 };
        Ok(())
    }
}

fn ledger_row(head: &Head, at: Timestamp, entry: Entry) -> LedgerRow {
    let values = |row: &RowChange, pick: fn(&crate::model::ValueChange) -> &crate::model::Cell| {
        values_to_json(row.values.iter().map(|value| (value.column.as_str(), pick(value)))).to_string()
    };
    let row = entry.row.as_ref();
    let actor = head.actor.user.clone().or_else(|| head.actor.uid.map(|uid| uid.to_string()));
    LedgerRow {
        run_id: head.run_id.clone(),
        moved_at: at,
        command: head.command.clone(),
        version: head.version.clone(),
        actor,
        host: head.host.clone(),
        reason: head.reason.clone(),
        undoes: head.undoes.clone(),
        preset: head.target.preset.clone(),
        job_table: head.target.table.clone(),
        job_id: entry.id.clone(),
        job_key: key_to_json(&entry.key).to_string(),
        key_columns: Value::from(head.target.key.clone()).to_string(),
        queue: entry.queue.clone(),
        kind: entry.kind.clone(),
        owner: entry.owner.clone(),
        action: entry.action.name().to_owned(),
        state_before: entry.state_before.clone(),
        state_after: entry.state_after.clone(),
        attempts_before: entry.attempts_before,
        attempts_after: entry.attempts_after,
        rules: entry.rules.join(","),
        before: row.map(|row| values(row, |value| &value.before)),
        after: row.map(|row| values(row, |value| &value.after)),
        fingerprint_before: row.map(|row| row.before.0.clone()),
        fingerprint_after: row.map(|row| row.after.0.clone()),
    }
}

/// The steps of a batch, as the journal and the ledger record them.
pub(super) fn entries(steps: &[Step], jobs: &[StepJob]) -> Vec<Entry> {
    let entry = |(n, (step, job)): (usize, (&Step, &StepJob))| Entry {
        step: n,
        id: job.job.id.clone(),
        key: step.key.clone(),
        queue: job.job.queue.clone(),
        kind: job.job.kind.clone(),
        owner: job.job.owner.clone(),
        action: step.action,
        state_before: job.job.state.clone(),
        state_after: job.state_after.clone(),
        attempts_before: job.job.attempts,
        attempts_after: job.attempts_after,
        rules: job.job.reasons.iter().map(|reason| reason.rule.clone()).collect(),
        row: None,
    };
    steps.iter().zip(jobs).enumerate().map(entry).collect()
}

/// The results of a batch, as the journal records them.
pub(super) fn ends<'i>(ids: impl Iterator<Item = &'i String>, results: &[StepResult]) -> Vec<StepEnd> {
    let end = |(id, result): (&String, &StepResult)| StepEnd {
        id: id.clone(),
        outcome: result.outcome,
        sqlstate: result.error.as_ref().and_then(|error| error.sqlstate.clone()),
        constraint: result.error.as_ref().and_then(|error| error.constraint.clone()),
    };
    ids.zip(results).map(end).collect()
}
