use super::line::{Counts, End, Entry, Head, Line, Outcomes, SCHEMA};
use super::{Directory, JournalError};
use crate::model::{Outcome, Timestamp};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// No line of ours is longer: a batch has 500 jobs, and a journal that somebody made must not fill the memory.
const LONGEST_LINE: u64 = 1 << 30;

/// A batch as a journal tells of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Counted from 1.
    pub batch: u64,
    /// The clock of its transaction; `None` where it moved nothing.
    pub at: Option<Timestamp>,
    /// The jobs that it was about to move.
    pub changes: Vec<Entry>,
    /// How its steps ended; `None` where the journal ends before it says so.
    pub ends: Option<Outcomes>,
}

/// What a whole journal comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Its first line.
    pub head: Head,
    /// How many steps ended how, batch by batch. Jobs of a batch without a result count as unknown.
    pub recorded: Counts,
    /// Jobs whose rows are recorded, so that they could be set back.
    pub undoable: u64,
    /// Its last line; `None` where it has none.
    pub end: Option<End>,
}

/// The head of a run's journal, and the file for what comes after; `None` if this host has none, or one without a whole line,
/// which does not say what the run did: its first write failed, or was cut short.
///
/// # Errors
/// When it cannot be read, or is not what this program writes.
pub fn read(directory: &Directory, run_id: &str) -> Result<Option<(Head, Lines)>, JournalError> {
    let Some(file) = directory.read(run_id)? else { return Ok(None) };
    let path = directory.file(run_id);
    let mut lines = Lines { reader: BufReader::new(file), path, number: 0, is_torn: false };
    match lines.next_line()? {
        Some(Line::Head(head)) if head.schema == SCHEMA && head.run_id == run_id => Ok(Some((*head, lines))),
        Some(Line::Head(head)) if head.schema == SCHEMA => {
            let why = format!("it is the journal of run {}, under another name", head.run_id);
            Err(JournalError::malformed(&lines.path, 1, why))
        }
        Some(Line::Head(head)) => {
            Err(JournalError::malformed(&lines.path, 1, format!("its schema is {}, not {SCHEMA}", head.schema)))
        }
        None if lines.is_torn || lines.number == 0 => Ok(None),
        _ => Err(JournalError::malformed(&lines.path, 1, "the first line is no head")),
    }
}

/// The lines of a journal, one after the other.
#[derive(Debug)]
pub struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    number: u64,
    is_torn: bool,
}

impl Lines {
    /// The next line; `None` at the end. What is left of a line that was being written when the power went is the end too.
    fn next_line(&mut self) -> Result<Option<Line>, JournalError> {
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
                return Err(JournalError::malformed(&self.path, self.number, "the line is too long"));
            }
            self.is_torn = true;
            return Ok(None);
        }
        match serde_json::from_slice(&text) {
            Ok(line) => Ok(Some(line)),
            // A file system may have kept the length and lost the bytes.
            Err(_) if text.iter().all(|byte| *byte == 0 || *byte == b'\n') && self.is_at_end()? => Ok(None),
            // The parser's words, without its own place in the line.
            Err(error) => Err(JournalError::malformed(&self.path, self.number, error.to_string())),
        }
    }

    fn is_at_end(&mut self) -> Result<bool, JournalError> {
        let rest = self.reader.fill_buf().map_err(|error| JournalError::io("read", &self.path, error))?;
        Ok(rest.is_empty())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Hands over the batches of a journal, one at a time, and gives back how the run ended, if it says.
///
/// # Errors
/// When it cannot be read, is not what this program writes, or when `each` fails.
pub fn batches<E: From<JournalError>>(
    mut lines: Lines,
    each: &mut dyn FnMut(Recorded) -> Result<(), E>,
) -> Result<Option<End>, E> {
    let mut open: Option<Recorded> = None;
    while let Some(line) = lines.next_line()? {
        let malformed = |why: &str| E::from(JournalError::malformed(lines.path(), lines.number, why));
        match line {
            Line::Head(_) => return Err(malformed("a second head")),
            Line::Intent(intent) => {
                // A batch that was tried again is told of again; the last time counts.
                if let Some(before) = open.take().filter(|before| before.batch != intent.batch) {
                    each(before)?;
                }
                let (batch, at) = (intent.batch, Some(intent.at));
                open = Some(Recorded { batch, at, changes: intent.changes, ends: None });
            }
            Line::Result { batch, steps } => {
                let mut recorded = match open.take() {
                    Some(before) if before.batch == batch => before,
                    before => {
                        before.map_or(Ok(()), &mut *each)?;
                        Recorded { batch, at: None, changes: Vec::new(), ends: None }
                    }
                };
                if recorded.changes.iter().any(|entry| entry.step >= steps.len()) {
                    return Err(malformed("the result has fewer steps than the intent"));
                }
                recorded.ends = Some(steps);
                each(recorded)?;
            }
            Line::End(end) => {
                open.take().map_or(Ok(()), &mut *each)?;
                return match lines.next_line()? {
                    None => Ok(Some(end)),
                    Some(_) => {
                        Err(E::from(JournalError::malformed(lines.path(), lines.number, "a line after the last")))
                    }
                };
            }
        }
    }
    open.take().map_or(Ok(()), &mut *each)?;
    Ok(None)
}

/// What the whole journal of a run comes to; `None` if this host has none, or one without a whole line.
///
/// # Errors
/// When it cannot be read, or is not what this program writes.
pub fn summary(directory: &Directory, run_id: &str) -> Result<Option<Summary>, JournalError> {
    let Some((head, lines)) = read(directory, run_id)? else { return Ok(None) };
    let (mut recorded, mut undoable) = (Counts::new(), 0);
    let end = batches::<JournalError>(lines, &mut |batch| {
        match &batch.ends {
            Some(ends) => ends.iter().for_each(|end| *recorded.entry(end.outcome).or_default() += 1),
            None => *recorded.entry(Outcome::Unknown).or_default() += batch.changes.len() as u64,
        }
        undoable += batch.changes.iter().filter(|entry| batch.may_have_moved(entry) && entry.row.is_some()).count();
        Ok(())
    })?;
    Ok(Some(Summary { head, recorded, undoable: undoable as u64, end }))
}

impl Recorded {
    /// How a job of this batch ended; `None` where nobody could say.
    pub fn outcome(&self, entry: &Entry) -> Option<Outcome> {
        let end = self.ends.as_ref()?.get(entry.step)?;
        Some(end.outcome).filter(|outcome| *outcome != Outcome::Unknown)
    }

    /// True unless it is known that the job was not moved.
    pub fn may_have_moved(&self, entry: &Entry) -> bool {
        self.outcome(entry).is_none_or(|outcome| outcome == Outcome::Moved)
    }
}
