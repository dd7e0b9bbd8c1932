//! Where the two streams go: to stdout and stderr, or, for a target among several, to where its turn is waited for.

use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::SpooledTempFile;

/// Up to this size a held stream stays in memory; beyond it, it goes to a temporary file without a name.
const IN_MEMORY: usize = 64 << 10;

/// See the module.
#[derive(Debug, Clone, Default)]
pub enum Streams {
    /// The program's own.
    #[default]
    Own,
    /// Held back.
    Held(Arc<Held>),
}

/// What is held back of a report, and of everything else.
#[derive(Debug)]
pub struct Held {
    out: Mutex<SpooledTempFile>,
    err: Mutex<SpooledTempFile>,
}

impl Default for Held {
    fn default() -> Self {
        let empty = || Mutex::new(SpooledTempFile::new(IN_MEMORY));
        Held { out: empty(), err: empty() }
    }
}

impl Streams {
    /// True if nothing is seen of them yet.
    pub fn are_held(&self) -> bool {
        matches!(self, Streams::Held(_))
    }

    /// Writes to the stream of reports.
    ///
    /// # Errors
    /// When it cannot be written; what was buffered is then thrown away.
    pub fn out(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match self {
            Streams::Own => {
                let mut out = BufWriter::new(io::stdout().lock());
                let written = write(&mut out).and_then(|()| out.flush());
                if written.is_err() {
                    // What is still buffered has nowhere to go.
                    let _ = out.into_parts();
                }
                written
            }
            Streams::Held(held) => write(&mut *held.out.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Writes to the other one. That it has gone away changes nothing about what was done.
    pub fn err(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let _ = match self {
            Streams::Own => write(&mut io::stderr().lock()),
            Streams::Held(held) => write(&mut *held.err.lock().unwrap_or_else(PoisonError::into_inner)),
        };
    }
}

impl Held {
    /// What was written to the stream of reports, from its beginning; nothing if it was nothing.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn out(&self) -> io::Result<Option<BufReader<SpooledTempFile>>> {
        taken(&self.out)
    }

    /// True if anything was written to the other one.
    pub fn has_err(&self) -> bool {
        let mut err = self.err.lock().unwrap_or_else(PoisonError::into_inner);
        err.stream_position().is_ok_and(|written| written > 0)
    }

    /// The same of the other one.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn err(&self) -> io::Result<Option<BufReader<SpooledTempFile>>> {
        taken(&self.err)
    }
}

fn taken(stream: &Mutex<SpooledTempFile>) -> io::Result<Option<BufReader<SpooledTempFile>>> {
    let empty = SpooledTempFile::new(IN_MEMORY);
    let mut file = std::mem::replace(&mut *stream.lock().unwrap_or_else(PoisonError::into_inner), empty);
    let is_empty = file.stream_position()? == 0;
    file.rewind()?;
    Ok((!is_empty).then(|| BufReader::new(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_held_comes_back_once_however_long() {
        let held = Arc::<Held>::default();
        let streams = Streams::Held(Arc::clone(&held));
        let long = "x".repeat(IN_MEMORY);
        streams.out(|out| write!(out, "{long}")).unwrap();
        streams.out(|out| write!(out, "end")).unwrap();
        let mut said = String::new();
        held.out().unwrap().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, format!("{long}end"));
        assert!(held.out().unwrap().is_none() && held.err().unwrap().is_none());
    }
}
