//! Looks at a database file before SQLite does, because SQLite's own ways of opening one may change what lies beside it.

use super::owner;
use crate::store::{StoreError, StoreErrorKind};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How a file can be read without leaving a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// Read-only, and closed without a checkpoint: a rollback journal, or a WAL whose sidecars are there.
    Plain,
    /// A WAL without sidecars: SQLite must make them to read, and as a writer it takes them away again.
    MakesSidecars,
}

/// A database file: as the operator named it, and where it really lies. Its sidecars lie beside the file, never beside
/// a link to it; and a path that begins with a slash is a path to SQLite, never a `file:` URI or `:memory:`.
#[derive(Debug, Clone)]
pub(super) struct DatabaseFile {
    named: PathBuf,
    real: PathBuf,
}

/// As the operator named it.
impl fmt::Display for DatabaseFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.named.display().fmt(f)
    }
}

impl DatabaseFile {
    /// One that must be there and be a database.
    ///
    /// # Errors
    /// When it is not there, is no database, or may not be read.
    pub(super) fn existing(named: &Path) -> Result<DatabaseFile, StoreError> {
        let real = fs::canonicalize(named).map_err(|error| unreadable(named, &error))?;
        let file = DatabaseFile { named: named.to_owned(), real };
        file.header()?;
        file.has_plain_sidecars()?;
        Ok(file)
    }

    /// One that is there and is a database, or a place where one can be made.
    ///
    /// # Errors
    /// When something else is there, or the directory is not.
    pub(super) fn existing_or_new(named: &Path) -> Result<DatabaseFile, StoreError> {
        if named.exists() {
            return DatabaseFile::existing(named);
        }
        let nowhere = || StoreError::new(StoreErrorKind::Missing, format!("{} names no file", named.display()));
        let name = named.file_name().ok_or_else(nowhere)?;
        let directory = directory(named);
        let real = match fs::canonicalize(directory) {
            Ok(directory) => directory.join(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let message = format!("there is no directory {}", directory.display());
                return Err(
                    StoreError::new(StoreErrorKind::Missing, message).hint("nothing was created; make it first")
                );
            }
            Err(error) => return Err(unreadable(directory, &error)),
        };
        Ok(DatabaseFile { named: named.to_owned(), real })
    }

