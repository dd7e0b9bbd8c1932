//! The reference store: tables in memory and a queue's spec evaluated in plain Rust, with no SQL in sight. What the real
//! stores find and do is held against it.
//!
//! It is stricter than they are. It hands claims over in a scrambled order, hands over every claim in flight when asked for
//! suspects, as the contract allows, and panics where a caller breaks the contract: mixed moves, a job twice, no precondition.

mod database;
mod expression;
mod reader;
mod record;
mod row;
mod writer;

pub use database::{Database, Transaction};

use jobdoctor::model::Engine;
use jobdoctor::store::{Caution, Limits, Reader, Store, StoreError, StoreErrorKind, Writer};
use std::sync::{Arc, Mutex};

pub struct MemoryStore {
    database: Arc<Mutex<Database>>,
}

impl MemoryStore {
    /// A store over that database, which others may hold too.
    pub fn new(database: Arc<Mutex<Database>>) -> MemoryStore {
        MemoryStore { database }
    }
}

impl Store for MemoryStore {
    /// It passes for Postgres: there, columns have one type.
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn label(&self) -> &'static str {
        "memory"
    }

    fn caution(&self) -> Option<Caution> {
        None
    }

    fn recover(&self, _limits: &Limits) -> Result<(), StoreError> {
        Ok(())
    }

    fn reader(&self, _limits: &Limits, _tables: &[String]) -> Result<Box<dyn Reader>, StoreError> {
        let database = self.database.lock().unwrap();
        Ok(Box::new(reader::MemoryReader::new(&database)))
    }

    fn writer(&self, _limits: &Limits) -> Result<Box<dyn Writer>, StoreError> {
        Ok(Box::new(writer::MemoryWriter::new(self.database.clone())))
    }

    fn create(&self, _limits: &Limits, _statements: &[String]) -> Result<(), StoreError> {
        Err(StoreError::new(StoreErrorKind::Unfit, "the memory store speaks no SQL"))
    }
}
