use std::io;
use std::path::{Path, PathBuf};

/// Why a journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file operation failed.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// What was to be done, as in "make".
        what: &'static str,
        /// With which file or directory.
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// Another user could have written it, so it is not believed.
    #[error("journal {}: {why}", path.display())]
    NotPrivate {
        path: PathBuf,
        /// What is wrong with it, as a fragment.
        why: String,
    },
    /// It is not what this program writes.
    #[error("journal {}, line {line}: {why}", path.display())]
    Malformed {
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it, as a fragment.
        why: String,
    },
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
