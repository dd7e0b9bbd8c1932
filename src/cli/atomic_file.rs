//! Files that this program alone writes and others read at any time: replaced whole or not at all, and nothing of somebody
//! else's is ever replaced.

use super::error::CliError;
use super::exit::Exit;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A larger file is not read: metrics of 200 queues take some 200 kB.
const LARGEST: u64 = 16 << 20;
/// How much of a file tells whose it is.
const BEGINNING: u64 = 512;
/// The bit of a directory's mode.
const STICKY: u32 = 0o1000;
/// What SQLite puts beside a database, and takes for its own.
const SIDECARS: [&str; 3] = ["-journal", "-shm", "-wal"];

/// What such a file is for.
#[derive(Debug)]
pub struct Kind {
    /// The flag that names it.
    pub flag: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What is in it.
    pub holds: &'static str,
    /// Its mode.
    pub mode: u32,
    /// True if the umask takes away from that.
    pub heeds_umask: bool,
    /// Whether a file that begins so is one of these.
    pub is_one: fn(&str) -> bool,
}

/// See the module.
pub struct AtomicFile {
    path: PathBuf,
    kind: &'static Kind,
}

impl AtomicFile {
    /// Makes sure that it can be written, while nothing has been done yet.
    ///
    /// # Errors
    /// When it cannot, or something else is there.
    pub fn at(path: &Path, kind: &'static Kind) -> Result<AtomicFile, CliError> {
        let file = AtomicFile { path: path.to_owned(), kind };
        file.must_be_free()?;
        file.temporary().and_then(|_| file.may_be_replaced()).map_err(|error| file.cannot(&error))?;
        Ok(file)
    }

