//! The SQLite adapter, on rusqlite with its bundled library.

mod error;
mod file;
mod locks;
mod open;
mod schema;
mod second_name;
mod session;

pub use open::{CREATED_BY_DEMO, create_demo_file};

use super::batch::SqlWriter;
use super::reader::SqlReader;
use super::{Caution, Forbids, Limits, Reader, Store, StoreError, StoreErrorKind, Writer};
use crate::model::{Engine, Remedy};
use file::DatabaseFile;
use schema::SchemaSeen;
use second_name::SecondName;
use session::SqliteSession;
use std::path::{Path, PathBuf};

pub(super) struct SqliteStore {
    path: PathBuf,
    label: String,
    /// Whether the operator allows writing although other hosts may have the file open too.
    network_files: bool,
    /// Whether the operator allows the use of a file that has a second name.
    second_name: bool,
    /// Whether writers enforce foreign keys.
    foreign_keys: bool,
    /// Names the network file system that a path lies on, if any; tests replace it.
    network: fn(&Path) -> Option<&'static str>,
    seen: SchemaSeen,
}

impl SqliteStore {
    /// A store for that path; opens nothing.
    pub(super) fn new(path: &Path, network_files: bool, second_name: bool, foreign_keys: bool) -> SqliteStore {
        SqliteStore {
            path: path.to_owned(),
            label: path.display().to_string(),
            network_files,
            second_name,
            foreign_keys,
            network: second_name::network_fs_beneath,
            seen: SchemaSeen::default(),
        }
    }

    /// Refuses what the operator has to allow first.
    fn check_allowed(&self, forbidden: Forbids) -> Result<(), StoreError> {
        match self.caution().filter(|caution| caution.forbids >= forbidden) {
            Some(caution) => Err(StoreError::new(StoreErrorKind::Refused, caution.message).remedy(caution.remedy)),
            None => Ok(()),
        }
    }

    fn caution_of_name(&self) -> Option<Caution> {
        let second = SecondName::of(&std::fs::canonicalize(&self.path).ok()?)?;
        let why = "SQLite keeps its journals next to one name, and under the other it does not see them";
        Some(Caution {
            id: "second_name",
            message: format!("{} {}; {why}", self.label, second.in_words()),
            remedy: Remedy::AllowSecondName { is_mount: matches!(second, SecondName::Mount(_)) },
            forbids: if self.second_name { Forbids::Nothing } else { Forbids::Judging },
        })
    }

    fn caution_of_network(&self) -> Option<Caution> {
        // For a file that does not exist yet, its directory counts.
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let there = if self.path.exists() { &self.path } else { directory.unwrap_or(Path::new(".")) };
        let network = (self.network)(there)?;
        Some(Caution {
            id: "network_files",
            message: format!(
                "{} is on a network file system ({network}), where another host may not see a lock",
                self.label
            ),
            remedy: Remedy::AllowNetworkFiles,
            forbids: if self.network_files { Forbids::Nothing } else { Forbids::Writing },
        })
    }
}

impl Store for SqliteStore {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn label(&self) -> &str {
        &self.label
    }

    /// Of two the one that forbids more.
    fn caution(&self) -> Option<Caution> {
        [self.caution_of_network(), self.caution_of_name()].into_iter().flatten().max_by_key(|caution| caution.forbids)
    }

    fn recover(&self, limits: &Limits) -> Result<(), StoreError> {
        // The reader will say why.
        if self.check_allowed(Forbids::Writing).is_err() {
            return Ok(());
        }
        let file = DatabaseFile::existing(&self.path)?;
        // A process that could not remove the journal afterwards must not begin.
        if !file.has_journal() || !file.may_write() {
            return Ok(());
        }
        // The first read of a connection that may write rolls the journal back, if its writer is gone.
        SqliteSession::for_writing(&self.path, limits, &self.seen, self.foreign_keys)?.begin_read().map(drop)
    }

    fn reader(&self, limits: &Limits) -> Result<Box<dyn Reader>, StoreError> {
        if !limits.inspects {
            self.check_allowed(Forbids::Judging)?;
        }
        let mut session = SqliteSession::for_reading(&self.path, limits, &self.seen, self.foreign_keys)?;
        let now = session.begin_read()?;
        Ok(Box::new(SqlReader { session, now, server: None, interrupt: limits.interrupt.clone() }))
    }

    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError> {
        self.check_allowed(Forbids::Writing)?;
        Ok(Box::new(SqlWriter::on(SqliteSession::for_writing(&self.path, limits, &self.seen, self.foreign_keys)?)))
    }

    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError> {
        self.check_allowed(Forbids::Writing)?;
        SqliteSession::for_creating(&self.path, limits)?.create(statements)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
mod tests {
    use super::*;
    use crate::store::Interrupt;
    use std::time::{Duration, Instant};

    fn limits() -> Limits {
        Limits {
            deadline: Instant::now() + Duration::from_secs(60),
            connect: Duration::ZERO,
            lock: Duration::ZERO,
            application_name: String::new(),
            for_writing: false,
            inspects: false,
            interrupt: Interrupt::default(),
        }
    }

    /// A store that takes its file system for the one of that name.
    fn store_on(path: &Path, network: fn(&Path) -> Option<&'static str>, network_files: bool) -> SqliteStore {
        SqliteStore { network, ..SqliteStore::new(path, network_files, false, true) }
    }

    fn made(directory: &Path) -> PathBuf {
        let path = directory.join("queue.db");
        let store = store_on(&path, |_| None, false);
        store.create(&limits(), &["CREATE TABLE t (x)".to_owned()]).unwrap();
        path
    }

    #[test]
    fn a_network_file_system_is_read_with_a_caution_and_written_only_where_that_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = made(directory.path());
        let statements = ["CREATE TABLE u (x)".to_owned()];
        let nfs = store_on(&path, |_| Some("NFS"), false);
        let caution = nfs.caution().unwrap();
        assert!(caution.forbids == Forbids::Writing && caution.message.contains("(NFS)"), "{caution:?}");
        assert!(nfs.reader(&limits()).is_ok());
        let refused = nfs.writer(&limits()).err().unwrap();
        assert_eq!((refused.kind, &refused.message), (StoreErrorKind::Refused, &caution.message));
        assert_eq!(refused.remedy, Some(Remedy::AllowNetworkFiles));
        assert_eq!(nfs.create(&limits(), &statements).err().map(|e| e.kind), Some(StoreErrorKind::Refused));

        let allowed = store_on(&path, |_| Some("NFS"), true);
        let caution = allowed.caution().unwrap();
        assert!(caution.forbids == Forbids::Nothing, "still worth a word: {caution:?}");
        assert!(allowed.writer(&limits()).is_ok());
        assert!(allowed.create(&limits(), &statements).is_ok());

        let here = store_on(&path, |_| None, false);
        assert_eq!(here.caution(), None);
        assert!(here.writer(&limits()).is_ok());
    }

    #[test]
    fn a_file_that_is_yet_to_be_made_lies_where_its_directory_does() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.db");
        let store = store_on(&path, |asked| asked.is_dir().then_some("NFS"), false);
        let error = store.create(&limits(), &["CREATE TABLE t (x)".to_owned()]).err().unwrap();
        assert_eq!(error.kind, StoreErrorKind::Refused);
        assert!(!path.exists());
        // A bare name lies in the working directory.
        let store = store_on(Path::new("none.db"), |asked| (asked == Path::new(".")).then_some("NFS"), false);
        assert!(store.caution().is_some());
    }
}
