//! A queue with workers at it: connections of their own, what docs/reference-schema.md gives them to run, and what an onlooker sees.

use super::shop::Shop;
use crate::readme::statements::{Database, postgres, sqlite, statements};
use std::collections::BTreeMap;

/// Makes a database believe that its server has been up for days: the tests' own has just been started, and the brake knows
/// that nobody can have sent a heartbeat before.
pub const UP_FOR_DAYS: &str = "SET allow_system_table_mods = on;
    CREATE OR REPLACE FUNCTION pg_catalog.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql STABLE
        AS $$ SELECT pg_catalog.now() - interval '3 days' $$";

impl Shop {
    pub fn connect(&self) -> Database {
        if self.is_postgres() { postgres(&self.url) } else { sqlite(&self.doctor.path(&self.url)) }
    }

    /// Its address, from whatever directory one looks.
    pub fn address(&self) -> String {
        if self.is_postgres() { self.url.clone() } else { self.doctor.path(&self.url).display().to_string() }
    }

    /// Lets workers and onlookers into the file at the same time. A server always does.
    pub fn open_to_many(&self) {
        if !self.is_postgres() {
            self.connect()("PRAGMA journal_mode = wal");
        }
    }

    pub fn has_been_up_for_days(&self) {
        if self.is_postgres() {
            self.sql(UP_FOR_DAYS);
        }
    }

    pub fn statements(&self) -> [String; 4] {
        statements(if self.is_postgres() { "sql worker postgres" } else { "sql worker sqlite" })
    }

    /// An instant so many seconds from now, in SQL.
    pub fn at(&self, seconds: i64) -> String {
        if self.is_postgres() {
            format!("now() + {}", self.seconds(seconds))
        } else {
            format!("unixepoch() + ({seconds})")
        }
    }

    pub fn seconds(&self, seconds: i64) -> String {
        if self.is_postgres() { format!("interval '{seconds} s'") } else { seconds.to_string() }
    }

    /// A connection that keeps everybody else from writing, but not from looking, until it says `COMMIT`.
    pub fn hold(&self) -> Database {
        let mut run = self.connect();
        run(if self.is_postgres() { "BEGIN; LOCK TABLE jobs IN EXCLUSIVE MODE" } else { "BEGIN IMMEDIATE" });
        run
    }

    /// So many others wait for what [`Shop::hold`] holds. SQLite does not tell.
    pub fn waiting(&self) -> Option<usize> {
        let sql = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'jobs'::regclass";
        self.is_postgres().then(|| self.rows(sql)[0].parse().expect("a number"))
    }

    pub fn image(&self) -> BTreeMap<i64, String> {
        let mut run = self.connect();
        let sql = if self.is_postgres() {
            "SELECT id, jobs::text FROM jobs".to_owned()
        } else {
            // With the storage class of each value.
            let columns = self.rows("SELECT name FROM pragma_table_info('jobs')");
            let quoted: Vec<String> = columns.iter().map(|name| format!("quote({name})")).collect();
            format!("SELECT id, {} FROM jobs", quoted.join(" || ' ' || "))
        };
        let row = |row: Vec<Option<String>>| {
            let [id, image] = <[_; 2]>::try_from(row).expect("two columns").map(|cell| cell.expect("a value"));
            (id.parse().expect("a number"), image)
        };
        run(&sql).into_iter().map(row).collect()
    }
}
