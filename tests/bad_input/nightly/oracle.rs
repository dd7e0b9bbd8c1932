//! What SQLite itself reads in a damaged file, by statements that know nothing of ours, on a copy.

use super::pristine::Files;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::collections::BTreeSet;

/// What a walk through the whole table comes to.
#[derive(Debug)]
pub enum Read {
    Whole(Rows),
    Damaged(String),
    /// The table is no longer the one that was made, so that there is nothing to compare.
    Another,
}

#[derive(Debug, Default)]
pub struct Rows {
    /// How many rows there are; an id may come twice.
    pub counted: u64,
    pub in_flight: BTreeSet<String>,
    /// Nothing about them shows life: the program must find them.
    pub dead: BTreeSet<String>,
    /// Their leases run: the program must leave them.
    pub live: BTreeSet<String>,
}

const COLUMNS: &str = "id queue kind status owner_id lease_token claimed_at heartbeat_at lease_expires_at attempts \
    max_attempts error_detail finished_at";

/// By the table alone, as an index may tell another story. A heartbeat of the last days outlives a lease.
const ROWS: &str = "SELECT CAST(id AS TEXT),
        CASE WHEN typeof(lease_expires_at) <> 'integer' THEN ''
            WHEN lease_expires_at BETWEEN unixepoch() + 100 AND unixepoch() + 30000000 THEN 'live'
            WHEN lease_expires_at NOT BETWEEN 1000000000 AND unixepoch() - 200000 THEN ''
            WHEN typeof(heartbeat_at) <> 'integer' OR heartbeat_at NOT BETWEEN 1000000000 AND unixepoch() - 200000 THEN ''
            WHEN typeof(claimed_at) <> 'integer' OR claimed_at NOT BETWEEN 1000000000 AND unixepoch() - 200000 THEN ''
            ELSE 'dead' END
    FROM jobs NOT INDEXED WHERE status IN ('CLAIMED', 'RUNNING')";

pub fn read(files: &Files) -> Read {
    match rows(files) {
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

fn rows(files: &Files) -> rusqlite::Result<Option<Rows>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("queue.db");
    files.put(&path);
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
    Ok(Some(rows))
}
