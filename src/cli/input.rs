//! Lists from a file or a pipe, read as a whole within the time limit, and the job ids in one.

use super::error::CliError;
use super::exit::Exit;
use crate::model::FUTURE_TOLERANCE;
use crate::store::{Interrupt, StoreError, StoreErrorKind};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest list that is read: a million names of 16 letters.
const MOST_BYTES: u64 = 16 << 20;
/// How soon a signal or the time limit is noticed while a pipe is silent.
const NOTICE: Duration = Duration::from_millis(20);

/// Where a list comes from.
pub(super) struct Source<'a> {
    /// Its name in messages, such as "the live-owner list".
    pub(super) what: &'static str,
    /// The flag that names it.
    pub(super) flag: &'static str,
    /// The file; `-` is standard input.
    pub(super) path: &'a Path,
}

/// The text of a list.
pub(super) struct Input {
    pub(super) text: String,
    /// When reading it began.
    pub(super) began: Instant,
    /// The age of the file then; zero for a pipe.
    pub(super) age: Duration,
}

impl Source<'_> {
    /// Its name and place, for messages.
    pub(super) fn name(&self) -> String {
        let place = if self.is_stdin() { "standard input".to_owned() } else { self.path.display().to_string() };
        format!("{} in {place}", self.what)
    }

    fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Reads the list. A pipe is read until it ends, the time limit runs out, or a signal comes.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is not UTF-8.
    pub(super) fn read(&self, interrupt: &Interrupt, patience: Duration) -> Result<Input, CliError> {
        let (name, is_stdin) = (self.name(), self.is_stdin());
        let wrong = |exit: Exit, why: &str| CliError::new(exit, format!("{name} {why}"));
        let unreadable = |error: io::Error| wrong(Exit::NoInput, &format!("cannot be read: {error}"));
        if is_stdin && io::stdin().is_terminal() {
            let hint = format!("jobdoctor ... {flag} list.txt, or ... | jobdoctor ... {flag} -", flag = self.flag);
            return Err(wrong(Exit::Usage, "is a terminal: pipe the list in, or name a file").hint(hint));
        }
        let began = Instant::now();
        let (sender, receiver) = channel();
        let path = self.path.to_owned();
        // Opening or reading a pipe may block for ever; a thread does it, so that a signal can still end the run.
        std::thread::spawn(move || {
            let _ = sender.send(if is_stdin { all(io::stdin().lock()) } else { file(&path) });
        });
        let (bytes, age) = loop {
            if interrupt.is_raised() {
                return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted").into());
            }
            if began.elapsed() >= patience {
                return Err(wrong(Exit::TryAgain, "did not come to an end within the time limit"));
            }
            match receiver.recv_timeout(NOTICE) {
                Ok(read) => break read.map_err(unreadable)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(wrong(Exit::Internal, "could not be read: the reading thread ended early"));
                }
            }
        };
        // A signal may have ended the writer in the middle of the list.
        if interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted").into());
        }
        if bytes.len() as u64 > MOST_BYTES {
            return Err(wrong(Exit::Usage, &format!("is longer than {} MiB", MOST_BYTES >> 20)));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
            wrong(Exit::Usage, &format!("is not UTF-8 (line {})", good.filter(|byte| **byte == b'\n').count() + 1))
        })?;
        Ok(Input { text, began, age })
    }
}

fn file(path: &Path) -> io::Result<(Vec<u8>, Duration)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // An age, because only the database's clock has instants that count.
    let age = match metadata.modified().ok().filter(|_| metadata.is_file()).map(|at| at.elapsed()) {
        // The clocks of file servers differ a little; a list from further ahead has no known age.
        Some(Err(ahead)) if ahead.duration() > FUTURE_TOLERANCE => {
            return Err(io::Error::other("its modification time is in the future, so its age is unknown"));
        }
        age => age.and_then(Result::ok),
    };
    let (bytes, _) = all(file)?;
    Ok((bytes, age.unwrap_or_default()))
}

fn all(input: impl Read) -> io::Result<(Vec<u8>, Duration)> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes, Duration::ZERO))
}

/// The fields of a line of `-o jsonl` that name a job.
#[derive(Deserialize)]
struct IdLine {
    r#type: String,
    id: Option<String>,
}

/// Reads a list of job ids; `-` is standard input. Each id comes once, in the order of the list.
///
/// # Errors
/// When it cannot be read, or a line of it is neither an id nor a line of `-o jsonl`.
pub(super) fn read_ids(path: &Path, interrupt: &Interrupt, patience: Duration) -> Result<Vec<String>, CliError> {
    let source = Source { what: "the list of jobs", flag: "--from-file", path };
    let text = source.read(interrupt, patience)?.text;
    parse_ids(&text).map_err(|(line, why)| {
        CliError::new(Exit::Usage, format!("{}, line {line}: {why}", source.name()))
            .hint("give one id a line, as `jobdoctor stale -o name` prints them, or the lines of `-o jsonl`")
    })
}

/// The ids of a list, each once. A list that begins with a line of `-o jsonl` consists of such lines; any other has one id a line.
/// Blanks around an id stay, because a stored id may have them; the lookup tries without them too.
///
/// # Errors
/// The number of the first line that is neither an id nor a line of `-o jsonl`, and why.
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

/// True if a list that begins with these lines is JSON: that of `-o jsonl`, or another, which is refused. No id is spelled like that.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_one_a_line() {
        let cases: [(&str, &[&str]); 9] = [
            ("\u{feff}42\r\n43", &["42", "43"]),
            ("{a}\n{\"b\":1}\n7", &["{a}", "{\"b\":1}", "7"]),
            ("7\n{\"type\":\"job\",\"id\":\"8\"}", &["7", "{\"type\":\"job\",\"id\":\"8\"}"]),
            (" 42 \n", &[" 42 "]),
            ("", &[]),
            ("\n \n", &[]),
            ("42\r\n7\n42\n", &["42", "7"]),
            ("web1/42\n", &["web1/42"]),
            (
                "{\"type\":\"head\",\"schema\":\"jobdoctor.stale/v1\"}\n{\"type\":\"job\",\"id\":\"42\",\"x\":1}\n\
                 {\"type\":\"unknown\",\"id\":\"43\"}\n{\"type\":\"summary\",\"stuck\":1}\n",
                &["42"],
            ),
        ];
        for (text, ids) in cases {
            assert_eq!(parse_ids(text).unwrap(), ids, "{text:?}");
        }
    }

    #[test]
    fn other_lines_are_refused_with_their_number() {
        assert_eq!(parse_ids("{\"type\":\"job\",\"id\":\"42\"}\n{\"type\":\"jo\n").unwrap_err().0, 2);
        assert_eq!(parse_ids("{\n  \"schema\": \"jobdoctor.stale/v1\"\n}").unwrap_err().0, 1);
        assert_eq!(parse_ids("{\"schema\":\"jobdoctor.stale/v1\"}").unwrap_err().0, 1);
        assert_eq!(parse_ids("{\"type\":\"job\"}").unwrap_err(), (1, "the job in it has no id".to_owned()));
    }
}
