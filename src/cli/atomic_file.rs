//! Files that others read at any time: they see the old content or the new one, never a part.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Puts these bytes in place of whatever the file held, on the disk before it is seen. A file that is new gets that mode, less
/// what the umask takes away.
///
/// # Errors
/// When its directory cannot be written to, or something else than a file is there.
pub fn write(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let (mut file, path) = beside(path, mode)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Whether [`write`] would find a place for it; nothing is left behind.
///
/// # Errors
/// See [`write`].
pub fn check(path: &Path) -> io::Result<()> {
    beside(path, 0o600).map(drop)
}

/// A temporary file in the same directory, and where it belongs. A link stays one: what it leads to is replaced. A device, a
/// pipe or a directory is no file to replace.
fn beside(path: &Path, mode: u32) -> io::Result<(NamedTempFile, PathBuf)> {
    let path = match fs::metadata(path) {
        Ok(there) if there.is_file() => fs::canonicalize(path)?,
        Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file =
        tempfile::Builder::new().prefix(".jobdoctor-").permissions(Permissions::from_mode(mode)).tempfile_in(parent)?;
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_files_and_nothing_else() {
        let directory = tempfile::TempDir::new().unwrap();
        let file = directory.path().join("a");
        check(&file).unwrap();
        assert!(!file.exists(), "looking leaves nothing behind");
        write(&file, 0o600, b"one").unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, 0o600, b"two").unwrap();
        assert_eq!((fs::read(&file).unwrap(), link.is_symlink()), (b"two".to_vec(), true));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(check(directory.path()).is_err() && write(Path::new("/dev/null"), 0o600, b"").is_err());
        assert!(check(&directory.path().join("no/such/place")).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no temporary file stays");
    }
}