    /// What it says now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self) -> io::Result<String> {
        self.read(LARGEST)
    }

    /// Replaces it.
    ///
    /// # Errors
    /// When it cannot be written, or something else has come there; it is then as it was.
    pub fn write(&self, bytes: &[u8]) -> Result<(), CliError> {
        self.must_be_free()?;
        self.replace(bytes).map_err(|error| self.cannot(&error))
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(bytes)?;
        if !self.kind.heeds_umask {
            file.as_file().set_permissions(Permissions::from_mode(self.kind.mode))?;
        }
        // Without this the name may survive a crash of the machine and the text not.
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    /// In the same directory, for a rename is atomic within a file system only; by a name that nobody looks for.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        let mode = Permissions::from_mode(if self.kind.heeds_umask { self.kind.mode } else { 0o600 });
        tempfile::Builder::new().prefix(".jobdoctor-").permissions(mode).tempfile_in(directory(&self.path))
    }

    /// Free is a place where nothing is, or an empty file, which is anybody's, or one of these.
    fn must_be_free(&self) -> Result<(), CliError> {
        let is_free = match self.path.symlink_metadata() {
            Ok(_) => self.read(BEGINNING).is_ok_and(|text| text.is_empty() || (self.kind.is_one)(&text)),
            Err(_) => !is_of_a_database(&self.path),
        };
        if is_free {
            return Ok(());
        }
        let Kind { flag, holds, .. } = self.kind;
        Err(CliError::new(Exit::Usage, format!("{flag} {}: something else is there", self.path.display()))
            .hint(format!("name a file that is not there yet; only a file of jobdoctor's own {holds} is replaced")))
    }

    /// In a sticky directory, like /tmp, others may add files and not replace each other's.
    fn may_be_replaced(&self) -> io::Result<()> {
        let Ok(file) = self.path.symlink_metadata() else { return Ok(()) };
        let directory = directory(&self.path).metadata()?;
        let user = geteuid().as_raw();
        let is_free = directory.mode() & STICKY == 0 || [0, file.uid(), directory.uid()].contains(&user);
        if is_free { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    fn cannot(&self, error: &io::Error) -> CliError {
        let exit = if error.kind() == io::ErrorKind::PermissionDenied { Exit::NoPermission } else { Exit::Config };
        // The temporary file's name would only confuse.
        let message = format!("{} {} cannot be written: {}", self.kind.name, self.path.display(), error.kind());
        let directory = directory(&self.path).display();
        CliError::new(exit, message).hint(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!("there must be a directory {directory}"),
            io::ErrorKind::PermissionDenied => {
                format!("the directory {directory} must be writable for the user who runs this")
            }
            _ => format!("see to the file system that holds the directory {directory}"),
        })
    }

    /// Neither through a link, which the new file would replace, nor waiting for a pipe.
    fn read(&self, most: u64) -> io::Result<String> {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let file: File = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(&self.path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// True if both lead to the same file, which need not be there yet.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let directory = fs::canonicalize(directory(path)).ok()?;
        path.file_name().map(|name| directory.join(name))
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a file by that name would be taken for a part of the database beside it.
fn is_of_a_database(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let databases = SIDECARS.iter().filter_map(|end| bytes.strip_suffix(end.as_bytes()));
    databases.into_iter().any(|database| Path::new(OsStr::from_bytes(database)).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    static KIND: Kind = Kind {
        flag: "--file",
        name: "the file",
        holds: "x",
        mode: 0o640,
        heeds_umask: true,
        is_one: |text| text.starts_with("x"),
    };

    fn write(path: &Path, text: &str) -> Result<(), Exit> {
        AtomicFile::at(path, &KIND).and_then(|file| file.write(text.as_bytes())).map_err(|error| error.exit)
    }

    #[test]
    fn only_nothing_an_empty_file_and_its_own_are_replaced() {
        let directory = tempfile::TempDir::new().unwrap();
        let file = directory.path().join("a");
        fs::write(directory.path().join("empty"), "").unwrap();
        for (path, text) in [("a", "x1"), ("a", "x2"), ("empty", "y"), ("a", "x3")] {
            assert_eq!(write(&directory.path().join(path), text), Ok(()), "{path} {text}");
        }
        assert_eq!(fs::read(&file).unwrap(), b"x3");
        std::os::unix::fs::symlink(&file, directory.path().join("link")).unwrap();
        for path in ["empty", "link", ".", "a-wal", "a-shm", "a-journal"] {
            assert_eq!(write(&directory.path().join(path), "x"), Err(Exit::Usage), "{path}");
        }
        assert_eq!(write(&directory.path().join("b-wal"), "x"), Ok(()), "there is no b");
        assert_eq!(write(&directory.path().join("no/such/place"), "x"), Err(Exit::Config));
        assert_eq!(write(Path::new("/dev/null"), "x"), Err(Exit::Usage));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4, "no temporary file stays");
    }

    #[test]
    fn what_comes_there_meanwhile_stays() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("a");
        let file = AtomicFile::at(&path, &KIND).unwrap();
        assert!(!path.exists(), "looking leaves nothing behind");
        fs::write(&path, "somebody else's").unwrap();
        assert_eq!(file.write(b"x").map_err(|error| error.exit), Err(Exit::Usage));
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody else's");
    }

    #[test]
    fn what_the_system_said_is_what_is_said() {
        let file = AtomicFile { path: PathBuf::from("metrics/a"), kind: &KIND };
        for (kind, exit, message, hint) in [
            (io::ErrorKind::StorageFull, Exit::Config, "no storage space", "file system that holds"),
            (io::ErrorKind::NotFound, Exit::Config, "entity not found", "there must be a directory metrics"),
            (io::ErrorKind::PermissionDenied, Exit::NoPermission, "permission denied", "must be writable"),
        ] {
            let error = file.cannot(&kind.into());
            assert_eq!((error.exit, error.message), (exit, format!("the file metrics/a cannot be written: {message}")));
            assert!(error.hints[0].contains(hint), "{:?}", error.hints);
        }
    }

    #[test]
    fn one_file_has_many_names() {
        let directory = tempfile::TempDir::new().unwrap();
        fs::create_dir(directory.path().join("d")).unwrap();
        let path = |name: &str| directory.path().join(name);
        assert!(is_same(&path("a"), &path("d/../a")) && is_same(Path::new("a"), Path::new("./a")));
        assert!(!is_same(&path("a"), &path("d/a")) && !is_same(&path("no/a"), &path("no/b")));
    }
}
