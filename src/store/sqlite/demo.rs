//! The demonstration: a database in which two hosts died and two are at work.

use super::error::store_error;
use super::file::DatabaseFile;
use crate::model::Engine;
use crate::preset::Place;
use crate::store::sql::reference_schema;
use crate::store::{StoreError, StoreErrorKind};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The incident: `web2` was killed 14 minutes ago with four jobs, one of them on its last attempt and one with a cancel
/// request; `media1` followed 41 minutes ago with a long one; `web1` and `media2` are at work. Times are seconds before
/// now. No worker runs that could renew a lease, so the living hold leases for a month, and the clock of the worker that
/// makes no sense is a month ahead: the demonstration shows the same tomorrow.
const JOBS: &str = "
    INSERT INTO jobs (queue, kind, status, attempts, owner_id, claimed_at, heartbeat_at, lease_expires_at,
        cancel_requested_at, lease_token, created_at)
    SELECT column1, column2, column3, column4, column5, unixepoch() - column6, unixepoch() - column7,
        unixepoch() - column8, unixepoch() - column9, iif(column5 IS NULL, NULL, hex(randomblob(8))), unixepoch() - 7200
    FROM (VALUES
        ('mail', 'SendInvoice', 'SUCCEEDED', 1, NULL, NULL, NULL, NULL, NULL),
        ('mail', 'SendInvoice', 'SUCCEEDED', 0, NULL, NULL, NULL, NULL, NULL),
        ('media', 'ResizeVideo', 'RUNNING', 1, 'media1:2207', 4410, 2471, 2411, NULL),
        ('mail', 'SendInvoice', 'RUNNING', 0, 'web2:911', 868, 839, 779, NULL),
        ('mail', 'SendReminder', 'RUNNING', 4, 'web2:911', 861, 839, 779, NULL),
        ('reports', 'MonthlyReport', 'CLAIMED', 1, 'web2:912', 846, 841, 781, NULL),
        ('mail', 'SendReminder', 'RUNNING', 0, 'web2:912', 853, 841, 781, 600),
        ('mail', 'SendInvoice', 'RUNNING', 0, 'web1:4211', 47, 4, -2592000, NULL),
        ('media', 'ResizeVideo', 'RUNNING', 0, 'media2:2213', 5190, 9, -2592000, NULL),
        ('reports', 'MonthlyReport', 'RUNNING', 0, 'web1:4212', 12, -2592000, -2592060, NULL),
        ('mail', 'SendInvoice', 'QUEUED', 0, NULL, NULL, NULL, NULL, NULL),
        ('mail', 'SendReminder', 'QUEUED', 0, NULL, NULL, NULL, NULL, NULL),
        ('media', 'ResizeVideo', 'FAILED', 5, NULL, NULL, NULL, NULL, NULL))";

/// The application id with which `demo` marks its files: "JDMO".
const CREATED_BY_DEMO: i32 = 0x4a44_4d4f;

/// Makes a demonstration database: the reference schema, then what an incident leaves in it. Replaces a file only if
/// `demo` made it.
pub fn create_demo_file(path: &Path) -> Result<(), StoreError> {
    let denied = |message: String| StoreError::new(StoreErrorKind::Denied, message);
    if path.exists() {
        let ours = DatabaseFile::existing(path).ok().filter(|file| file.application_id() == Some(CREATED_BY_DEMO));
        let Some(ours) = ours else {
            let message = format!("{} exists and was not made by `jobdoctor demo`; it was not changed", path.display());
            return Err(denied(message).hint("name another file: jobdoctor demo FILE"));
        };
        for old in ["", "-wal", "-shm", "-journal"].map(|suffix| ours.sidecar(suffix)) {
            match fs::remove_file(&old) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(denied(format!("cannot replace {}: {error}", old.display())));
                }
                _ => {}
            }
        }
    }
    let file = DatabaseFile::existing_or_new(path)?;
    make(&file).map_err(|error| store_error(&file, error))
}

fn make(file: &DatabaseFile) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file.real(), flags)?;
    connection.pragma_update(None, "application_id", CREATED_BY_DEMO)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for statement in reference_schema(Engine::Sqlite, &Place::default()) {
        transaction.execute_batch(&statement)?;
    }
    transaction.execute_batch(JOBS)?;
    transaction.commit()
}
