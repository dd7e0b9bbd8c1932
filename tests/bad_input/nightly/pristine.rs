//! The files before anything happens to them: 60 dead claims, 20 live ones, and as many jobs that nobody holds, on small pages so
//! that there are many.

use crate::support::files::{HALF_A_TRANSACTION, kill_a_writer};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::tempdir;

/// What SQLite keeps beside a file, and how the claims are found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variety {
    Table,
    Index,
    /// A file and a log, which holds most of it.
    Log,
    /// A file in the middle of a transaction, and the journal of a writer that was killed.
    Hot,
}

/// The size of a page in all of them.
pub const PAGE: usize = 1024;
/// How many are dead, by the ids from 1.
pub const DEAD: usize = 60;
/// The first of those that are alive.
pub const FIRST_LIVE: usize = 61;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    pub main: Vec<u8>,
    pub wal: Option<Vec<u8>>,
    pub journal: Option<Vec<u8>>,
}

const JOBS: &str = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, kind TEXT, status TEXT NOT NULL,
        owner_id TEXT, lease_token TEXT, claimed_at INTEGER, heartbeat_at INTEGER, lease_expires_at INTEGER,
        attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER DEFAULT 5, error_detail TEXT, finished_at INTEGER);";
const INDEXES: &str = "CREATE INDEX jobs_lease ON jobs (status, lease_expires_at);
    CREATE INDEX jobs_next ON jobs (status, queue);";
/// Days apart, so that the clock of no slow machine comes between them.
const ROWS: &str = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 120)
    INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
    SELECT id, 'mail', 'SendInvoice',
        CASE WHEN id <= 80 THEN 'RUNNING' WHEN id <= 100 THEN 'QUEUED' ELSE 'SUCCEEDED' END,
        CASE WHEN id <= 80 THEN 'web1:' || id END,
        CASE WHEN id <= 80 THEN 'token-' || id END,
        CASE WHEN id <= 80 THEN unixepoch() - 400000 - id END,
        CASE WHEN id <= 60 THEN unixepoch() - 350000 - id WHEN id <= 80 THEN unixepoch() - 5 END,
        CASE WHEN id <= 60 THEN unixepoch() - 300000 - id WHEN id <= 80 THEN unixepoch() + 300000 + id END
    FROM n;";

impl Variety {
    pub const ALL: [Variety; 4] = [Variety::Table, Variety::Index, Variety::Log, Variety::Hot];

    pub fn files(self) -> Files {
        static MADE: [OnceLock<Files>; 4] = [const { OnceLock::new() }; 4];
        MADE[self as usize].get_or_init(|| self.made()).clone()
    }

    fn made(self) -> Files {
        let directory = tempdir().unwrap();
        let path = directory.path().join("queue.db");
        let connection = Connection::open(&path).unwrap();
        let run = |sql: &str| connection.execute_batch(sql).unwrap();
        run("PRAGMA page_size = 1024; PRAGMA synchronous = off;");
        match self {
            Variety::Table | Variety::Hot => run(&format!("{JOBS}{ROWS}")),
            Variety::Index => run(&format!("{JOBS}{INDEXES}{ROWS}")),
            Variety::Log => run(&format!("{JOBS} PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; {ROWS}")),
        }
        if self == Variety::Log {
            // While it is open nothing is taken over from the log.
            return Files::of(&path);
        }
        drop(connection);
        if self == Variety::Hot {
            // A small one, because there are many copies of it.
            kill_a_writer(&path, &HALF_A_TRANSACTION.replace("i < 2000", "i < 200"));
        }
        Files::of(&path)
    }
}

impl Files {
    pub fn of(path: &Path) -> Files {
        let beside = |end: &str| fs::read(format!("{}{end}", path.display())).ok();
        Files { main: fs::read(path).unwrap(), wal: beside("-wal"), journal: beside("-journal") }
    }

    pub fn put(&self, path: &Path) {
        fs::write(path, &self.main).unwrap();
        for (end, bytes) in [("-wal", &self.wal), ("-journal", &self.journal)] {
            if let Some(bytes) = bytes {
                fs::write(format!("{}{end}", path.display()), bytes).unwrap();
            }
        }
    }
}
