//! One record of a run, for two sinks: the journal of this host, and the ledger where the queue has one.

use super::journal::{Counts, JournalLine, JournalWriter, RunEnd};
use super::{Directory, JournalError};
use crate::model::{Action, Actor, End, Place, RunHead, Step, Timestamp};

/// Whether a run keeps a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    #[default]
    Off,
    /// A journal if possible; otherwise a warning.
    IfPossible,
    /// A journal, or nothing is written to the queue.
    Required,
}

/// Who runs a command, why, and where the run is recorded.
#[derive(Debug, Clone, Default)]
pub struct RecordOptions {
    pub command: &'static str,
    pub actor: Actor,
    pub host: Option<String>,
    pub reason: Option<String>,
    /// An id of the operator's.
    pub external_id: Option<String>,
    /// What the operator said of where the queue is.
    pub place: Place,
    pub keep: Keep,
    pub directory: Option<Directory>,
}

pub struct Recording {
    head: RunHead,
    keep: Keep,
    journal: Option<JournalWriter>,
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
    pub fn begin(options: &RecordOptions, head: RunHead, has_ledger: bool) -> Recording {
        let keep = options.keep;
        let begun = match &options.directory {
            _ if keep == Keep::Off => Ok(None),
            None => Err("HOME is not set, so there is no place for it; JOBDOCTOR_STATE_DIR names one".to_owned()),
            Some(directory) => {
                let writer = JournalWriter::new(directory.clone(), head.clone());
                writer.map(Some).map_err(|error| error.to_string())
            }
        };
        let (journal, trouble) = begun.map_or_else(|why| (None, Some(why)), |journal| (journal, None));
        Recording { head, keep, journal, has_ledger, batch: 0, moved: 0, lost: 0, unrecorded: 0, trouble }
    }

    /// Why nothing may be written, if so: a required journal that cannot be written.
    pub fn refusal(&self) -> Option<String> {
        if self.keep != Keep::Required {
            return None;
        }
        let trouble = match &self.journal {
            Some(journal) => journal.ready().err().map(|error| error.to_string()),
            None => self.trouble.clone(),
        };
        trouble.map(|trouble| required(&trouble))
    }

    /// Writes no journal from now on. Rows for the ledger are still made: the transaction that adds them is rolled
    /// back.
    pub fn keep_nothing(&mut self) {
        (self.journal, self.keep) = (None, Keep::Off);
    }

    /// The recorder of a batch of that action. Wake-ups are not recorded: they change no row, and each sweep repeats
    /// them.
    pub fn batch(&mut self, action: Option<Action>) -> BatchRecorder<'_> {
        self.batch += 1;
        let wakes = action == Some(Action::Wake);
        BatchRecorder { recording: self, wakes, has_intent: false, is_in_journal: false, lost: 0 }
    }

    /// Records the end of the run, also after a gap: then it says how much is missing.
    pub fn finish(&mut self, outcomes: &Counts, stop: Option<String>) {
        let end =
            JournalLine::End(RunEnd { outcomes: outcomes.clone(), unrecorded: self.unrecorded, stop, verified: None });
        let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_begun()) else { return };
        if let Err(error) = journal.write(&end, true) {
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
    pub fn run_id(&self) -> Option<String> {
        (self.moved > 0 || self.path().is_some()).then(|| self.head.run_id.clone())
    }

    pub fn path(&self) -> Option<String> {
        let journal = self.journal.as_ref().filter(|journal| journal.is_begun());
        journal.map(|journal| journal.path().display().to_string())
    }

    /// True if every moved job can be restored.
    pub fn is_whole(&self) -> bool {
        self.keeps() && self.lost == 0
    }

    fn keeps(&self) -> bool {
        self.has_ledger || self.journal.is_some()
    }

    /// True if `history` finds this run: a run that has moved nothing is in no ledger.
    pub fn is_kept(&self) -> bool {
        self.path().is_some() || (self.has_ledger && self.moved > 0)
    }

    /// The warning about an incomplete record. An idle sweep has none.
    pub fn warning(&self) -> Option<String> {
        let trouble = self.trouble.as_ref().filter(|_| self.moved > 0)?;
        Some(match (self.has_ledger, self.path()) {
            (true, _) => {
                format!("the ledger has this run; this host's journal does not, or only in part: {trouble}")
            }
            (false, None) => format!("this run is not recorded and cannot be reverted: {trouble}"),
            (false, Some(path)) => {
                format!("not all of this run is recorded in {path}, and the rest cannot be reverted: {trouble}")
            }
        })
    }
}

