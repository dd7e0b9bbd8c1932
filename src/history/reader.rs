use super::line::{Counts, JournalLine, RunEnd, SCHEMA, StepEnd};
use super::{Directory, JournalError};
use crate::model::{Outcome, RecordedStep, RunHead};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// No line of ours is longer: a batch has at most 5,000 jobs, and a foreign file must not fill the memory.
const LONGEST_LINE: u64 = 1 << 30;

/// What is recorded of one step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The id as people see it.
    pub id: String,
    /// What the run was about to do; `None` for a step that did not come to it, and where the intent could not be written.
    pub step: Option<RecordedStep>,
    /// How it ended; `None` where the record does not know.
    pub outcome: Option<Outcome>,
    /// The code of the database's error.
    pub sqlstate: Option<String>,
    /// The constraint that was in the way.
    pub constraint: Option<String>,
}

impl StepRecord {
    /// A step with that outcome, or with none that is known.
    pub fn of(step: RecordedStep, outcome: Option<Outcome>) -> StepRecord {
        StepRecord { id: step.id.clone(), step: Some(step), outcome, sqlstate: None, constraint: None }
    }

    fn ended(end: StepEnd, step: Option<RecordedStep>) -> StepRecord {
        let outcome = Some(end.outcome).filter(|outcome| *outcome != Outcome::Unknown);
        StepRecord { id: end.id, step, outcome, sqlstate: end.sqlstate, constraint: end.constraint }
    }

    /// True unless it is known that the job was not moved.
    pub fn may_have_moved(&self) -> bool {
        self.outcome.is_none_or(|outcome| outcome == Outcome::Moved)
    }

    /// True if the job was moved, or may have been, and its row is recorded.
    pub fn is_undoable(&self) -> bool {
        self.may_have_moved() && self.step.as_ref().is_some_and(|step| step.row.is_some())
    }
}

/// What a whole journal comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Its first line.
    pub head: RunHead,
    /// How many steps ended how. Jobs of a batch without a result count as unknown.
    pub recorded: Counts,
    /// Jobs whose rows are recorded, so that they could be set back.
    pub undoable: u64,
    /// Its last line; `None` where it has none.
    pub end: Option<RunEnd>,
}

/// The head of a run's journal, and the file for what comes after; `None` if this host has none, or one without a whole line,
/// which does not say what the run did: its first write failed, or was cut short.
///
/// # Errors
/// When it cannot be read, or is not what this program writes.
pub fn read(directory: &Directory, run_id: &str) -> Result<Option<(RunHead, JournalLines)>, JournalError> {
    let Some(file) = directory.read(run_id)? else { return Ok(None) };
    let path = directory.file(run_id);
    let mut lines = JournalLines { reader: BufReader::new(file), path, number: 0, is_torn: false };
    match lines.next_line()? {
        Some(JournalLine::Head { schema, head }) if schema == SCHEMA && head.run_id == run_id => {
            Ok(Some((*head, lines)))
        }
        Some(JournalLine::Head { schema, head }) if schema == SCHEMA => {
            Err(lines.malformed(&format!("it is the journal of run {}, under another name", head.run_id)))
        }
        Some(JournalLine::Head { schema, .. }) => {
            Err(lines.malformed(&format!("its schema is {schema}, not {SCHEMA}")))
        }
        None if lines.is_torn || lines.number == 0 => Ok(None),
        _ => Err(lines.malformed("the first line is no head")),
    }
}

/// The lines of a journal after its head.
#[derive(Debug)]
pub struct JournalLines {
    reader: BufReader<File>,
    path: PathBuf,
    number: u64,
    is_torn: bool,
}

impl JournalLines {
    /// The next line; `None` at the end. What is left of a line that was being written when the power went is the end too.
    fn next_line(&mut self) -> Result<Option<JournalLine>, JournalError> {
        let mut text = Vec::new();
        let mut limited = std::io::Read::take(&mut self.reader, LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut text);
        read.map_err(|error| JournalError::io("read", &self.path, error))?;
        if text.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if !text.ends_with(b"\n") {
            if text.len() as u64 >= LONGEST_LINE {
                return Err(self.malformed("the line is too long"));
            }
            self.is_torn = true;
            return Ok(None);
        }
        match serde_json::from_slice(&text) {
            Ok(line) => Ok(Some(line)),
            // A file system may have kept the length and lost the bytes.
            Err(_) if text.iter().all(|byte| *byte == 0 || *byte == b'\n') && self.is_at_end()? => Ok(None),
            // The parser's words, without its own place in the line.
            Err(error) => Err(self.malformed(&error.to_string())),
        }
    }

