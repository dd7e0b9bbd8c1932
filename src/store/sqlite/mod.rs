//! The SQLite adapter, on rusqlite with its bundled library.

mod demo;
mod error;
mod file;
mod locks;
mod open;
mod place;
mod schema;
mod session;

pub use demo::create_demo_file;
pub use file::file_identity;

use super::batch::SqlWriter;
use super::reader::SqlReader;
use super::{At, Caution, Forbids, Limits, Reader, Store, StoreError, StoreErrorKind, Writer};
use crate::model::Engine;
use file::DatabaseFile;
use schema::SchemaSeen;
use std::path::{Path, PathBuf};

pub(super) struct SqliteStore {
    path: PathBuf,
    label: String,
    /// Whether the operator allows writing although other hosts may have the file open too.
    network_files: bool,
    /// Whether the operator allows the use of a file that has a second name.
    second_name: bool,
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
            network: place::network_fs_beneath,
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
        self.open_for_writing(limits)?.begin_read().map(drop)
    }

    fn reader(&self, limits: &Limits, _tables: &[String]) -> Result<Box<dyn Reader>, StoreError> {
        if !limits.inspects {
            self.check_allowed(Forbids::Judging)?;
        }
        let mut session = self.open_for_reading(limits)?;
        let now = session.begin_read()?;
        let at = At { now, server: None, identity: Some(session.file.real().display().to_string()) };
        Ok(Box::new(SqlReader { session, at, interrupt: limits.interrupt.clone() }))
    }

    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError> {
        self.check_allowed(Forbids::Writing)?;
        Ok(Box::new(SqlWriter::on(self.open_for_writing(limits)?)))
    }

    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError> {
        self.check_allowed(Forbids::Writing)?;
        self.open_for_creating(limits)?.create(statements)
    }
}
