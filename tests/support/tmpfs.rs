//! A small disk, to be filled: a file system in memory. Only root can mount one.

use super::users::say_what_is_missing;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// See the module. Dropped, it is taken away; what is in it is gone then.
pub struct SmallDisk {
    path: PathBuf,
    /// Gone after it, if it is a directory of its own.
    directory: Option<TempDir>,
}

const FILLER: &str = "filler";

impl SmallDisk {
    /// One of so many megabytes; `None`, having said what was not proven, where it cannot be mounted.
    pub fn of(megabytes: u32, proves: &str) -> Option<SmallDisk> {
        let directory = TempDir::new().expect("a temporary directory");
        let mut disk = SmallDisk::on(directory.path(), megabytes, proves)?;
        disk.directory = Some(directory);
        Some(disk)
    }

    /// The same over a directory that is there.
    pub fn on(directory: &Path, megabytes: u32, proves: &str) -> Option<SmallDisk> {
        let size = format!("size={megabytes}m,mode=0755");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory).stderr(Stdio::null());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(SmallDisk { path: directory.to_owned(), directory: None });
        }
        say_what_is_missing(&format!("{proves} (a tmpfs cannot be mounted here)"));
        None
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn filler(&self) -> PathBuf {
        self.path().join(FILLER)
    }

    /// Takes all the room that is left, but for so many bytes.
    pub fn fill(&self, but: usize) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.filler()).expect("the filler");
        let piece = vec![0; 65536];
        while file.write_all(&piece).is_ok() {}
        while file.write_all(&piece[..512]).is_ok() {}
        let length = file.metadata().expect("its length").len();
        file.set_len(length.saturating_sub(but as u64)).expect("give some back");
    }

    pub fn empty(&self) {
        fs::remove_file(self.filler()).expect("remove the filler");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // At once for everybody, and for good when the last one has closed what it has open.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