    fn is_at_end(&mut self) -> Result<bool, JournalError> {
        let rest = self.reader.fill_buf().map_err(|error| JournalError::io("read", &self.path, error))?;
        Ok(rest.is_empty())
    }

    /// The line that was read last is not what this program writes.
    fn malformed(&self, why: &str) -> JournalError {
        JournalError::Malformed { path: self.path.clone(), line: self.number, why: why.to_owned() }
    }
}

/// Hands over the steps of a journal in order, at most a batch of them in memory, and returns how the run ended, if it says.
///
/// # Errors
/// When it cannot be read, is not what this program writes, or when `each` fails.
pub fn steps<E: From<JournalError>>(
    mut lines: JournalLines,
    each: &mut dyn FnMut(StepRecord) -> Result<(), E>,
) -> Result<Option<RunEnd>, E> {
    // The batch whose result is still to come.
    let (mut open, mut changes): (u64, Vec<RecordedStep>) = (0, Vec::new());
    // How jobs ended that a later batch tries again, and the end of the run.
    let (mut again, mut end): (BTreeMap<String, StepRecord>, _) = (BTreeMap::new(), None);
    while let Some(line) = lines.next_line()? {
        match line {
            JournalLine::Head { .. } => return Err(lines.malformed("a second head").into()),
            JournalLine::Intent { batch, changes: next, .. } => {
                // Of a batch that was tried again, the last intent counts.
                if batch != open {
                    without_result(&mut changes, &mut again, each)?;
                }
                (open, changes) = (batch, next);
            }
            JournalLine::Result { batch, steps } => {
                if batch != open {
                    without_result(&mut changes, &mut again, each)?;
                }
                if changes.iter().any(|step| step.step >= steps.len()) {
                    return Err(lines.malformed("the result has fewer steps than the intent").into());
                }
                let mut changes: BTreeMap<usize, RecordedStep> =
                    changes.drain(..).map(|step| (step.step, step)).collect();
                for (n, end) in steps.into_iter().enumerate() {
                    let is_tried_again = end.tried_again;
                    let record = StepRecord::ended(end, changes.remove(&n));
                    if is_tried_again {
                        again.insert(record.id.clone(), record);
                    } else {
                        again.remove(&record.id);
                        each(record)?;
                    }
                }
            }
            JournalLine::End(_) if lines.next_line()?.is_some() => {
                return Err(lines.malformed("a line after the last").into());
            }
            JournalLine::End(last) => end = Some(last),
        }
    }
    without_result(&mut changes, &mut again, each)?;
    // The run came to no other batch with them.
    again.into_values().try_for_each(each)?;
    Ok(end)
}

fn without_result<E>(
    changes: &mut Vec<RecordedStep>,
    again: &mut BTreeMap<String, StepRecord>,
    each: &mut dyn FnMut(StepRecord) -> Result<(), E>,
) -> Result<(), E> {
    changes.drain(..).try_for_each(|step| {
        again.remove(&step.id);
        each(StepRecord::of(step, None))
    })
}

/// What the whole journal of a run comes to; `None` if this host has none, or one without a whole line.
///
/// # Errors
/// When it cannot be read, or is not what this program writes.
pub fn summary(directory: &Directory, run_id: &str) -> Result<Option<Summary>, JournalError> {
    let Some((head, lines)) = read(directory, run_id)? else { return Ok(None) };
    let (mut recorded, mut undoable) = (Counts::new(), 0);
    let end = steps::<JournalError>(lines, &mut |step| {
        *recorded.entry(step.outcome.unwrap_or(Outcome::Unknown)).or_default() += 1;
        undoable += u64::from(step.is_undoable());
        Ok(())
    })?;
    Ok(Some(Summary { head, recorded, undoable, end }))
}
