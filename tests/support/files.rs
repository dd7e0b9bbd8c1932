//! Files before and after, and writers of another make that hold on to them or die.

use super::users::User;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Every file of a directory, as it was: its kind, owner, mode and bytes.
pub struct Frozen {
    directory: PathBuf,
    files: BTreeMap<String, String>,
}

impl Frozen {
    pub fn of(directory: &Path) -> Frozen {
        Frozen { directory: directory.to_owned(), files: files(directory) }
    }

    pub fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    /// Panics unless the directory holds the same files with the same bytes, owners and modes.
    #[track_caller]
    pub fn must_be_unchanged(&self) {
        assert_eq!(files(&self.directory), self.files, "{}", self.directory.display());
    }

    /// The same but for a file of that name, which may have come.
    #[track_caller]
    pub fn must_be_unchanged_but_for(&self, name: &str) {
        let mut now = files(&self.directory);
        now.remove(name);
        assert_eq!(now, self.files, "{}", self.directory.display());
    }
}

fn files(directory: &Path) -> BTreeMap<String, String> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let metadata = fs::symlink_metadata(&path).unwrap();
            // The index of a WAL is shared memory: readers leave their marks in it, and nobody relies on its bytes.
            let content = if metadata.is_symlink() {
                format!("a link to {}", fs::read_link(&path).unwrap().display())
            } else if metadata.is_dir() {
                "a directory".to_owned()
            } else if !metadata.is_file() {
                "no regular file".to_owned()
            } else if name.ends_with("-shm") {
                "shared memory".to_owned()
            } else {
                Sha256::digest(fs::read(&path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
            };
            (name, format!("{}:{} {:o} {content}", metadata.uid(), metadata.gid(), metadata.mode()))
        })
        .collect()
}

pub fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
}

/// A writer in another process and another build of SQLite: it runs the statements of each line that it is sent, or the
/// Python behind a `!`, and says so.
const WRITER: &str = "
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
for line in sys.stdin:
    if line.startswith('!'):
        exec(line[1:])
        line = ''
    statement = ''
    for part in line.strip().split(';'):
        statement += part + ';'
        if part.strip() and sqlite3.complete_statement(statement):
            connection.execute(statement).fetchall()
            statement = ''
    print('ready', flush=True)
connection.close()
";

pub struct Writer(Child);

impl Writer {
    /// Has another process run these statements. It then waits, with the file open and its transaction, if any, too.
    pub fn at(path: &Path, sql: &str) -> Writer {
        Writer::of(Command::new("python3"), path, sql)
    }

    /// The same of somebody else, if there is one.
    pub fn by(user: Option<&User>, path: &Path, sql: &str) -> Writer {
        let python = user.map_or_else(|| Command::new("python3"), |user| user.command("python3"));
        Writer::of(python, path, sql)
    }

    fn of(mut python: Command, path: &Path, sql: &str) -> Writer {
        let python =
            python.args(["-c", WRITER]).arg(path).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        // In a group of its own: some tests stop it, and the kernel hangs up on a whole group with a stopped process in it when
        // whoever has started the tests goes away.
        let started =
            python.process_group(0).spawn().expect("the tests need python3, as a writer that is not of our making");
        let mut writer = Writer(started);
        writer.run(sql);
        writer
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    #[track_caller]
    pub fn run(&mut self, sql: &str) {
        self.send(&sql.replace('\n', " "));
    }

    /// Has it do something that is not SQL.
    #[track_caller]
    pub fn run_python(&mut self, statement: &str) {
        self.send(&format!("!{statement}"));
    }

    #[track_caller]
    fn send(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
        let mut said = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n", "the writer did not get that far: {line}");
    }

    /// Lets it close the file in good order.
    pub fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }

    /// Kills it: nothing is closed in good order.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has another process run these statements, and kills it while it has the file open.
pub fn kill_a_writer(path: &Path, sql: &str) {
    Writer::at(path, sql).kill();
}

/// What leaves half of a transaction in the file, with a journal beside it, if its writer is killed.
pub const HALF_A_TRANSACTION: &str = "PRAGMA cache_size = 1; BEGIN; UPDATE jobs SET attempts = 8; CREATE TABLE big (x); \
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
    INSERT INTO big SELECT randomblob(200) FROM n;";
