//! Lists from a file or a pipe: read whole, but never for longer than the operator waits.

use super::error::CliError;
use super::exit::Exit;
use crate::model::FUTURE_TOLERANCE;
use crate::store::{Interrupt, StoreError, StoreErrorKind};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest list that is read: a million names of 16 letters.
const MOST_BYTES: u64 = 16 << 20;
/// How often a pipe that says nothing is looked away from.
const BLINK: Duration = Duration::from_millis(20);

/// Where a list comes from.
pub(super) struct Source<'a> {
    /// What it is a list of: "the list of living owners".
    pub(super) what: &'static str,
    /// The flag that named it.
    pub(super) flag: &'static str,
    /// The file; `-` is standard input.
    pub(super) path: &'a Path,
}

/// A list as it came.
pub(super) struct Input {
    /// All of it.
    pub(super) text: String,
    /// When reading it began.
    pub(super) began: Instant,
    /// How old the file was then; nothing for a pipe.
    pub(super) age: Duration,
}

impl Source<'_> {
    /// What to call it in messages.
    pub(super) fn name(&self) -> String {
        let place = if self.is_stdin() { "standard input".to_owned() } else { self.path.display().to_string() };
        format!("{} in {place}", self.what)
    }

    fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Reads it. A pipe is waited for until it ends, the time limit runs out, or a signal comes.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is no UTF-8.
    pub(super) fn read(&self, interrupt: &Interrupt, patience: Duration) -> Result<Input, CliError> {
        let (name, is_stdin) = (self.name(), self.is_stdin());
        let wrong = |exit: Exit, why: &str| CliError::new(exit, format!("{name} {why}"));
        let unreadable = |error: io::Error| wrong(Exit::NoInput, &format!("cannot be read: {error}"));
        if is_stdin && io::stdin().is_terminal() {
            let hint = format!("jobdoctor ... {flag} list.txt, or ... | jobdoctor ... {flag} -", flag = self.flag);
            return Err(wrong(Exit::Usage, "would have to be typed: pipe it in, or name a file").hint(hint));
        }
        let began = Instant::now();
        let (sender, receiver) = channel();
        let path = self.path.to_owned();
        // Opening and reading a pipe may wait for ever, which must not keep a signal from ending the run.
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
            match receiver.recv_timeout(BLINK) {
                Ok(read) => break read.map_err(unreadable)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(wrong(Exit::Internal, "was lost while it was read")),
            }
        };
        // What was written when the signal came may be half a list.
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
    // A difference of two readings of one clock, never an instant: the store's clock alone has those.
    let age = match metadata.modified().ok().filter(|_| metadata.is_file()).map(|at| at.elapsed()) {
        // Clocks of file servers differ a little; beyond that nobody can tell how old the list is.
        Some(Err(ahead)) if ahead.duration() > FUTURE_TOLERANCE => {
            return Err(io::Error::other("it was last written in the future, so nobody can tell how old it is"));
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
