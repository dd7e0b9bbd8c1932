//! SQLite, over rusqlite with its bundled library.

mod catalog;
mod demo;
mod error;
mod file;
mod session;

pub use demo::{CREATED_BY_DEMO, create_demo_file};

use super::apply::SqlWriter;
use super::reader::SqlReader;
use super::{Limits, Reader, Store, StoreError, Writer};
use crate::model::Engine;
use session::SqliteSession;
use std::path::{Path, PathBuf};

/// A database file.
pub(super) struct SqliteStore {
    path: PathBuf,
    label: String,
}

impl SqliteStore {
    /// A store for that path. Nothing is opened yet.
    pub(super) fn new(path: &Path) -> SqliteStore {
        SqliteStore { path: path.to_owned(), label: path.display().to_string() }
    }
}

impl Store for SqliteStore {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn reader(&self, limits: &Limits) -> Result<Box<dyn Reader>, StoreError> {
        let mut session = SqliteSession::for_reading(&self.path, limits)?;
        let now = session.begin_read()?;
        Ok(Box::new(SqlReader { session, now, standby: None, interrupt: limits.interrupt.clone() }))
    }

    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError> {
        Ok(Box::new(SqlWriter { session: SqliteSession::for_writing(&self.path, limits)? }))
    }

    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError> {
        SqliteSession::for_creating(&self.path, limits)?.create(statements)
    }
}
