//! The journal file of a run: its lines, how they are written and how they are read.

use super::{Directory, JournalError};
use crate::model::{End, Outcome, RunHead, Step, Timestamp, Verified};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// No line of ours is longer: a batch has at most 5,000 jobs, and a foreign file must not fill the memory.
const LONGEST_LINE: u64 = 1 << 30;
/// The line of a batch is some megabytes long, and is never whole in memory.
const BUFFER: usize = 1 << 16;

/// The schema that a journal's first line names.
pub const SCHEMA: &str = "jobdoctor.journal/v3";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JournalLine<'s> {
    /// The first: which run this is.
    Head {
        /// Always [`SCHEMA`].
        schema: String,
        #[serde(flatten)]
        head: Box<RunHead>,
    },
    /// What a batch is about to commit.
    Intent {
        /// The batch, counted from 1. A batch that is tried again writes another intent with the same number.
        batch: u64,
        at: Timestamp,
        /// The jobs that it moves, with their rows. Their outcome is unknown until the commit is answered; it is one for all.
        steps: Cow<'s, [Step<End>]>,
    },
    /// What became of a batch.
    Result {
        /// The batch, counted from 1.
        batch: u64,
        /// The outcome of the steps in its intent; null if none of them was moved, so that `steps` has them too.
        #[serde(deserialize_with = "Option::deserialize")]
        intended: Option<Outcome>,
        /// The steps that were not moved, in order.
        steps: Vec<Step<End>>,
        /// The places among them, counted from 0, of what a later batch tries once more: what becomes of that there counts.
        tried_again: Vec<usize>,
    },
    /// The run came to its end.
    End(RunEnd),
    /// The last, where the requeued jobs were watched afterwards.
    Verified(Verified),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    pub outcomes: Counts,
    /// Jobs that were moved, or may have been, and that no intent names, because it could not be written.
    pub unrecorded: u64,
    /// Why it stopped early, if it did.
    pub stop: Option<String>,
    /// What became of the requeued jobs; a line of its own.
    #[serde(skip)]
    pub verified: Option<Verified>,
}

pub type Counts = BTreeMap<Outcome, u64>;

/// The journal of one run, being written. The file is made with the first intent, because only a run that writes
/// something to the database has anything to record.
#[derive(Debug)]
pub struct JournalWriter {
    directory: Directory,
    run_id: String,
    file: Option<File>,
    /// What is to be written ahead of the next line that makes the file.
    waiting: Vec<u8>,
    /// How much of the file is whole lines.
    length: u64,
    /// Whether a piece of a line could not be removed. Behind it nothing more is written.
    is_torn: bool,
}

impl JournalWriter {
    /// One for that run. Nothing is made yet.
    pub fn new(directory: Directory, head: RunHead) -> Result<JournalWriter, JournalError> {
        let run_id = head.run_id.clone();
        let mut writer =
            JournalWriter { directory, run_id, file: None, waiting: Vec::new(), length: 0, is_torn: false };
        writer.wait(&JournalLine::Head { schema: SCHEMA.to_owned(), head: Box::new(head) })?;
        Ok(writer)
    }

    pub fn path(&self) -> PathBuf {
        self.directory.file(&self.run_id)
    }

    pub fn is_begun(&self) -> bool {
        self.file.is_some()
    }

    pub fn ready(&self) -> Result<(), JournalError> {
        self.directory.ready()
    }

    /// Writes a line now, and what waited for it. With `sync` it is on the disk when this returns. A line that was
    /// written in part only is removed, so that the file stays readable; with the first line, the file is.
    pub fn write(&mut self, line: &JournalLine<'_>, sync: bool) -> Result<(), JournalError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.directory.create(&self.run_id)?,
        };
        let written = if self.is_torn { Err(io::ErrorKind::WriteZero.into()) } else { self.append(&file, line, sync) };
        if let Err(error) = written {
            if self.length == 0 {
                self.directory.remove(&self.run_id);
            } else {
                // If this fails too, the torn line is the last one, and readers know what that means.
                self.is_torn = file.set_len(self.length).is_err();
                self.file = Some(file);
            }
            return Err(JournalError::io("write to", &self.path(), error));
        }
        self.file = Some(file);
        Ok(())
    }

    /// Writes a line if there is a file, and keeps it for later if there is none yet.
    pub fn write_if_begun(&mut self, line: &JournalLine<'_>, sync: bool) -> Result<(), JournalError> {
        if self.is_begun() { self.write(line, sync) } else { self.wait(line) }
    }

    fn wait(&mut self, line: &JournalLine<'_>) -> Result<(), JournalError> {
        let spelled = spell(&mut self.waiting, line);
        spelled.map_err(|error| JournalError::io("spell a line of", &self.path(), error))
    }

    fn append(&mut self, file: &File, line: &JournalLine<'_>, sync: bool) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        out.write_all(&self.waiting)?;
        spell(&mut out, line)?;
        out.flush()?;
        if sync {
            file.sync_data()?;
        }
        self.length = file.metadata()?.len();
        self.waiting.clear();
        Ok(())
    }
}

/// Adds to the journal of a run that has ended what became of its requeued jobs. Nothing where the run has no journal.
pub fn add_verified(directory: &Directory, run_id: &str, verified: &Verified) -> Result<(), JournalError> {
    let Some(mut file) = directory.reopen(run_id)? else { return Ok(()) };
    let mut add = || {
        let (mut last, mut line) = ([0], Vec::new());
        spell(&mut line, &JournalLine::Verified(verified.clone()))?;
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        // Behind a piece of a line nothing is written.
        if last == *b"\n" { file.write_all(&line) } else { Ok(()) }
    };
    add().map_err(|error| JournalError::io("write to", &directory.file(run_id), error))
}

