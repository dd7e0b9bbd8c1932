//! The tables of the queues, each version in a database of its own or beside another's.

use crate::support::dice::one_in;
use crate::support::postgres::{TestDatabase, fresh};
use crate::support::shop::Shop;
use std::fs;
use std::path::{Path, PathBuf};

pub struct Tables {
    pub queue: String,
    pub version: String,
    pub sql: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas")
}

pub fn tables(queue: &str, version: &str) -> Tables {
    let sql = fs::read_to_string(folder().join(queue).join(format!("{version}.sql"))).unwrap();
    Tables { queue: queue.to_owned(), version: version.to_owned(), sql }
}

/// The program beside those of one queue and version on Postgres, after these statements.
pub fn shop(queue: &str, version: &str, sql: &str) -> Shop {
    let shop = Shop::on(tables(queue, version).made());
    shop.sql(sql);
    shop
}

/// All of them on Postgres, by name; of each queue its versions in order.
pub fn all() -> Vec<Tables> {
    all_in("")
}

/// The last version of each queue's, and a few of the others.
pub fn some() -> Vec<Tables> {
    let (newest, older) = by_age();
    newest.into_iter().chain(one_in(5, older)).collect()
}

/// The last version of each queue's on Postgres, and the others.
pub fn by_age() -> (Vec<Tables>, Vec<Tables>) {
    let (mut newest, mut older) = (Vec::<Tables>::new(), Vec::new());
    for tables in all() {
        older.extend(newest.pop_if(|last| last.queue == tables.queue));
        newest.push(tables);
    }
    (newest, older)
}

pub fn on_sqlite() -> Vec<Tables> {
    all_in("sqlite")
}

fn all_in(folder_of_engine: &str) -> Vec<Tables> {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let versions = |queue: &String| {
        let folder = folder().join(queue).join(folder_of_engine);
        let version = |file: &String| {
            let sql = fs::read_to_string(folder.join(file)).unwrap();
            Some(Tables { queue: queue.clone(), version: file.strip_suffix(".sql")?.to_owned(), sql })
        };
        names(&folder).iter().filter(|file| file.ends_with(".sql")).filter_map(version).collect::<Vec<_>>()
    };
    names(&folder()).iter().flat_map(versions).collect()
}

impl Tables {
    pub fn made(&self) -> TestDatabase {
        let database = fresh();
        self.make(&database);
        database
    }

    pub fn make(&self, database: &TestDatabase) {
        let made = database.client().batch_execute(&self.sql);
        made.unwrap_or_else(|error| panic!("{} {}: {error:?}", self.queue, self.version));
    }
}
