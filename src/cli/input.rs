//! Files and pipes that the operator names, read as a whole within a time limit, and the job ids in a list.

use super::{CliError, Exit};
use crate::model::FUTURE_TOLERANCE;
use crate::store::{Interrupt, StoreError, StoreErrorKind};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Device and inode of a file.
pub(super) type Identity = (u64, u64);

/// The longest list that is read: a million names of 16 letters.
const MOST_BYTES: u64 = 16 << 20;
/// The longest file of settings that is read, and how long a pipe in its place may take.
const LONGEST_FILE: u64 = 1 << 20;
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How soon a signal or the time limit is noticed while a pipe is silent.
const NOTICE: Duration = Duration::from_millis(20);

pub(super) struct Source<'a> {
    /// What messages call it before they name its place, such as "the live-owner list in".
    pub(super) what: &'static str,
    pub(super) flag: &'static str,
    /// The file; `-` is standard input.
    pub(super) path: &'a Path,
    /// How many bytes it may have.
    pub(super) most: u64,
    /// The file that it must be, whatever has its name by now.
    pub(super) identity: Option<Identity>,
    /// How a run ends that cannot read it, and one that cannot use it.
    pub(super) exits: (Exit, Exit),
}

pub(super) struct Input<T = String> {
    pub(super) text: T,
    /// When reading it began.
    pub(super) began: Instant,
    /// The age of the file then; zero for a pipe.
    pub(super) age: Duration,
}

impl Source<'_> {
    /// Its name and place, for messages.
    pub(super) fn name(&self) -> String {
        let place = if self.is_stdin() { "standard input".to_owned() } else { self.path.display().to_string() };
        format!("{} {place}", self.what)
    }

    pub(super) fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// A small file of settings that a flag names.
    pub(super) fn settings<'p>(what: &'static str, flag: &'static str, path: &'p Path) -> Source<'p> {
        Source { what, flag, path, most: LONGEST_FILE, identity: None, exits: (Exit::Config, Exit::Config) }
    }

    /// A list that a flag names.
    pub(super) fn list<'p>(what: &'static str, flag: &'static str, path: &'p Path) -> Source<'p> {
        Source { what, flag, path, most: MOST_BYTES, identity: None, exits: (Exit::NoInput, Exit::Usage) }
    }

    pub(super) fn read(&self, interrupt: &Interrupt, patience: Duration) -> Result<Input, CliError> {
        let Input { text, began, age } = self.bytes(interrupt, patience)?;
        let text = String::from_utf8(text).map_err(|error| {
            let good = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
            let line = good.filter(|byte| **byte == b'\n').count() + 1;
            CliError::new(self.exits.1, format!("{} is not UTF-8 (line {line})", self.name()))
        })?;
        Ok(Input { text, began, age })
    }

    /// Reads it. A pipe is read until it ends, the time limit runs out, or a signal comes; a device is refused.
    pub(super) fn bytes(&self, interrupt: &Interrupt, patience: Duration) -> Result<Input<Vec<u8>>, CliError> {
        let (name, is_stdin) = (self.name(), self.is_stdin());
        let wrong = |exit: Exit, why: &str| CliError::new(exit, format!("{name} {why}"));
        let unreadable = |error: io::Error| wrong(self.exits.0, &format!("cannot be read: {error}"));
        if is_stdin && io::stdin().is_terminal() {
            let hint = format!("jobdoctor ... {flag} list.txt, or ... | jobdoctor ... {flag} -", flag = self.flag);
            return Err(wrong(Exit::Usage, "is a terminal: pipe the list in, or name a file").hint(hint));
        }
        let began = Instant::now();
        let (path, most, identity) = (self.path.to_owned(), self.most, self.identity);
        let read = move || if is_stdin { all(io::stdin().lock(), most) } else { file(&path, most, identity) };
        let Some(read) = unless_interrupted(read, interrupt, patience)? else {
            return Err(wrong(Exit::TryAgain, "did not end within the time limit"));
        };
        let (bytes, age) = read.map_err(unreadable)?;
        if bytes.len() as u64 > self.most {
            return Err(wrong(self.exits.1, &format!("is longer than {} MiB", self.most >> 20)));
        }
        Ok(Input { text: bytes, began, age })
    }
}

