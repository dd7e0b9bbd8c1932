//! Inspects a database file before SQLite opens it, because opening may change the files next to it.

use crate::store::StoreError;
use crate::store::StoreErrorKind::{Denied, Missing};
use nix::unistd::{Uid, User};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// What tells a file from another one that has taken its path: its inode, and when it was made if the file system says.
pub fn file_identity(path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok()?;
    let made = file.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    Some(made.map_or_else(|| file.ino().to_string(), |made| format!("{}-{}", file.ino(), made.as_nanos())))
}

/// How a file can be opened for reading without leaving a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// Read-only, and closed without a checkpoint: a rollback journal, or a WAL whose sidecars are there.
    Plain,
    /// A WAL without sidecars: SQLite must make them to read, and removes them again as a writer.
    MakesSidecars,
}

/// A database file: the path that the operator gave, and the real path. The sidecars lie next to the real file, not
/// next to a link; and SQLite takes a path that begins with a slash as such, never as a `file:` URI or `:memory:`.
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
    /// Refuses what is not there, no database, not to be read, or in use under another name.
    pub(super) fn existing(named: &Path) -> Result<DatabaseFile, StoreError> {
        let real = fs::canonicalize(named).map_err(|error| unreadable(named, &error))?;
        let file = DatabaseFile { named: named.to_owned(), real };
        file.header()?;
        file.check_sidecars()?;
        file.check_name()?;
        Ok(file)
    }

    /// An existing database, or a path where one can be made.
    pub(super) fn existing_or_new(named: &Path) -> Result<DatabaseFile, StoreError> {
        if named.exists() {
            return DatabaseFile::existing(named);
        }
        let nowhere = || StoreError::new(Missing, format!("{} names no file", named.display()));
        let name = named.file_name().ok_or_else(nowhere)?;
        let directory = directory(named);
        let real = match fs::canonicalize(directory) {
            Ok(directory) => directory.join(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let message = format!("there is no directory {}", directory.display());
                return Err(StoreError::new(Missing, message).hint("nothing was created; make it first"));
            }
            Err(error) => return Err(unreadable(directory, &error)),
        };
        Ok(DatabaseFile { named: named.to_owned(), real })
    }

    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// How long ago the file or its log was written; zero if the file system does not say. A log is empty until somebody
    /// writes.
    pub(super) fn age(&self) -> Duration {
        let files = [self.real.clone(), self.sidecar("-wal")].map(|path| fs::metadata(path).ok());
        let written = files.into_iter().flatten().filter(|file| file.len() > 0).map(|file| file.modified());
        written.filter_map(Result::ok).max().and_then(|last| last.elapsed().ok()).unwrap_or_default()
    }

    /// A file that SQLite keeps next to it.
    pub(super) fn sidecar(&self, suffix: &str) -> PathBuf {
        let mut name = self.real.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Refuses sidecars that are no plain files: SQLite would open them, and opening a pipe waits for a writer without
    /// any limit.
    fn check_sidecars(&self) -> Result<(), StoreError> {
        let strange = ["-journal", "-wal", "-shm"].into_iter().find(|suffix| {
            let there = fs::metadata(self.sidecar(suffix));
            there.is_ok_and(|there| !there.is_file() && !there.is_dir())
        });
        match strange {
            None => Ok(()),
            Some(suffix) => Err(StoreError::new(Missing, format!("{self}{suffix} is not a regular file"))
                .hint("nothing was opened: SQLite keeps its journal under this name; move the other file away")),
        }
    }

    /// The application id in the header, with which an application may mark its files.
    pub(super) fn application_id(&self) -> Option<i32> {
        let header = self.header().ok()?;
        let bytes: [u8; 4] = header.get(68..72)?.try_into().ok()?;
        Some(i32::from_be_bytes(bytes))
    }

    /// Whether there is a rollback journal with contents: a writer is at work or was killed, perhaps before it
    /// completed the header. SQLite counts a journal from its first byte on.
    pub(super) fn has_journal(&self) -> bool {
        let mut first = [0];
        // A journal that is kept for the next transaction begins with zeros.
        let read = File::open(self.sidecar("-journal")).and_then(|mut journal| journal.read_exact(&mut first));
        read.is_ok() && first != [0]
    }

    /// Whether this process may write to the file and make others next to it.
    pub(super) fn may_write(&self) -> bool {
        let may = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
        may(&self.real) && may(directory(&self.real))
    }

    /// How to open the file so that no new file stays behind, and none that its owner cannot use.
    pub(super) fn read_mode(&self) -> Result<ReadMode, StoreError> {
        let header = self.header()?;
        let (log, index) = (self.sidecar("-wal").exists(), self.sidecar("-shm").exists());
        // SQLite reads a log next to the file even if the file is in rollback-journal mode.
        if !(is_wal(&header) || log) || (log && index) {
            return Ok(ReadMode::Plain);
        }
        let what = if is_wal(&header) { "is in WAL mode" } else { "has a log next to it" };
        let owner = fs::metadata(&self.real).map_err(|error| unreadable(&self.named, &error))?.uid();
        let me = rustix::process::geteuid().as_raw();
        if me != 0 && me != owner {
            let message = format!(
                "{self} {what}, belongs to {}, and the files that a reader needs next to it are not there: \
                 opening it now would leave them behind as ours and lock its owner out",
                user_name(owner).unwrap_or_else(|| "another user".to_owned())
            );
            return Err(StoreError::new(Denied, message).hint(run_as(owner)));
        }
        if !self.may_write() {
            let message = format!(
                "{self} {what}, and the files that a reader needs next to it are not there: to make them and \
                 remove them again, jobdoctor needs write access to the file and its directory"
            );
            return Err(StoreError::new(Denied, message).hint(
                "run it as a user who may write there, or read a copy made with `.backup` in the sqlite3 shell; \
                 if the disk is mounted read-only, copy the file with all files next to it",
            ));
        }
        // A log without its index is not checkpointed: it gets a new index, which stays and belongs to the owner even
        // if root makes it.
        Ok(if log { ReadMode::Plain } else { ReadMode::MakesSidecars })
    }

    /// The first hundred bytes; an empty file is a database without tables. Call it before SQLite opens the file, never
    /// while it is open: closing a file releases every lock that the process holds on it.
    pub(super) fn header(&self) -> Result<Vec<u8>, StoreError> {
        let metadata = fs::metadata(&self.real).map_err(|error| unreadable(&self.named, &error))?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "a directory" } else { "not a regular file" };
            return Err(StoreError::new(Missing, format!("{self} is {what}"))
                .hint("name the database file itself, such as queue.db"));
        }
        let mut header = Vec::new();
        let file = File::open(&self.real).map_err(|error| unreadable(&self.named, &error))?;
        file.take(100).read_to_end(&mut header).map_err(|error| unreadable(&self.named, &error))?;
        if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
            return Err(StoreError::new(Missing, format!("{self} is not a SQLite database"))
                .hint("nothing was changed; is this the file that the application opens, and is it not encrypted?"));
        }
        if header.is_empty() && self.sidecar("-wal").exists() {
            let message = format!("{self} is damaged: it is empty, and there is a log next to it");
            return Err(StoreError::new(Missing, message).hint(
                "nothing was changed: SQLite would delete the log; copy both aside before anything opens the file",
            ));
        }
        if is_cut_off(&header, metadata.len()) && !self.has_journal() {
            return Err(StoreError::new(Missing, format!("{self} is damaged: its last page is cut off")).hint(DAMAGED));
        }
        Ok(header)
    }
}

