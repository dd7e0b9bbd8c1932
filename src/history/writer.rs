use super::reader::{JournalLine, SCHEMA};
use super::{Directory, JournalError};
use crate::model::RunHead;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The journal of one run, being written. The file is made with the first intent, because only a run that writes
/// something to the database has anything to record.
#[derive(Debug)]
pub struct JournalWriter {
    directory: Directory,
    run_id: String,
    path: PathBuf,
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
        let path = directory.file(&head.run_id);
        let run_id = head.run_id.clone();
        let mut writer =
            JournalWriter { directory, run_id, path, file: None, waiting: Vec::new(), length: 0, is_torn: false };
        writer.wait(&JournalLine::Head { schema: SCHEMA.to_owned(), head: Box::new(head) })?;
        Ok(writer)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True once there is a file with a whole line.
    pub fn is_begun(&self) -> bool {
        self.file.is_some()
    }

    /// Makes sure that it could be written.
    pub fn ready(&self) -> Result<(), JournalError> {
        self.directory.ready()
    }

    /// Writes a line now, and what waited for it. With `sync` it is on the disk when this returns. A line that was
    /// written in part only is removed, so that the file stays readable; with the first line, the file is.
    pub fn write(&mut self, line: &JournalLine, sync: bool) -> Result<(), JournalError> {
        let before = self.waiting.len();
        self.wait(line)?;
        let written = self.flush(sync);
        if written.is_err() {
            self.waiting.truncate(before);
        }
        written
    }

    /// Writes a line if there is a file, and keeps it for later if there is none yet.
    pub fn write_if_begun(&mut self, line: &JournalLine, sync: bool) -> Result<(), JournalError> {
        if self.is_begun() { self.write(line, sync) } else { self.wait(line) }
    }

    fn wait(&mut self, line: &JournalLine) -> Result<(), JournalError> {
        let spelled = serde_json::to_writer(&mut self.waiting, line);
        spelled.map_err(|error| JournalError::io("spell a line of", &self.path, error))?;
        self.waiting.push(b'\n');
        Ok(())
    }

    fn flush(&mut self, sync: bool) -> Result<(), JournalError> {
        if self.file.is_none() {
            self.file = Some(self.directory.create(&self.run_id)?);
        }
        if self.is_torn {
            return Err(JournalError::io("write to", &self.path, std::io::ErrorKind::WriteZero));
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(&self.waiting).and_then(|()| if sync { file.sync_data() } else { Ok(()) });
        match written {
            Ok(()) => {
                self.length += self.waiting.len() as u64;
                self.waiting.clear();
                Ok(())
            }
            Err(error) => {
                if self.length == 0 {
                    self.file = None;
                    self.directory.remove(&self.run_id);
                } else {
                    // If this fails too, the torn line is the last one, and readers know what that means.
                    self.is_torn = file.set_len(self.length).is_err();
                }
                Err(JournalError::io("write to", &self.path, error))
            }
        }
    }
}