/// What a read gives that may block for ever; `None` once the time is up. A thread reads, so a signal ends the run.
pub(super) fn unless_interrupted<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
    interrupt: &Interrupt,
    patience: Duration,
) -> Result<Option<T>, CliError> {
    let began = Instant::now();
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(read()));
    loop {
        let read = receiver.recv_timeout(NOTICE);
        // A signal may have ended the writer of a pipe in the middle of the list.
        if interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted").into());
        }
        match read {
            Ok(read) => return Ok(Some(read)),
            Err(RecvTimeoutError::Timeout) if began.elapsed() < patience => {}
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(CliError::new(Exit::Internal, "the reading thread ended early"));
            }
        }
    }
}

fn file(path: &Path, most: u64, identity: Option<Identity>) -> io::Result<(Vec<u8>, Duration)> {
    let kind = path.metadata()?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device"));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if identity.is_some_and(|identity| identity != (metadata.dev(), metadata.ino())) {
        return Err(io::Error::other("it was replaced by another file while it was opened"));
    }
    // An age, because only the database's clock has instants that count.
    let age = match metadata.modified().ok().filter(|_| metadata.is_file()).map(|at| at.elapsed()) {
        // The clocks of file servers differ a little; a list from further ahead has no known age.
        Some(Err(ahead)) if ahead.duration() > FUTURE_TOLERANCE => {
            return Err(io::Error::other("its modification time is in the future, so its age is unknown"));
        }
        age => age.and_then(Result::ok),
    };
    let (bytes, _) = all(file, most)?;
    Ok((bytes, age.unwrap_or_default()))
}

fn all(input: impl Read, most: u64) -> io::Result<(Vec<u8>, Duration)> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes, Duration::ZERO))
}

/// The fields of a line of `-o jsonl` that name a job.
#[derive(Deserialize)]
struct IdLine {
    r#type: String,
    id: Option<String>,
}

/// Reads a list of job ids; `-` is standard input. Each id comes once, in the order of the list.
pub(super) fn read_ids(path: &Path, interrupt: &Interrupt, patience: Duration) -> Result<Vec<String>, CliError> {
    let source = Source::list("the list of jobs in", "--from-file", path);
    let text = source.read(interrupt, patience)?.text;
    parse_ids(&text).map_err(|(line, why)| {
        CliError::usage(format!("{}, line {line}: {why}", source.name()))
            .hint("give one id a line, as `jobdoctor stale -o name` prints them, or the lines of `-o jsonl`")
    })
}

/// The ids of a list, each once. A list that begins with a line of `-o jsonl` consists of such lines; any other has one
/// id a line. Blanks around an id stay, because a stored id may have them; the lookup tries without them too.
pub fn parse_ids(text: &str) -> Result<Vec<String>, (usize, String)> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut first = lines.clone().map(|(_, line)| line.trim());
    let is_jsonl = first.next().is_some_and(|line| is_json(line, first.next()));
    let mut ids = Vec::new();
    let mut seen = BTreeSet::new();
    for (n, line) in lines {
        let id = if is_jsonl { id_of(line).map_err(|why| (n + 1, why))? } else { Some(line.to_owned()) };
        ids.extend(id.filter(|id| seen.insert(id.clone())));
    }
    Ok(ids)
}

/// True if a list that begins so is JSON, of `-o jsonl` or another kind, which is refused. No id is spelled like that.
fn is_json(line: &str, next: Option<&str>) -> bool {
    let begins = |beginning: &&str| line.starts_with(*beginning);
    let is_document = line == "{" && next.is_some_and(|next| next.starts_with("\"schema\": "));
    is_document || ["{\"type\":\"", "{\"schema\":\""].iter().any(begins) || matches!(id_of(line), Ok(Some(_)))
}

/// The id in a line of `-o jsonl`; `None` for a line about something else than a stuck job.
fn id_of(line: &str) -> Result<Option<String>, String> {
    let line: IdLine = serde_json::from_str(line).map_err(|error| format!("not a line of -o jsonl: {error}"))?;
    match (line.r#type.as_str(), line.id) {
        ("job" | "step", Some(id)) => Ok(Some(id)),
        ("job" | "step", None) => Err("the job in it has no id".to_owned()),
        _ => Ok(None),
    }
}
