//! Looks at a database file before SQLite does, because SQLite's own ways of opening one may change what lies beside it.

use crate::store::{StoreError, StoreErrorKind};
use std::fs::{self, File};
use std::io::Read;
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

/// Decides how to open the file for reading.
///
/// # Errors
/// When it is not there, is no database, or could not be read without leaving files that lock its owner out.
pub(super) fn read_mode(path: &Path) -> Result<ReadMode, StoreError> {
    let header = header(path)?;
    // Bytes 18 and 19 are the write and read versions of the file format: 2 is WAL.
    let is_wal = header.get(18).zip(header.get(19)).is_some_and(|(write, read)| *write == 2 || *read == 2);
    let (log, index) = (sidecar(path, "-wal").exists(), sidecar(path, "-shm").exists());
    if !is_wal || (log && index) {
        return Ok(ReadMode::Plain);
    }
    let owner = fs::metadata(path).map_err(|error| unreadable(path, &error))?.uid();
    let me = rustix::process::geteuid().as_raw();
    if me == 0 || me == owner {
        // A log that lost its index is not ours to move into the database: it gets a new index, which stays, and is its
        // owner's even when root makes it.
        return Ok(if log { ReadMode::Plain } else { ReadMode::MakesSidecars });
    }
    Err(StoreError::new(
        StoreErrorKind::Denied,
        format!(
            "{} is in WAL mode, belongs to another user, and the files that a reader needs beside it are not there: \
             reading it now would leave them behind as ours and lock its owner out",
            path.display()
        ),
    )
    .hint(format!("run it as the owner: sudo -u '#{owner}' jobdoctor ...")))
}

/// Makes sure that there is a database to write to.
///
/// # Errors
/// When it is not there or is no database.
pub(super) fn must_be_a_database(path: &Path) -> Result<(), StoreError> {
    header(path).map(|_| ())
}

/// The application id in the header: SQLite leaves it to applications to mark their files with it.
pub(super) fn application_id(path: &Path) -> Option<i32> {
    let header = header(path).ok()?;
    let bytes: [u8; 4] = header.get(68..72)?.try_into().ok()?;
    Some(i32::from_be_bytes(bytes))
}

/// Whether this process may write to the file and make others beside it.
pub(super) fn may_write(path: &Path) -> bool {
    let may = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    may(path) && may(directory)
}

/// A file that SQLite keeps beside the database.
pub(super) fn sidecar(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The first hundred bytes; an empty file is a database without tables.
fn header(path: &Path) -> Result<Vec<u8>, StoreError> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a directory" } else { "no regular file" };
        return Err(StoreError::new(StoreErrorKind::Missing, format!("{} is {what}", path.display())));
    }
    let mut header = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    file.take(100).read_to_end(&mut header).map_err(|error| unreadable(path, &error))?;
    if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
        return Err(StoreError::new(StoreErrorKind::Missing, format!("{} is not a SQLite database", path.display())));
    }
    Ok(header)
}

fn unreadable(path: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            StoreError::new(StoreErrorKind::Missing, format!("there is no file {}", path.display()))
                .hint("nothing was created; `jobdoctor init` makes a database, `jobdoctor demo` one to look at")
        }
        std::io::ErrorKind::PermissionDenied => {
            StoreError::new(StoreErrorKind::Denied, format!("may not read {}", path.display()))
        }
        _ => StoreError::new(StoreErrorKind::Missing, format!("cannot read {}: {error}", path.display())),
    }
}
