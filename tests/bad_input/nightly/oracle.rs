//! What SQLite itself reads in a damaged file, by statements that know nothing of ours, on a copy.

use super::pristine::Files;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a walk through the whole table comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// It came to its end.
    Whole(Rows),
    /// It met damage.
    Damaged(String),
    /// The table is no longer the one that was made, so that there is nothing to compare.
    Another,
}

/// Rows by id, as far as they are of interest here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// All, as text: whatever is stored, byte by byte. None where the pages are not sound, and a write may tear down a neighbour.
    pub all: BTreeMap<String, String>,
    /// How many are in flight, each time that one comes by.
    pub counted: u64,
    /// In flight.
    pub in_flight: BTreeSet<String>,
    /// In flight, and nothing about it shows life: the program must find it.
    pub dead: BTreeSet<String>,
    /// In flight, and its lease runs: the program must leave it.
    pub live: BTreeSet<String>,
}

const COLUMNS: &str = "id queue kind status owner_id lease_token claimed_at heartbeat_at lease_expires_at attempts \
    max_attempts error_detail finished_at";

/// By the table alone, as an index may tell another story; and of what is not in flight no more than that.
/// A heartbeat of the last days outlives a lease.
const ROWS: &str = "SELECT CAST(id AS TEXT),
        CASE WHEN typeof(lease_expires_at) <> 'integer' THEN ''
            WHEN lease_expires_at BETWEEN unixepoch() + 100 AND unixepoch() + 30000000 THEN 'live'
            WHEN lease_expires_at NOT BETWEEN 1000000000 AND unixepoch() - 200000 THEN ''
            WHEN typeof(heartbeat_at) <> 'integer' OR heartbeat_at NOT BETWEEN 1000000000 AND unixepoch() - 200000 THEN ''
            WHEN typeof(claimed_at) <> 'integer' OR claimed_at NOT BETWEEN 1000000000 AND unixepoch() - 200000 THEN ''
            ELSE 'dead' END
    FROM jobs NOT INDEXED WHERE status IN ('CLAIMED', 'RUNNING')";

const ALL: &str = "SELECT CAST(id AS TEXT), quote(queue) || quote(kind) || quote(status) || quote(owner_id)
        || quote(lease_token) || quote(claimed_at) || quote(heartbeat_at) || quote(lease_expires_at) || quote(attempts)
        || quote(max_attempts) || quote(error_detail) || quote(finished_at)
    FROM jobs NOT INDEXED";

/// Reads a copy of the files, in a directory of its own.
pub fn read(files: &Files) -> Read {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("queue.db");
    files.put(&path);
    read_at(&path)
}

/// Reads files where they lie; they may change by it.
pub fn read_at(path: &Path) -> Read {
    match rows(path) {
        Ok(Some(rows)) => Read::Whole(rows),
        Ok(None) => Read::Another,
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
                Read::Damaged(error.to_string())
            }
            // A column that is gone, or called something that is no text.
            _ => Read::Another,
        },
    }
}

fn rows(path: &Path) -> rusqlite::Result<Option<Rows>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mut columns = connection.prepare("SELECT name FROM pragma_table_info('jobs')")?;
    let columns = columns.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    if columns != COLUMNS.split_whitespace().collect::<Vec<_>>() {
        return Ok(None);
    }
    let (mut rows, mut twice) = (Rows::default(), BTreeSet::new());
    let mut prepared = connection.prepare(ROWS)?;
    let mut found = prepared.query([])?;
    while let Some(row) = found.next()? {
        let id = String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned();
        rows.counted += 1;
        match row.get_ref(1)?.as_str()? {
            "live" => rows.live.insert(id.clone()),
            "dead" => rows.dead.insert(id.clone()),
            _ => false,
        };
        if !rows.in_flight.insert(id.clone()) {
            twice.insert(id);
        }
    }
    // An id that damage gave to two rows says of neither whether it is alive; the precondition does, in the write.
    rows.live.retain(|id| !twice.contains(id));
    rows.dead.retain(|id| !twice.contains(id));
    // What the program need not read, it need not find damaged.
    let mut whole = || -> rusqlite::Result<()> {
        if connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))? != "ok" {
            return Ok(());
        }
        let mut prepared = connection.prepare(ALL)?;
        let mut found = prepared.query([])?;
        while let Some(row) = found.next()? {
            let text = |n| Ok::<_, rusqlite::Error>(String::from_utf8_lossy(row.get_ref(n)?.as_bytes()?).into_owned());
            rows.all.insert(text(0)?, text(1)?);
        }
        Ok(())
    };
    if whole().is_err() {
        rows.all.clear();
    }
    Ok(Some(rows))
}
