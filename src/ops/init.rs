//! Creates the reference schema, the ledger, and the demonstration: two hosts died, two are at work.

use super::{OpsError, Snapshot};
use crate::output::Init;
use crate::preset::{LEDGER, Place};
use crate::store::{Limits, Store, StoreError, StoreErrorKind, create_demo_file, ledger_schema, reference_schema};
use std::path::Path;

/// Creates the reference schema, or says what it would run. Nothing is ever replaced.
pub fn init(store: &dyn Store, limits: &Limits, place: &Place, create: bool) -> Result<Init, OpsError> {
    run(store, limits, reference_schema(store.engine(), place), create)
}

/// Creates the ledger in the schema of a queue, or says what it would run. Nothing is ever replaced.
pub fn init_ledger(store: &dyn Store, limits: &Limits, snapshot: Snapshot, create: bool) -> Result<Init, OpsError> {
    let spec = &snapshot.jobs;
    let table = spec.queue.tables.get(&spec.claim.lock_table);
    let statements = ledger_schema(spec.queue.engine, table.map_or("", |table| table.schema.as_str()));
    let is_there = spec.queue.ledger.is_some() || spec.queue.ignored.contains_key(LEDGER);
    if let Some(table) = table.filter(|_| create && is_there) {
        let message = format!("there is a table {}.{LEDGER} already", table.schema);
        let hint = "`jobdoctor check` says whether it can be used; nothing is ever replaced";
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint).into());
    }
    if let Some(why) = &spec.queue.no_ledger {
        let message = format!("preset {} takes no ledger: {why}", spec.queue.preset);
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint("the journal keeps every run").into());
    }
    // An open snapshot would block the creation.
    drop(snapshot);
    run(store, limits, statements, create)
}

fn run(store: &dyn Store, limits: &Limits, statements: Vec<String>, create: bool) -> Result<Init, OpsError> {
    if create {
        store.create(limits, &statements)?;
    }
    Ok(Init {
        schema: "jobdoctor.init/v1",
        engine: store.engine().to_string(),
        database: store.label().to_owned(),
        statements,
        created: create,
    })
}

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

/// Creates the demonstration database. Its times count from now, by SQLite's clock.
pub fn demo(path: &Path) -> Result<(), OpsError> {
    Ok(create_demo_file(path, JOBS)?)
}