fn required(trouble: &str) -> String {
    format!("the journal is required (journal = \"required\"), and {trouble}")
}

/// Records one batch: the intent ahead of its commit, and what became of it.
pub struct BatchRecorder<'r> {
    recording: &'r mut Recording,
    wakes: bool,
    /// Whether the transaction got as far as its intent.
    has_intent: bool,
    is_in_journal: bool,
    /// Jobs of the batch that no record can restore.
    lost: u64,
}

impl BatchRecorder<'_> {
    /// The run; `None` if nothing is recorded of the batch.
    pub fn head(&self) -> Option<&RunHead> {
        (self.recording.keeps() && !self.wakes).then_some(&self.recording.head)
    }

    /// Writes the intent to the journal. It is not waited for until it is on the disk, because workers would wait too:
    /// a killed process loses nothing of it, and [`BatchRecorder::ended`] waits.
    ///
    /// # Errors
    /// When it cannot be written although the journal is required, with why; and what to try.
    pub fn intent(&mut self, at: Timestamp, steps: &[Step<End>]) -> Result<(), (String, &'static str)> {
        let recording = &mut *self.recording;
        if let (Keep::Required, Some(trouble)) = (recording.keep, &recording.trouble) {
            return Err((required(trouble), "the journal has what was moved before: run this again for the rest"));
        }
        (self.has_intent, self.is_in_journal) = (true, false);
        if let Some(journal) = recording.journal.as_mut().filter(|_| recording.trouble.is_none()) {
            let intent = JournalLine::Intent { batch: recording.batch, at, steps: steps.into() };
            match journal.write(&intent, false) {
                Ok(()) => self.is_in_journal = true,
                Err(error) if recording.keep == Keep::Required => {
                    return Err((required(&error.to_string()), error.hint()));
                }
                Err(error) => recording.give_up(&error),
            }
        }
        let without_row = steps.iter().filter(|step| step.stage.row.is_none()).count();
        self.lost = if self.is_in_journal || recording.has_ledger { without_row } else { steps.len() } as u64;
        Ok(())
    }

    /// Records how the steps of the batch ended, and the numbers of those that another batch tries again. When this
    /// returns, the batch is on the disk.
    pub fn ended(self, steps: &[Step], ends: &[End], is_tried_again: &dyn Fn(usize) -> bool) {
        if self.wakes {
            return;
        }
        let all = steps.iter().zip(ends).enumerate();
        let (done, others): (Vec<_>, Vec<_>) = all.partition(|(_, (_, end))| end.may_have_moved());
        let (recording, intended) = (self.recording, done.first().map(|(_, (_, end))| end.outcome));
        let done = done.len() as u64;
        recording.moved += done;
        recording.unrecorded += if self.is_in_journal { 0 } else { done };
        recording.lost += if self.has_intent { self.lost.min(done) } else { done };
        // After a gap, a further line would make the journal look complete.
        let Some(journal) = recording.journal.as_mut().filter(|_| recording.trouble.is_none()) else { return };
        let tried_again = (0..).zip(&others).filter(|(_, (n, _))| is_tried_again(*n)).map(|(place, _)| place).collect();
        let steps = others.into_iter().map(|(_, (step, end))| step.at(end.clone().without_message())).collect();
        let result = JournalLine::Result { batch: recording.batch, intended, steps, tried_again };
        if let Err(error) = journal.write_if_begun(&result, true) {
            recording.give_up(&error);
        }
    }
}
