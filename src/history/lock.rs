//! The lock of one queue on this host: a file that the system locks for one process, and lets go of however that
//! process ends. Safety does not rest on it; it keeps two runs from doing the same work twice.

use super::{Directory, JournalError};
use crate::model::{Timestamp, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A note is shorter than this.
const LONGEST_NOTE: u64 = 4096;

/// What is written into the file of a lock, for people and for the next run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LockNote {
    /// The process that holds it, or held it last.
    pub process: Option<u32>,
    /// Since when, by the store's clock.
    pub since_at: Option<Timestamp>,
    /// When a sweep from this host last moved something, by the store's clock.
    pub last_sweep_at: Option<Timestamp>,
}

pub struct LockFile {
    file: File,
    path: PathBuf,
}

/// A lock that is held, until this is dropped or the process ends.
pub struct Locked {
    file: LockFile,
    note: LockNote,
}

impl LockFile {
    /// Opens the lock of the queue that these words identify, and makes its file if it does not exist.
    pub fn open(locks: &Directory, queue: &[&str]) -> Result<LockFile, JournalError> {
        let mut hash = Sha256::new();
        for word in queue {
            hash.update((word.len() as u64).to_be_bytes());
            hash.update(word);
        }
        let name = hex(hash.finalize().get(..16).unwrap_or_default());
        let (file, path) = locks.lock_file(&format!("{name}.lock"))?;
        Ok(LockFile { file, path })
    }

    /// Acquires the lock, or returns the file if another process holds it.
    pub fn try_lock(self) -> Result<Result<Locked, LockFile>, JournalError> {
        match self.file.try_lock() {
            Ok(()) => {
                let note = self.note();
                Ok(Ok(Locked { file: self, note }))
            }
            Err(TryLockError::WouldBlock) => Ok(Err(self)),
            Err(TryLockError::Error(error)) => Err(JournalError::io("lock", &self.path, error)),
        }
    }

    /// The note of its holder; empty where that cannot be read, or is just being written.
    pub fn note(&self) -> LockNote {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|file| file.take(LONGEST_NOTE).read_to_end(&mut bytes));
        read.ok().and_then(|_| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }
}

impl Locked {
    /// The note as it was when the lock was acquired.
    pub fn note(&self) -> &LockNote {
        &self.note
    }

    /// Writes which process holds it.
    pub fn held_since(&mut self, at: Timestamp) -> Result<(), JournalError> {
        self.note.process = Some(std::process::id());
        self.note.since_at = Some(at);
        self.write()
    }

    /// Writes that a sweep has moved something.
    pub fn swept(&mut self, at: Timestamp) -> Result<(), JournalError> {
        self.note.last_sweep_at = Some(at);
        self.write()
    }

    fn write(&self) -> Result<(), JournalError> {
        let write = || -> io::Result<()> {
            let mut bytes = serde_json::to_vec(&self.note)?;
            bytes.push(b'\n');
            self.file.file.write_all_at(&bytes, 0)?;
            self.file.file.set_len(bytes.len() as u64)
        };
        write().map_err(|error| JournalError::io("write", &self.file.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_note_stays() {
        let state = tempfile::TempDir::new().unwrap();
        let locks = Directory::of_locks(state.path());
        let open = |queue: &[&str]| LockFile::open(&locks, queue).unwrap();
        let mut first = open(&["a", "b"]).try_lock().unwrap().ok().unwrap();
        let at = Timestamp::parse("2026-11-20T10:00:00Z").unwrap();
        first.held_since(at).unwrap();
        let second = open(&["a", "b"]).try_lock().unwrap().err().unwrap();
        assert_eq!(second.note().process, Some(std::process::id()));
        // Words do not run together: another queue has another lock.
        assert!(open(&["ab", ""]).try_lock().unwrap().is_ok());
        first.swept(at).unwrap();
        drop(first);
        let third = second.try_lock().unwrap().ok().unwrap();
        assert_eq!(third.note().last_sweep_at, Some(at));
    }
}
