//! Where stories are played: one database with the tables of every shape, made once and emptied between two stories.

use super::shape::{SHAPES, Shape};
use crate::histories::world::limits;
use crate::support::doctor::fit;
use crate::support::labs::{Journal, store_at};
use crate::support::pgbouncer::pooler;
use crate::support::postgres::fresh;
use crate::support::shm;
use jobdoctor::model::Engine;
use jobdoctor::preset::QueueSpec;
use jobdoctor::store::{Address, Store, Writer, open};
use rusqlite::Connection;
use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;

/// See the module.
pub struct Ground {
    /// What to call it when a story goes wrong in it.
    pub name: &'static str,
    pub engine: Engine,
    pub tables: Vec<(Shape, QueueSpec)>,
    /// The store under test.
    pub looks: Box<dyn Store>,
    pub writer: Box<dyn Writer>,
    hand: Hand,
    /// What goes with the ground.
    _place: Box<dyn Any>,
}

/// The tests' own connection, never that of the store under test.
enum Hand {
    Sqlite(Connection),
    Postgres(postgres::Client),
}

/// What is left of each row, by its number.
pub type Rows = BTreeMap<i32, String>;

impl Ground {
    fn of(
        name: &'static str,
        looks: Box<dyn Store>,
        writes: &dyn Store,
        mut hand: Hand,
        place: Box<dyn Any>,
    ) -> Ground {
        let engine = looks.engine();
        let shapes: Vec<Shape> = (0..SHAPES).map(|number| Shape::of(number, engine)).collect();
        hand.run(&shapes.iter().map(|shape| shape.ddl(engine)).collect::<String>());
        let tables = shapes.into_iter().map(|shape| (shape.clone(), fit(writes, &shape.preset()))).collect();
        let writer = writes.writer(&limits("stories")).unwrap_or_else(|error| panic!("{error}"));
        Ground { name, engine, tables, looks, writer, hand, _place: place }
    }

    /// Runs statements in one transaction.
    pub fn run(&mut self, sql: &str) {
        self.hand.run(&format!("BEGIN; {sql} COMMIT;"));
    }

    /// The rows of a table of jobs.
    pub fn rows(&mut self, table: &str) -> Rows {
        let sql = format!("SELECT n, status || ' ' || coalesce(owner_id, '') || ' ' || attempts FROM {table}");
        match &mut self.hand {
            Hand::Sqlite(connection) => {
                let mut rows = connection.prepare_cached(&sql).unwrap();
                rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
            }
            Hand::Postgres(client) => {
                client.query(&sql, &[]).unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
            }
        }
    }
}

impl Hand {
    fn run(&mut self, sql: &str) {
        let failed = match self {
            Hand::Sqlite(connection) => connection.execute_batch(sql).err().map(|error| error.to_string()),
            Hand::Postgres(client) => client.batch_execute(sql).err().map(|error| format!("{error:?}")),
        };
        if let Some(error) = failed {
            panic!("{error} in {sql}");
        }
    }
}

/// A file.
pub fn sqlite(journal: Journal) -> Ground {
    let directory = shm::directory("jobdoctor-story-");
    let path = directory.path().join("queue.db");
    let connection = Connection::open(&path).unwrap();
    let (name, mode) = match journal {
        Journal::Wal => ("SQLite, WAL", "wal"),
        Journal::Rollback => ("SQLite, rollback journal", "delete"),
    };
    connection.pragma_update(None, "journal_mode", mode).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    let address = Address::file(path);
    Ground::of(name, open(&address), &*open(&address), Hand::Sqlite(connection), Box::new(directory))
}

/// A database of the private cluster.
pub fn postgres() -> Ground {
    let database = fresh();
    let looks = store_at(&database.url_through(pooler().socket()));
    let writes = store_at(&database.url());
    Ground::of("Postgres", looks, &*writes, Hand::Postgres(database.client()), Box::new(database))
}
