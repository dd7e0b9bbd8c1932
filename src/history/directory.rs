use rustix::fs::{self as sys, Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The directory of the journals, or that of the locks. Neither it nor a file in it is ever reached through a symbolic
/// link, and what another user could have written is not believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory(PathBuf);

/// True for the id of a run: 14 digits of the time, a hyphen and six hexadecimal digits.
pub fn is_run_id(text: &str) -> bool {
    let Some((time, rest)) = text.split_once('-') else { return false };
    time.len() == 14
        && time.bytes().all(|byte| byte.is_ascii_digit())
        && rest.len() == 6
        && rest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl Directory {
    pub fn in_state(state: &Path) -> Directory {
        Directory(state.join("journal"))
    }

    /// The directory of the locks in a state directory, which is as private as the journals.
    pub fn of_locks(state: &Path) -> Directory {
        Directory(state.join("locks"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, run_id: &str) -> PathBuf {
        self.0.join(format!("{run_id}.jsonl"))
    }

    /// Makes the directory if it is not there, private to this user, and makes sure that files can be made in it.
    ///
    /// # Errors
    /// When it cannot be made, belongs to another user, is open to others, or is on a read-only file system.
    pub fn ready(&self) -> Result<(), JournalError> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.map_err(|error| JournalError::io("make the directory", &self.0, error))?;
        self.open(true)?;
        let may = rustix::fs::access(&self.0, sys::Access::WRITE_OK | sys::Access::EXEC_OK);
        may.map_err(|error| JournalError::io("write to the directory", &self.0, error))
    }

    /// Opens the directory itself; for writing it must be this user's own.
    fn open(&self, for_writing: bool) -> Result<OwnedFd, JournalError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = sys::open(&self.0, flags, Mode::empty());
        let file = File::from(opened.map_err(|error| JournalError::io("open the directory", &self.0, error))?);
        require_private(&file, &self.0, for_writing)?;
        Ok(file.into())
    }

    /// Opens the directory for reading, if it is there.
    fn opened(&self) -> Result<Option<OwnedFd>, JournalError> {
        match self.open(false) {
            Err(JournalError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Makes the file of a run, which must not be there yet.
    pub(super) fn create(&self, run_id: &str) -> Result<File, JournalError> {
        self.ready()?;
        let directory = self.open(true)?;
        let flags =
            OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = sys::openat(&directory, format!("{run_id}.jsonl"), flags, Mode::RUSR | Mode::WUSR);
        let file = file.map_err(|error| JournalError::io("make", &self.file(run_id), error))?;
        // The name is on the disk too, before anything rests on it.
        if let Err(error) = sys::fsync(&directory) {
            self.remove(run_id);
            return Err(JournalError::io("make", &self.file(run_id), error));
        }
        Ok(file.into())
    }

    /// Removes the file of a run that was made in vain. Where that fails, a file without a whole line is left, which
    /// says nothing either.
    pub(super) fn remove(&self, run_id: &str) {
        if let Ok(directory) = self.open(true) {
            let _ = sys::unlinkat(&directory, format!("{run_id}.jsonl"), sys::AtFlags::empty());
        }
    }

    /// Opens a file for reading and writing that is this user's alone, and makes it if it is not there.
    pub(super) fn lock_file(&self, name: &str) -> Result<(File, PathBuf), JournalError> {
        self.ready()?;
        let (directory, path) = (self.open(true)?, self.0.join(name));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = sys::openat(&directory, name, flags, Mode::RUSR | Mode::WUSR);
        let file = File::from(file.map_err(|error| JournalError::io("open", &path, error))?);
        require_private(&file, &path, true)?;
        Ok((file, path))
    }

    /// Opens the file of a run for reading; `None` if there is none.
    pub(super) fn read(&self, run_id: &str) -> Result<Option<File>, JournalError> {
        self.existing(run_id, OFlags::RDONLY)
    }

    /// Opens the file of a run to add a line; `None` if there is none.
    pub(super) fn reopen(&self, run_id: &str) -> Result<Option<File>, JournalError> {
        self.existing(run_id, OFlags::RDWR | OFlags::APPEND)
    }

    fn existing(&self, run_id: &str, access: OFlags) -> Result<Option<File>, JournalError> {
        let Some(directory) = self.opened()? else { return Ok(None) };
        let path = self.file(run_id);
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match sys::openat(&directory, format!("{run_id}.jsonl"), flags, Mode::empty()) {
            Ok(file) => {
                let file = File::from(file);
                require_private(&file, &path, access != OFlags::RDONLY)?;
                Ok(Some(file))
            }
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(JournalError::io("read", &path, error)),
        }
    }

    /// The runs that have a file, newest first; none where there is no directory.
    pub fn runs(&self) -> Result<Vec<String>, JournalError> {
        if self.opened()?.is_none() {
            return Ok(Vec::new());
        }
        let failed = |error| JournalError::io("read the directory", &self.0, error);
        let mut runs = Vec::new();
        for entry in std::fs::read_dir(&self.0).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            runs.extend(name.strip_suffix(".jsonl").filter(|run| is_run_id(run)).map(str::to_owned));
        }
        runs.sort_unstable_by(|a, b| b.cmp(a));
        Ok(runs)
    }
}

/// Makes sure that no other user could have written it; and for writing, that no other user can read it.
fn require_private(file: &File, path: &Path, for_writing: bool) -> Result<(), JournalError> {
    let metadata = file.metadata().map_err(|error| JournalError::io("read", path, error))?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o777);
    let us = rustix::process::geteuid().as_raw();
    let wrong = |why: String| Err(JournalError::NotPrivate { path: path.to_owned(), why });
    if !metadata.is_dir() && !metadata.is_file() {
        return wrong("it is not a plain file".to_owned());
    }
    if owner != us && (for_writing || owner != 0) {
        return wrong(format!("it belongs to user {owner}, and this is user {us}"));
    }
    let open = if for_writing { 0o077 } else { 0o022 };
    if mode & open != 0 {
        return wrong(format!("its mode {mode:04o} lets others in"));
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// What was to be done, as in "make".
        what: &'static str,
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("journal {}: {why}", path.display())]
    NotPrivate { path: PathBuf, why: String },
    #[error("journal {}, line {line}: {why}", path.display())]
    Malformed { path: PathBuf, line: u64, why: String },
}

impl JournalError {
    pub(super) fn io(what: &'static str, path: &Path, error: impl Into<io::Error>) -> JournalError {
        JournalError::Io { what, path: path.to_owned(), error: error.into() }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            JournalError::Io { .. } => {
                "JOBDOCTOR_STATE_DIR says where journals are kept; else $XDG_STATE_HOME/jobdoctor, else \
                 ~/.local/state/jobdoctor"
            }
            JournalError::NotPrivate { .. } => {
                "undo writes back what a journal says: it must be its owner's alone (directory 0700, files 0600)"
            }
            JournalError::Malformed { .. } => {
                "move the file out of the directory to see the other runs; it was altered, or written by another version of jobdoctor"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_what_is_none() {
        assert!(is_run_id("20261121181057-a1b2c3"));
        for other in ["", "-", "20261121181057-a1b2c", "20261121181057-A1b2c3", "2026112118105-a1b2c33", "../x-123456"]
        {
            assert!(!is_run_id(other), "{other}");
        }
    }
}
