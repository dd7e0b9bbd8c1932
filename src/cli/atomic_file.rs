//! Files that jobdoctor replaces as a whole where a flag names them, each only by one of its own kind.

use super::{CliError, Exit};
use crate::output::{FileMode, directory_of, replace_file, temporary_beside};
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Larger files are not read: metrics of 200 queues take some 200 kB.
const LARGEST: u64 = 16 << 20;
/// How much of a file shows what kind it is.
const BEGINNING: u64 = 512;
/// The sticky bit of a directory's mode.
const STICKY: u32 = 0o1000;
/// The endings of the files that SQLite keeps next to a database and takes for its own.
const SIDECARS: [&str; 3] = ["-journal", "-shm", "-wal"];

/// A kind of file, by its purpose.
#[derive(Debug)]
pub struct FileKind {
    pub flag: &'static str,
    pub name: &'static str,
    /// What it holds, in messages.
    pub holds: &'static str,
    pub mode: FileMode,
    /// Whether a file that begins with this text is of this kind.
    pub recognize: fn(&str) -> bool,
}

pub struct AtomicFile {
    path: PathBuf,
    kind: &'static FileKind,
}

impl AtomicFile {
    /// Checks that the file can be written, before the run does anything.
    pub fn at(path: &Path, kind: &'static FileKind) -> Result<AtomicFile, CliError> {
        let file = AtomicFile { path: path.to_owned(), kind };
        file.ensure_replaceable()?;
        temporary_beside(path, kind.mode)
            .and_then(|_| file.check_sticky_directory())
            .map_err(|error| file.write_error(&error))?;
        Ok(file)
    }

    pub fn text(&self) -> io::Result<String> {
        self.read(LARGEST)
    }

    /// Replaces the file, unless a file of another kind now has that name.
    pub fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        self.ensure_replaceable()?;
        replace_file(&self.path, self.kind.mode, write).map_err(|error| self.write_error(&error))
    }

    /// Refuses a name that is taken, unless by an empty file or by a file of this kind.
    fn ensure_replaceable(&self) -> Result<(), CliError> {
        let is_free = match self.path.symlink_metadata() {
            Ok(_) => self.read(BEGINNING).is_ok_and(|text| text.is_empty() || (self.kind.recognize)(&text)),
            Err(_) => !is_of_a_database(&self.path),
        };
        if is_free {
            return Ok(());
        }
        let FileKind { flag, holds, .. } = self.kind;
        Err(CliError::usage(format!("{flag} {}: another file has that name", self.path.display()))
            .hint(format!("name a file that does not exist; jobdoctor replaces only its own {holds}")))
    }

    /// In a sticky directory, such as /tmp, users may add files but not replace those of other users.
    fn check_sticky_directory(&self) -> io::Result<()> {
        let Ok(file) = self.path.symlink_metadata() else { return Ok(()) };
        let directory = directory_of(&self.path).metadata()?;
        let user = geteuid().as_raw();
        let is_free = directory.mode() & STICKY == 0 || [0, file.uid(), directory.uid()].contains(&user);
        if is_free { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    fn write_error(&self, error: &io::Error) -> CliError {
        let exit = if error.kind() == io::ErrorKind::PermissionDenied { Exit::NoPermission } else { Exit::Config };
        // The error's own text would name the temporary file, which the operator never named.
        let message = format!("{} {} cannot be written: {}", self.kind.name, self.path.display(), error.kind());
        let directory = directory_of(&self.path).display();
        CliError::new(exit, message).hint(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!("create the directory {directory}"),
            io::ErrorKind::PermissionDenied => {
                format!("make the directory {directory} writable for the user who runs jobdoctor")
            }
            _ => format!("check the file system of the directory {directory}"),
        })
    }

    /// Reads without following a link, which the new file would replace, and without waiting for a pipe.
    fn read(&self, most: u64) -> io::Result<String> {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let file: File = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(&self.path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// True if both paths lead to the same file, which need not exist yet; its directory must.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| Some(fs::canonicalize(directory_of(path)).ok()?.join(path.file_name()?));
    place(one).is_some_and(|one| Some(one) == place(other))
}

/// Whether SQLite would take a file of that name for a part of the database next to it.
fn is_of_a_database(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let databases = SIDECARS.iter().filter_map(|end| bytes.strip_suffix(end.as_bytes()));
    databases.into_iter().any(|database| Path::new(OsStr::from_bytes(database)).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    static KIND: FileKind = FileKind {
        flag: "--file",
        name: "the file",
        holds: "x",
        mode: FileMode::UpTo(0o640),
        recognize: |text| text.starts_with("x"),
    };

    #[test]
    fn a_file_that_appeared_meanwhile_stays() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("a");
        let file = AtomicFile::at(&path, &KIND).unwrap();
        assert!(!path.exists(), "looking leaves nothing behind");
        fs::write(&path, "somebody else's").unwrap();
        assert_eq!(file.write(|out| out.write_all(b"x")).map_err(|error| error.exit), Err(Exit::Usage));
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody else's");
    }
}
