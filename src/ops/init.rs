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
    let jobs = &snapshot.jobs;
    let table = jobs.queue.tables.get(&jobs.claim.lock_table);
    let statements = ledger_schema(jobs.queue.engine, table.map_or("", |table| table.schema.as_str()));
    let is_there = jobs.queue.ledger.is_some() || jobs.queue.ignored.contains_key(LEDGER);
    if let Some(table) = table.filter(|_| create && is_there) {
        let message = format!("there is a table {}.{LEDGER} already", table.schema);
        let hint = "`jobdoctor check` says whether it can be used; nothing is ever replaced";
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint).into());
    }
    if let Some(why) = &jobs.queue.no_ledger {
        let message = format!("preset {} takes no ledger: {why}", jobs.queue.preset);
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

/// Creates the demonstration database. Its times count from now, by SQLite's clock.
pub fn demo(path: &Path) -> Result<(), OpsError> {
    Ok(create_demo_file(path)?)
}
