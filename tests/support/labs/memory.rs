//! The reference store.

use super::{Lab, OpenTransaction};
use crate::support::edit::Edit;
use crate::support::memory::{Database, MemoryStore, Transaction};
use crate::support::tables::Table;
use jobdoctor::store::Store;
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub struct MemoryLab {
    database: Arc<Mutex<Database>>,
}

impl MemoryLab {
    pub fn new() -> MemoryLab {
        MemoryLab::default()
    }
}

impl Lab for MemoryLab {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn store(&self) -> Box<dyn Store> {
        Box::new(MemoryStore::new(self.database.clone()))
    }

    fn create(&self, tables: &[Table]) {
        let mut database = self.database.lock().unwrap();
        tables.iter().for_each(|table| database.create(*table));
    }

    fn clear(&self) {
        *self.database.lock().unwrap() = Database::default();
    }

    fn edit(&self, edits: &[Edit]) {
        self.database.lock().unwrap().edit(edits);
    }

    fn hold(&self, edits: &[Edit]) -> Box<dyn OpenTransaction> {
        let transaction = self.database.lock().unwrap().begin(edits);
        Box::new(Held { database: self.database.clone(), transaction })
    }

    fn image(&self, table: &str) -> String {
        self.database.lock().unwrap().image(table)
    }

    fn row(&self, table: &Table, id: i64) -> Vec<String> {
        self.database.lock().unwrap().row(table, id)
    }

    fn locks_rows(&self) -> bool {
        true
    }
}

struct Held {
    database: Arc<Mutex<Database>>,
    transaction: Transaction,
}

impl OpenTransaction for Held {
    fn image(&mut self, table: &str) -> String {
        self.database.lock().unwrap().as_seen_by(self.transaction).image(table)
    }

    fn commit(self: Box<Self>) {
        self.database.lock().unwrap().commit(self.transaction);
    }

    fn rollback(self: Box<Self>) {
        self.database.lock().unwrap().rollback(self.transaction);
    }
}
