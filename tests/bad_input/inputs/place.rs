//! Files that are read by their path: one directory a process, one file a thread.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A directory of this thread's own, private to its user. It stays until the process ends.
pub fn directory() -> PathBuf {
    static ALL: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a temporary directory"));
    let own = ALL.path().join(format!("{:?}", std::thread::current().id()));
    if !own.is_dir() {
        fs::create_dir(&own).expect("a directory for this thread");
        fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).expect("it is ours");
    }
    own
}

/// A file with these bytes, private to its user, until the next one of that name.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory().join(name);
    fs::create_dir_all(path.parent().expect("it is in a directory")).expect("a directory");
    fs::write(&path, bytes).expect("the file is written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    path
}
