//! Stdout and stderr, or the buffers that stand for them while other targets are reported first.

use crate::output::format::Plugin;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::SpooledTempFile;

/// A buffer stays in memory up to this size; a larger one goes to a temporary file without a name.
const IN_MEMORY: usize = 64 << 10;

#[derive(Debug, Clone, Default)]
pub enum Streams {
    #[default]
    Own,
    Buffered(Arc<Buffered>),
}

#[derive(Debug)]
pub struct Buffered {
    out: Mutex<SpooledTempFile>,
    err: Mutex<SpooledTempFile>,
    /// The report of the monitoring plugin, which is no text of stdout yet.
    plugin: Mutex<Option<Plugin>>,
}

impl Default for Buffered {
    fn default() -> Self {
        let empty = || Mutex::new(SpooledTempFile::new(IN_MEMORY));
        Buffered { out: empty(), err: empty(), plugin: Mutex::default() }
    }
}

impl Streams {
    pub fn are_buffered(&self) -> bool {
        matches!(self, Streams::Buffered(_))
    }

    pub fn out(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match self {
            Streams::Own => {
                let mut out = BufWriter::new(io::stdout().lock());
                let written = write(&mut out).and_then(|()| out.flush());
                if written.is_err() {
                    // Drop the rest without another attempt to write it.
                    let _ = out.into_parts();
                }
                written
            }
            Streams::Buffered(buffered) => write(&mut *buffered.out.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Writes to stderr. A closed stderr does not change what the run does.
    pub fn err(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let _ = match self {
            Streams::Own => write(&mut io::stderr().lock()),
            Streams::Buffered(buffered) => write(&mut *buffered.err.lock().unwrap_or_else(PoisonError::into_inner)),
        };
    }
}

impl Buffered {
    /// Takes the text of stdout, from its beginning; `None` if it is empty.
    pub fn out(&self) -> io::Result<Option<BufReader<SpooledTempFile>>> {
        taken(&self.out)
    }

    /// Takes the text of stderr, from its beginning; `None` if it is empty.
    pub fn err(&self) -> io::Result<Option<BufReader<SpooledTempFile>>> {
        taken(&self.err)
    }

    pub fn keep_plugin(&self, plugin: Plugin) {
        self.plugin.lock().unwrap_or_else(PoisonError::into_inner).replace(plugin);
    }

    /// Takes the report of the monitoring plugin; `None` if there is none.
    pub fn plugin(&self) -> Option<Plugin> {
        self.plugin.lock().unwrap_or_else(PoisonError::into_inner).take()
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
    fn buffered_text_is_taken_once_whatever_its_length() {
        let buffered = Arc::<Buffered>::default();
        let streams = Streams::Buffered(Arc::clone(&buffered));
        let long = "x".repeat(IN_MEMORY);
        streams.out(|out| write!(out, "{long}")).unwrap();
        streams.out(|out| write!(out, "end")).unwrap();
        let mut text = String::new();
        buffered.out().unwrap().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, format!("{long}end"));
        assert!(buffered.out().unwrap().is_none() && buffered.err().unwrap().is_none());
    }
}
