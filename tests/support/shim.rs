//! Something small in C between a program and its system, by `LD_PRELOAD`.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Compiled; whoever builds the program has a C compiler, for SQLite.
pub struct Shim {
    _directory: TempDir,
    library: PathBuf,
}

impl Shim {
    pub fn of(source: &str) -> Shim {
        let directory = TempDir::new().expect("a temporary directory");
        let (file, library) = (directory.path().join("shim.c"), directory.path().join("shim.so"));
        std::fs::write(&file, source).expect("write the shim");
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).arg("-ldl").output();
        let made = made.expect("run cc");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Shim { _directory: directory, library }
    }

    /// What `LD_PRELOAD` is set to.
    pub fn library(&self) -> &Path {
        &self.library
    }
}