pub(super) const DAMAGED: &str = "in the sqlite3 shell, `PRAGMA integrity_check` says what is damaged and `.recover` saves \
                                  what can be read; or put a backup in its place";

/// Whether the file is in WAL mode: bytes 18 and 19 are the write and read versions of its format, 2 is WAL.
pub(super) fn is_wal(header: &[u8]) -> bool {
    header.get(18).zip(header.get(19)).is_some_and(|(write, read)| *write == 2 || *read == 2)
}

/// Whether the file ends in the middle of a page, of which SQLite would read the rest as zeros. Not asked in WAL mode,
/// where the page may be in the log.
fn is_cut_off(header: &[u8], length: u64) -> bool {
    let size = match header.get(16..18) {
        Some([0, 1]) => 65_536,
        Some([high, low]) => u64::from(u16::from_be_bytes([*high, *low])),
        _ => return false,
    };
    size.is_power_of_two() && !is_wal(header) && !length.is_multiple_of(size)
}

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
            StoreError::new(Missing, message).hint(match path.to_str().filter(|name| !name.contains(['/', '.'])) {
                Some(name) => format!(
                    "nothing was created; `jobdoctor init` makes a file. A Postgres database is postgres:///{name} or \
                         dbname={name}"
                ),
                None => {
                    "nothing was created; `jobdoctor init` makes a database, `jobdoctor demo` an example".to_owned()
                }
            })
        }
        io::ErrorKind::PermissionDenied => {
            let error = StoreError::new(Denied, format!("may not read {}", path.display()));
            // In a directory without access, not even the owner can be seen.
            match fs::metadata(path) {
                Ok(metadata) => error.hint(run_as(metadata.uid())),
                Err(_) => error.hint("run it as the user that the application runs as"),
            }
        }
        _ => StoreError::new(Missing, format!("cannot read {}: {error}", path.display()))
            .hint("nothing was created; name the database file itself, such as queue.db"),
    }
}

fn user_name(user: u32) -> Option<String> {
    User::from_uid(Uid::from_raw(user)).ok().flatten().map(|user| user.name)
}

fn run_as(user: u32) -> String {
    format!("run it as the owner: sudo -u {} jobdoctor ...", sudo_user(user_name(user), user))
}

/// The user as a shell and `sudo -u` take it: by name, or by number if the name is missing or needs quoting.
fn sudo_user(name: Option<String>, user: u32) -> String {
    let is_plain = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    name.filter(is_plain).unwrap_or_else(|| format!("'#{user}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_named_in_words_that_sudo_takes() {
        let word = |name: &str| sudo_user(Some(name.to_owned()), 7);
        assert_eq!(word("www-data"), "www-data");
        assert_eq!(word("_apt"), "_apt");
        for odd in ["", "-u", "#0", "a b", "a;b", "DOMAIN\\joe", "joe$"] {
            assert_eq!(word(odd), "'#7'", "{odd}");
        }
        assert_eq!(sudo_user(None, 4_294_967_294), "'#4294967294'");
        assert_eq!(user_name(0).as_deref(), Some("root"));
        assert_eq!(run_as(0), "run it as the owner: sudo -u root jobdoctor ...");
    }
}