    /// Where it really lies.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// A file that SQLite keeps beside it.
    pub(super) fn sidecar(&self, suffix: &str) -> PathBuf {
        let mut name = self.real.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// What lies beside a file is SQLite's to open, and opening a pipe waits until somebody writes to it: forever, and no time
    /// limit or signal ends it.
    fn has_plain_sidecars(&self) -> Result<(), StoreError> {
        let strange = ["-journal", "-wal", "-shm"].into_iter().find(|suffix| {
            let there = fs::metadata(self.sidecar(suffix));
            there.is_ok_and(|there| !there.is_file() && !there.is_dir())
        });
        match strange {
            None => Ok(()),
            Some(suffix) => Err(StoreError::new(StoreErrorKind::Missing, format!("{self}{suffix} is no regular file"))
                .hint("nothing was opened: SQLite keeps its journal there, and somebody has put something else in its place")),
        }
    }

    /// The application id in the header: SQLite leaves it to applications to mark their files with it.
    pub(super) fn application_id(&self) -> Option<i32> {
        let header = self.header().ok()?;
        let bytes: [u8; 4] = header.get(68..72)?.try_into().ok()?;
        Some(i32::from_be_bytes(bytes))
    }

    /// Whether there is a rollback journal with something in it: a writer is at work, or was killed at it, perhaps while it wrote
    /// the journal's very beginning. To SQLite it is one as soon as its first byte is there.
    pub(super) fn has_journal(&self) -> bool {
        let mut first = [0];
        // A journal that is kept for the next transaction begins with zeros.
        let read = File::open(self.sidecar("-journal")).and_then(|mut journal| journal.read_exact(&mut first));
        read.is_ok() && first != [0]
    }

    /// Whether this process may write to the file and make others beside it.
    pub(super) fn may_write(&self) -> bool {
        let may = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
        may(&self.real) && may(directory(&self.real))
    }

    /// Decides how to open the file so that nothing stays behind that was not there, or that its owner could not use.
    ///
    /// # Errors
    /// When there is no such way.
    pub(super) fn read_mode(&self) -> Result<ReadMode, StoreError> {
        let header = self.header()?;
        let (log, index) = (self.sidecar("-wal").exists(), self.sidecar("-shm").exists());
        // A log beside a file with a rollback journal is one to SQLite all the same, whoever has left it there.
        if !(is_wal(&header) || log) || (log && index) {
            return Ok(ReadMode::Plain);
        }
        let what = if is_wal(&header) { "is in WAL mode" } else { "has a log beside it" };
        let owner = fs::metadata(&self.real).map_err(|error| unreadable(&self.named, &error))?.uid();
        let me = rustix::process::geteuid().as_raw();
        if me != 0 && me != owner {
            return Err(StoreError::new(
                StoreErrorKind::Denied,
                format!(
                    "{self} {what}, belongs to {}, and the files that a reader needs beside it are not there: \
                     opening it now would leave them behind as ours and lock its owner out",
                    owner::name(owner).unwrap_or_else(|| "another user".to_owned())
                ),
            )
            .hint(owner::run_as(owner)));
        }
        if !self.may_write() {
            return Err(StoreError::new(
                StoreErrorKind::Denied,
                format!(
                    "{self} {what}, and the files that a reader needs beside it are not there: to make them and \
                     take them away again, the file and its directory would have to be writable"
                ),
            )
            .hint(format!(
                "run it as a user who may write there, or look at a copy made with `.backup` in the sqlite3 shell; {}",
                "if the disk is mounted read-only, at a copy of the file with all that lies beside it"
            )));
        }
        // A log that lost its index is not ours to move into the database: it gets a new index, which stays, and is its
        // owner's even when root makes it.
        Ok(if log { ReadMode::Plain } else { ReadMode::MakesSidecars })
    }

    /// The first hundred bytes; an empty file is a database without tables. Closing a file gives up every lock that
    /// this process holds on it, so this comes before SQLite opens it and never while it is open.
    fn header(&self) -> Result<Vec<u8>, StoreError> {
        let metadata = fs::metadata(&self.real).map_err(|error| unreadable(&self.named, &error))?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "a directory" } else { "no regular file" };
            return Err(StoreError::new(StoreErrorKind::Missing, format!("{self} is {what}"))
                .hint("name the database file itself, as in --db queue.db"));
        }
        let mut header = Vec::new();
        let file = File::open(&self.real).map_err(|error| unreadable(&self.named, &error))?;
        file.take(100).read_to_end(&mut header).map_err(|error| unreadable(&self.named, &error))?;
        if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
            return Err(StoreError::new(StoreErrorKind::Missing, format!("{self} is not a SQLite database"))
                .hint("nothing was changed; is this the file that the application opens, and is it not encrypted?"));
        }
        if header.is_empty() && self.sidecar("-wal").exists() {
            return Err(StoreError::new(
                StoreErrorKind::Missing,
                format!("{self} is damaged: it is empty, and there is a log beside it"),
            )
            .hint("nothing was changed: SQLite would delete the log; copy both aside before anything opens the file"));
        }
        if is_cut_off(&header, metadata.len()) && !self.has_journal() {
            return Err(StoreError::new(
                StoreErrorKind::Missing,
                format!("{self} is damaged: its last page is cut off"),
            )
            .hint(DAMAGED));
        }
        Ok(header)
    }
}

/// What to do about a damaged file.
pub(super) const DAMAGED: &str = "in the sqlite3 shell, `PRAGMA integrity_check` says what is damaged and `.recover` saves \
                                  what can be read; or put a backup in its place";

/// Bytes 18 and 19 are the write and read versions of the file format: 2 is WAL.
fn is_wal(header: &[u8]) -> bool {
    header.get(18).zip(header.get(19)).is_some_and(|(write, read)| *write == 2 || *read == 2)
}

/// Whether the file ends in the middle of a page. SQLite would read zeros where the rest was. With a WAL the missing
/// page may be in there.
fn is_cut_off(header: &[u8], length: u64) -> bool {
    let size = match header.get(16..18) {
        Some([0, 1]) => 65_536,
        Some([high, low]) => u64::from(u16::from_be_bytes([*high, *low])),
        _ => return false,
    };
    size.is_power_of_two() && !is_wal(header) && !length.is_multiple_of(size)
}

/// Where a file is, or would be.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let message = match fs::read_link(path) {
                Ok(to) => format!("{} is a link to {}, which is not there", path.display(), to.display()),
                Err(_) => format!("there is no file {}", path.display()),
            };
            StoreError::new(StoreErrorKind::Missing, message)
                .hint(match path.to_str().filter(|name| !name.contains(['/', '.'])) {
                    Some(name) => format!(
                        "nothing was created; `jobdoctor init` makes a file. A Postgres database is postgres:///{name} or \
                         dbname={name}"
                    ),
                    None => "nothing was created; `jobdoctor init` makes a database, `jobdoctor demo` one to look at"
                        .to_owned(),
                })
        }
        io::ErrorKind::PermissionDenied => {
            let error = StoreError::new(StoreErrorKind::Denied, format!("may not read {}", path.display()));
            // Of a file in a closed directory not even the owner can be seen.
            match fs::metadata(path) {
                Ok(metadata) => error.hint(owner::run_as(metadata.uid())),
                Err(_) => error.hint("run it as the user that the application runs as"),
            }
        }
        _ => StoreError::new(StoreErrorKind::Missing, format!("cannot read {}: {error}", path.display()))
            .hint("nothing was created; name the database file itself, as in --db queue.db"),
    }
}
