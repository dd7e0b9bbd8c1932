//! Names that an operator gives (`--table`) are one name to the database, whatever is in them: the table of that name is read
//! and written, no other one is, and where there is none the answer is a refusal.

use super::TRIED;
use crate::support::doctor::{apply, built_in, look, outcomes, steps};
use crate::support::figures;
use crate::support::shm;
use jobdoctor::model::Outcome;
use jobdoctor::policy::Policy;
use jobdoctor::preset::{Place, Preset, ident::quoted, resolve};
use jobdoctor::store::{Address, open};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use std::sync::LazyLock;

const CASES: u32 = 150;

static LEASE: LazyLock<Preset> = LazyLock::new(|| built_in("lease"));

const PIECES: [&str; 22] = [
    "\"",
    "\"\"",
    "'",
    "`",
    "[",
    "]",
    ";",
    "--",
    "/*",
    "*/",
    " ",
    "\n",
    "\u{1b}[2J",
    "\u{202e}",
    "jobs",
    "main.",
    "; DROP TABLE jobs; --",
    "\" SET status = 'FAILED' --",
    ":now",
    "{jobs}",
    "%",
    "é漢",
];

fn names() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(select(&PIECES[..]), 1..6).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => pieces, 1 => "[^\0]{1,20}"].prop_filter("SQLite's own, or the other table", |name| {
        let name = name.to_lowercase();
        let bare = name.strip_prefix("main.").unwrap_or(&name);
        !name.starts_with("sqlite_") && !["jobs", "\"jobs\""].contains(&bare)
    })
}

const COLUMNS: &str = "(id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT, claimed_at INTEGER, heartbeat_at INTEGER,
    lease_expires_at INTEGER, attempts INTEGER, max_attempts INTEGER, error_detail TEXT, finished_at INTEGER)";

#[test]
fn are_one_name() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let ended = TestRunner::new(config).run(&names(), |name| {
        is_one_name(&name);
        Ok(())
    });
    if let Err(error) = ended {
        panic!("{error}");
    }
    figures::add(CASES.into(), TRIED);
}

fn is_one_name(name: &str) {
    let directory = shm::directory("jobdoctor-names-");
    let path = directory.path().join("queue.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    let store = open(&Address::file(&path));
    let place = Place { table: Some(name.to_owned()), ..Place::default() };
    let resolved = || {
        let (mut reader, preset) = (look(&*store), &*LEASE);
        let mut names = preset.table_names(store.engine(), &place.options);
        names.extend(place.table.clone());
        let live = reader.live_schema(&names).unwrap();
        resolve(preset, &live, &place, &mut |sql| reader.ask(sql)).ok()
    };
    let fill = |table: &str| {
        let table = quoted(table);
        let sql = format!(
            "CREATE TABLE {table} {COLUMNS};
             INSERT INTO {table} VALUES (1, 'RUNNING', 'w', 1700000000, 1700000000, 1700000000, 0, 5, NULL, NULL);"
        );
        connection.execute_batch(&sql).unwrap();
    };
    fill("jobs");
    assert!(resolved().is_none(), "there is no such table, and another one is taken");
    fill(name);
    let spec = resolved().unwrap_or_else(|| panic!("{name:?} is not found"));
    let steps = steps(&*store, &spec, &Policy::default());
    assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved]);
    let status = |table: &str| -> String {
        let sql = format!("SELECT status FROM {}", quoted(table));
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((status(name), status("jobs")), ("QUEUED".to_owned(), "RUNNING".to_owned()));
}
