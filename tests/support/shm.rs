//! Directories in memory, for files that are gone with the tests anyway: a disk spends more time on making and removing
//! thousands of files than the tests do on what is in them.

use std::path::Path;
use tempfile::{Builder, TempDir};

/// Where Linux has its own; nobody need mount it.
const SHARED: &str = "/dev/shm";

/// So much must be free there: what all servers of a run write, twice. Containers are often given 64 MB.
const ROOM: u64 = 16 << 30;

/// One of that prefix; on disk where the system has no such place, or too little room in it.
pub fn directory(prefix: &str) -> TempDir {
    let mut named = Builder::new();
    named.prefix(prefix);
    let shared = Path::new(SHARED);
    let made = if has_room(shared) { named.tempdir_in(shared).or_else(|_| named.tempdir()) } else { named.tempdir() };
    made.expect("a temporary directory")
}

fn has_room(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|there| there.f_bavail.saturating_mul(there.f_frsize) >= ROOM)
}
