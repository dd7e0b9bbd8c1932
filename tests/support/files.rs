//! Files before and after, and writers that die.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Every file of a directory, as it was.
pub struct Frozen {
    directory: PathBuf,
    files: BTreeMap<String, String>,
}

impl Frozen {
    /// The directory now.
    pub fn of(directory: &Path) -> Frozen {
        Frozen { directory: directory.to_owned(), files: files(directory) }
    }

    /// The names in it, sorted.
    pub fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    /// Panics unless the directory holds the same files with the same bytes.
    pub fn must_be_unchanged(&self) {
        assert_eq!(files(&self.directory), self.files, "{}", self.directory.display());
    }
}

fn files(directory: &Path) -> BTreeMap<String, String> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // The index of a WAL is shared memory: readers leave their marks in it, and nobody relies on its bytes.
            let content = if path.is_dir() {
                "a directory".to_owned()
            } else if name.ends_with("-shm") {
                "shared memory".to_owned()
            } else {
                Sha256::digest(fs::read(&path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
            };
            (name, content)
        })
        .collect()
}

/// Copies one file and nothing beside it.
pub fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
}

/// A writer in another process and another build of SQLite: it runs the statements, says so, and waits to be killed.
const WRITER: &str = "
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript(sys.argv[2])
print('ready', flush=True)
time.sleep(60)
";

/// Has another process run these statements, and kills it while it has the file open.
pub fn kill_a_writer(path: &Path, sql: &str) {
    let mut writer = Command::new("python3")
        .args(["-c", WRITER])
        .arg(path)
        .arg(sql)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tests need python3, as a writer that is not of our making");
    let mut said = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("ready")), "the writer did not get that far");
    // SIGKILL: nothing is closed in good order.
    writer.kill().unwrap();
    writer.wait().unwrap();
}
