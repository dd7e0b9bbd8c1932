//! Creates the reference schema and the ledger.

use super::{OpsError, Snapshot};
use crate::output::Init;
use crate::preset::{LEDGER, Place};
use crate::store::{Limits, Store, StoreError, StoreErrorKind, ledger_schema, reference_schema};

/// Creates the reference schema, or says what it would run.
///
/// # Errors
/// When the store cannot be written, or the table exists: nothing is ever replaced.
pub fn init(store: &dyn Store, limits: &Limits, place: &Place, create: bool) -> Result<Init, OpsError> {
    run(store, limits, reference_schema(store.engine(), place), create)
}

/// Creates the ledger in the schema of a queue, or says what it would run.
///
/// # Errors
/// When the store cannot be written, the ledger exists (nothing is ever replaced), or the queue's library would refuse
/// it.
pub fn init_ledger(store: &dyn Store, limits: &Limits, snapshot: Snapshot, create: bool) -> Result<Init, OpsError> {
    let spec = &snapshot.spec;
    let table = spec.tables.get(&spec.claim.lock_table);
    let statements = ledger_schema(spec.engine, table.map_or("", |table| table.schema.as_str()));
    let is_there = spec.ledger.is_some() || spec.ignored.contains_key(LEDGER);
    if let Some(table) = table.filter(|_| create && is_there) {
        let message = format!("there is a table {}.{LEDGER} already", table.schema);
        let hint = "`jobdoctor check` says whether it can be used; nothing is ever replaced";
        return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(hint).into());
    }
    if let Some(why) = &spec.no_ledger {
        let message = format!("preset {} takes no ledger: {why}", spec.preset);
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
