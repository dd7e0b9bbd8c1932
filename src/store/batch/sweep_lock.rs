//! The sweep lock: one sweeper at a time, and a minimum interval between sweeps. Writes are safe without it, because
//! every step proves its precondition; it keeps several hosts from doing the same work at the same time or again too
//! soon.

use crate::model::{Cell, Clocks, Remedy, Timestamp, age};
use crate::preset::Jobs;
use crate::store::session::Session;
use crate::store::sql::{self, Param, Statement};
use crate::store::{StoreError, StoreErrorKind};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// Acquires the lock on Postgres, or says at once that another session has it. The lock ends with its transaction, so
/// it works behind poolers, and a killed run leaves none.
const ACQUIRE: &str = "SELECT pg_catalog.pg_try_advisory_xact_lock($1::bigint)";
/// The session that holds the lock, in words; no row if it has ended. Of a session of another role only the process is
/// visible.
const HOLDER: &str = "SELECT 'server process ' || l.pid::text \
    || coalesce(', ' || nullif(a.application_name, ''), '') || coalesce(', user ' || a.usename::text, '') \
    || coalesce(', from ' || a.client_addr::text, '') \
    FROM pg_catalog.pg_locks AS l LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid \
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
    AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) \
    AND ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint LIMIT 1";
/// The command whose runs exclude one another.
const SWEEP: &str = "sweep";
/// The longest time between the start of a run, which is in its id, and its last ledger row.
const LONGEST_RUN: Duration = Duration::from_secs(86_400);

/// How a run's batches use the sweep lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepLock {
    /// Refuses the run if a sweep of this queue moved a job within this time, by the queue's ledger. Checked in the
    /// transaction of the first batch, where no other run can come between.
    pub min_interval: Option<Duration>,
}

/// Why a run is refused: the last sweep was less than `min_interval` ago, or is less than that ahead of `now` because a
/// clock was set back. `None` if it was earlier, or further ahead.
pub fn too_soon(table: &str, last: Timestamp, min_interval: Duration, now: Timestamp) -> Option<StoreError> {
    let due = last.plus(min_interval);
    if !due.is_after(now, Clocks::One) || !now.plus(min_interval).is_after(last, Clocks::One) {
        return None;
    }
    let when = match last.is_after(now, Clocks::One) {
        false => format!("{} ago, at {last}", age(now.since(last))),
        true => {
            format!("at {last}, which is {} ahead of the database's clock and counts as just now", age(last.since(now)))
        }
    };
    let message = format!(
        "{table} was swept {when}, and the minimum interval of {} keeps the next sweep off until {due}; nothing was written",
        age(min_interval)
    );
    Some(
        StoreError::new(StoreErrorKind::Busy, message)
            .hint("nothing needs to be done: the next run after that does it"),
    )
}

/// Acquires the lock and checks the minimum interval, first in a batch's transaction.
pub(super) fn acquire<S: Session>(
    session: &mut S,
    jobs: &Jobs,
    sweep_lock: SweepLock,
    now: Timestamp,
) -> Result<(), StoreError> {
    let table = job_table(jobs);
    // If only one session can write, the transaction itself is the lock.
    if session.shares_writes() {
        let key = key(jobs);
        let with_key = |sql: &str| Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Integer(key))] };
        if session.value(&with_key(ACQUIRE))? != Some(Cell::Integer(1)) {
            // If no time is left to ask which run holds it, the answer is the same without a name.
            let who = match session.value(&with_key(HOLDER)) {
                Err(error) if error.kind == StoreErrorKind::TimedOut => None,
                answer => answer?.and_then(Cell::into_text),
            };
            let who = who.map_or_else(String::new, |who| format!(" ({who})"));
            let message = format!("another sweep is writing to {table} at this moment{who}; nothing was written");
            return Err(StoreError::new(StoreErrorKind::SweepLockHeld, message)
                .hint("it does the same work; run again later")
                .remedy(Remedy::WaitForSweepLock));
        }
    }
    let Some(min_interval) = sweep_lock.min_interval else { return Ok(()) };
    let last = last_sweep(&mut |asked| session.value(asked), jobs, now, min_interval)?;
    last.and_then(|last| too_soon(&table, last, min_interval, now)).map_or(Ok(()), Err)
}

/// When a sweep of this queue last moved a job, if that was `within` this time; a time that is further ahead counts as
/// none.
pub(in crate::store) fn last_sweep(
    ask: &mut dyn FnMut(&Statement) -> Result<Option<Cell>, StoreError>,
    jobs: &Jobs,
    now: Timestamp,
    within: Duration,
) -> Result<Option<Timestamp>, StoreError> {
    let Some(ledger) = jobs.queue.ledger.as_ref().filter(|ledger| ledger.lacks.is_empty() && ledger.may_read) else {
        return Ok(None);
    };
    let earliest = now.minus(within).minus(LONGEST_RUN).to_string();
    let runs_from: String = earliest.chars().filter(char::is_ascii_digit).take(14).collect();
    // Rows from before a clock was set back by more than that must not hide later ones.
    let until = now.plus(within);
    let statement =
        sql::ledger_last(sql::dialect(jobs.queue.engine), ledger, SWEEP, &job_table(jobs), &runs_from, until);
    Ok(match ask(&statement)? {
        Some(Cell::Instant(micros)) => Timestamp::from_micros(micros),
        Some(Cell::Text(text)) => Timestamp::parse(&text),
        _ => None,
    })
}

/// The table's name in the ledger.
fn job_table(jobs: &Jobs) -> String {
    let table = jobs.queue.tables.get(&jobs.claim.lock_table);
    table.map_or_else(String::new, |table| format!("{}.{}", table.schema, table.name))
}

/// The lock's key: the first eight bytes of SHA-256 of `jobdoctor sweep SCHEMA.TABLE`, as docs/cron.md says.
fn key(jobs: &Jobs) -> i64 {
    let hash = Sha256::digest(format!("jobdoctor {SWEEP} {}", job_table(jobs)));
    hash.iter().take(8).fold(0i64, |key, byte| (key << 8) | i64::from(*byte))
}
