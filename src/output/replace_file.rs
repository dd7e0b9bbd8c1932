//! Replaces a file as a whole, for every document that outlives a run: a reader finds the old file or the new one, also
//! after a crash of the machine.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// The mode of a new file.
#[derive(Debug, Clone, Copy)]
pub enum FileMode {
    /// This mode, as far as the umask lets it, from the beginning.
    UpTo(u32),
    /// This mode, whatever the umask says; only its user may read the file until it is whole.
    Exactly(u32),
}

impl FileMode {
    /// Only its user may read it.
    pub const PRIVATE: FileMode = FileMode::UpTo(0o600);
}

/// Replaces the file at a path, which need not exist; a link there is replaced too, not followed.
///
/// # Errors
/// When it cannot be written whole; what was at the path stays then.
pub fn replace_file(
    path: &Path,
    mode: FileMode,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = temporary_beside(path, mode)?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    if let FileMode::Exactly(mode) = mode {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    // Without a sync the name may survive a crash of the machine and the text may not.
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Creates an unused file in the directory of that path, because a rename is atomic only within a file system.
pub fn temporary_beside(path: &Path, mode: FileMode) -> io::Result<NamedTempFile> {
    let FileMode::UpTo(mode) = mode else { return temporary_beside(path, FileMode::PRIVATE) };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".jobdoctor-").permissions(Permissions::from_mode(mode)).tempfile_in(directory_of(path))
}

pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