fn spell(out: &mut impl Write, line: &JournalLine<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub head: RunHead,
    /// How many steps ended how. Jobs of a batch without a result count as unknown.
    pub recorded: Counts,
    /// Jobs whose rows are recorded, so that they could be set back.
    pub undoable: u64,
    /// Its last line; `None` where it has none.
    pub end: Option<RunEnd>,
}

/// The head of a run's journal, and the file for what comes after; `None` if this host has none, or one without a whole
/// line, which does not say what the run did: its first write failed, or was cut short.
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
        Some(JournalLine::Head { schema, .. }) => Err(lines.foreign(&schema.into())),
        None if lines.is_torn || lines.number == 0 => Ok(None),
        _ => Err(lines.malformed("the first line is not a head")),
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
    /// The next line; `None` at the end. What is left of a line that was being written when the power went is the end
    /// too.
    fn next_line(&mut self) -> Result<Option<JournalLine<'static>>, JournalError> {
        let mut text = Vec::new();
        let mut limited = Read::take(&mut self.reader, LONGEST_LINE);
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
            // The head of another format has other fields.
            Err(error) => match serde_json::from_slice::<serde_json::Value>(&text) {
                Ok(line) if line["schema"].is_string() && line["schema"] != SCHEMA => {
                    Err(self.foreign(&line["schema"]))
                }
                // The parser's words, without its own place in the line.
                _ => Err(self.malformed(&error.to_string())),
            },
        }
    }

    fn is_at_end(&mut self) -> Result<bool, JournalError> {
        let rest = self.reader.fill_buf().map_err(|error| JournalError::io("read", &self.path, error))?;
        Ok(rest.is_empty())
    }

    fn foreign(&self, schema: &serde_json::Value) -> JournalError {
        let schema = schema.as_str().unwrap_or_default();
        self.malformed(&format!("its format is {schema}, and jobdoctor reads only {SCHEMA}"))
    }

    /// The line that was read last is not what this program writes.
    fn malformed(&self, why: &str) -> JournalError {
        JournalError::Malformed { path: self.path.clone(), line: self.number, why: why.to_owned() }
    }
}

/// Hands over the steps of a journal in order, at most a batch of them in memory, and returns how the run ended, if it
/// says.
pub fn steps<E: From<JournalError>>(
    mut lines: JournalLines,
    each: &mut dyn FnMut(Step<End>) -> Result<(), E>,
) -> Result<Option<RunEnd>, E> {
    // The batch whose result is still to come.
    let (mut open, mut intended): (u64, Vec<Step<End>>) = (0, Vec::new());
    // How jobs ended that a later batch tries again, and the end of the run.
    let (mut again, mut end): (BTreeMap<String, Step<End>>, Option<RunEnd>) = (BTreeMap::new(), None);
    while let Some(line) = lines.next_line()? {
        match line {
            // Of a run whose end could not be written, it says too little.
            JournalLine::Verified(verified) => end.iter_mut().for_each(|end| end.verified = Some(verified.clone())),
            _ if end.is_some() => return Err(lines.malformed("a line after the last").into()),
            JournalLine::Head { .. } => return Err(lines.malformed("a second head").into()),
            JournalLine::Intent { batch, steps, .. } => {
                // Of a batch that was tried again, the last intent counts.
                if batch != open {
                    hand_over(&mut intended, &mut again, each)?;
                }
                (open, intended) = (batch, steps.into_owned());
            }
            JournalLine::Result { batch, intended: outcome, steps, tried_again } => {
                if batch != open {
                    hand_over(&mut intended, &mut again, each)?;
                }
                match outcome {
                    Some(_) if intended.is_empty() => {
                        return Err(lines.malformed("a result without its intent").into());
                    }
                    Some(outcome) => intended.iter_mut().for_each(|step| step.stage.outcome = outcome),
                    None if steps.len() < intended.len() => {
                        return Err(lines.malformed("the result has fewer steps than the intent").into());
                    }
                    None => intended.clear(),
                }
                hand_over(&mut intended, &mut again, each)?;
                for (n, step) in steps.into_iter().enumerate() {
                    if tried_again.contains(&n) {
                        again.insert(step.key.exact(), step);
                    } else {
                        again.remove(&step.key.exact());
                        each(step)?;
                    }
                }
            }
            JournalLine::End(last) => end = Some(last),
        }
    }
    hand_over(&mut intended, &mut again, each)?;
    // The run came to no other batch with them.
    again.into_values().try_for_each(each)?;
    Ok(end)
}

/// Hands over the steps of an intent.
fn hand_over<E>(
    intended: &mut Vec<Step<End>>,
    again: &mut BTreeMap<String, Step<End>>,
    each: &mut dyn FnMut(Step<End>) -> Result<(), E>,
) -> Result<(), E> {
    intended.drain(..).try_for_each(|step| {
        again.remove(&step.key.exact());
        each(step)
    })
}

/// What the whole journal of a run comes to; `None` if this host has none, or one without a whole line.
pub fn summary(directory: &Directory, run_id: &str) -> Result<Option<Summary>, JournalError> {
    let Some((head, lines)) = read(directory, run_id)? else { return Ok(None) };
    let (mut recorded, mut undoable) = (Counts::new(), 0);
    let end = steps::<JournalError>(lines, &mut |step| {
        *recorded.entry(step.stage.outcome).or_default() += 1;
        undoable += u64::from(step.is_undoable());
        Ok(())
    })?;
    Ok(Some(Summary { head, recorded, undoable, end }))
}
