//! Creates the reference schema, the ledger, and the demonstration: two hosts died, two are at work.

use super::{OpsError, Snapshot};
use crate::output::Init;
use crate::preset::{LEDGER, Place};
use crate::store::{Limits, Store, StoreError, StoreErrorKind, create_demo_file, ledger_schema, reference_schema};
use std::path::Path;

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

/// One job of the demonstration. Times are seconds before now; a negative one lies ahead.
struct Job {
    queue: &'static str,
    kind: &'static str,
    status: &'static str,
    owner: Option<&'static str>,
    claimed: Option<i64>,
    heartbeat: Option<i64>,
    lease: Option<i64>,
    attempts: i64,
    cancelled: bool,
}

const fn job(queue: &'static str, kind: &'static str, status: &'static str) -> Job {
    Job { queue, kind, status, owner: None, claimed: None, heartbeat: None, lease: None, attempts: 0, cancelled: false }
}

impl Job {
    const fn held(mut self, owner: &'static str, claimed: i64, heartbeat: i64, lease: i64) -> Job {
        self.owner = Some(owner);
        self.claimed = Some(claimed);
        self.heartbeat = Some(heartbeat);
        self.lease = Some(lease);
        self
    }

    const fn attempts(mut self, attempts: i64) -> Job {
        self.attempts = attempts;
        self
    }

    const fn cancelled(mut self) -> Job {
        self.cancelled = true;
        self
    }
}

/// No worker runs that could renew a lease. So the living hold leases for a month, and the clock of the worker that
/// makes no sense is a month ahead: the demonstration shows the same tomorrow.
const MONTH: i64 = 30 * 86_400;

/// The incident: `web2` was killed 14 minutes ago with four jobs, one of them on its last attempt and one with a cancel
/// request; `media1` followed 41 minutes ago with a long one; `web1` and `media2` are at work.
const JOBS: [Job; 13] = [
    job("mail", "SendInvoice", "SUCCEEDED").attempts(1),
    job("mail", "SendInvoice", "SUCCEEDED"),
    job("media", "ResizeVideo", "RUNNING").held("media1:2207", 4_410, 2_471, 2_411).attempts(1),
    job("mail", "SendInvoice", "RUNNING").held("web2:911", 868, 839, 779),
    job("mail", "SendReminder", "RUNNING").held("web2:911", 861, 839, 779).attempts(4),
    job("reports", "MonthlyReport", "CLAIMED").held("web2:912", 846, 841, 781).attempts(1),
    job("mail", "SendReminder", "RUNNING").held("web2:912", 853, 841, 781).cancelled(),
    job("mail", "SendInvoice", "RUNNING").held("web1:4211", 47, 4, -MONTH),
    job("media", "ResizeVideo", "RUNNING").held("media2:2213", 5_190, 9, -MONTH),
    job("reports", "MonthlyReport", "RUNNING").held("web1:4212", 12, -MONTH, -MONTH - 60),
    job("mail", "SendInvoice", "QUEUED"),
    job("mail", "SendReminder", "QUEUED"),
    job("media", "ResizeVideo", "FAILED").attempts(5),
];

/// Creates the demonstration database. Its times count from now, by SQLite's clock.
pub fn demo(path: &Path) -> Result<(), OpsError> {
    Ok(create_demo_file(path, &JOBS.iter().map(insert).collect::<Vec<_>>())?)
}

fn insert(job: &Job) -> String {
    let at = |seconds: Option<i64>| match seconds {
        Some(seconds) => format!("unixepoch() - ({seconds})"),
        None => "NULL".to_owned(),
    };
    let text = |text: Option<&str>| text.map_or_else(|| "NULL".to_owned(), |text| format!("'{text}'"));
    format!(
        "INSERT INTO jobs (queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at, \
         attempts, cancel_requested_at, created_at) VALUES ('{}', '{}', '{}', {}, {}, {}, {}, {}, {}, {}, \
         unixepoch() - 7200)",
        job.queue,
        job.kind,
        job.status,
        text(job.owner),
        if job.owner.is_some() { "hex(randomblob(8))" } else { "NULL" },
        at(job.claimed),
        at(job.heartbeat),
        at(job.lease),
        job.attempts,
        at(job.cancelled.then_some(600)),
    )
}
