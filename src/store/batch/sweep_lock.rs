//! The sweep lock: one sweeper at a time. What is written is safe without it, because every step proves its precondition; the lock keeps runs
//! of several hosts from doing the same work at the same time, and from doing it again too soon.

use crate::model::{Cell, Clocks, Timestamp, age};
use crate::preset::QueueSpec;
use crate::store::session::{Session, WriteSession};
use crate::store::sql;
use crate::store::{StoreError, StoreErrorKind};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// The command whose runs hold off one another.
const SWEEP: &str = "sweep";
/// A run is named after the time at which it began, and may take so long until its last row is in the ledger.
const LONGEST_RUN: Duration = Duration::from_secs(86_400);

/// How a run's batches use the sweep lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepLock {
    /// The run is called off if a sweep of this queue has moved something within that time, as its ledger tells. Asked in the
    /// transaction of the first batch, where no other run can come between.
    pub min_interval: Option<Duration>,
}

/// Why a run is called off: the last sweep was less than `min_interval` ago, or is that little ahead of `now`, because a clock was set
/// back. `None` if it was earlier, or its time is so far ahead that it says nothing.
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
        "{table} was swept {when}, and --min-interval {} keeps the next sweep off until {due}; nothing was written",
        age(min_interval)
    );
    Some(
        StoreError::new(StoreErrorKind::Busy, message)
            .hint("nothing needs to be done: the next run after that does it"),
    )
}

/// The first thing in the transaction of a batch.
pub(super) fn acquire<S: WriteSession>(
    session: &mut S,
    spec: &QueueSpec,
    sweep_lock: SweepLock,
    now: Timestamp,
) -> Result<(), StoreError> {
    let table = job_table(spec);
    // Where only one session can write, the transaction itself is the lock.
    if session.shares_writes() {
        let key = key(spec);
        let got = session.query(&sql::acquire_sweep_lock(key))?;
        if got.first().and_then(|row| row.first()) != Some(&Cell::Integer(1)) {
            // Without time left to ask who has it, another run has it all the same.
            let who = match session.query(&sql::sweep_lock_holder(key)) {
                Err(error) if error.kind == StoreErrorKind::TimedOut => Vec::new(),
                answer => answer?,
            };
            let who = who.first().and_then(|row| row.first()).and_then(Cell::to_text);
            let who = who.map_or_else(String::new, |who| format!(" ({who})"));
            let message = format!("another sweep is writing to {table} at this moment{who}; nothing was written");
            return Err(StoreError::new(StoreErrorKind::SweepLockHeld, message)
                .hint("it does the same work; run again later, or let this one wait with --lock-wait 30s"));
        }
    }
    let Some(min_interval) = sweep_lock.min_interval else { return Ok(()) };
    let last = last_sweep(session, spec, now, min_interval)?;
    last.and_then(|last| too_soon(&table, last, min_interval, now)).map_or(Ok(()), Err)
}

/// When a sweep of this queue last moved something, as its ledger tells, if that is no longer ago than so, nor further ahead.
pub(in crate::store) fn last_sweep<S: Session + ?Sized>(
    session: &mut S,
    spec: &QueueSpec,
    now: Timestamp,
    within: Duration,
) -> Result<Option<Timestamp>, StoreError> {
    let Some(ledger) = spec.ledger.as_ref().filter(|ledger| ledger.lacks.is_empty() && ledger.may_read) else {
        return Ok(None);
    };
    let earliest = now.minus(within).minus(LONGEST_RUN).to_string();
    let runs_from: String = earliest.chars().filter(char::is_ascii_digit).take(14).collect();
    // Rows from before a clock was set back by more than that would hide the true ones for as long.
    let until = now.plus(within);
    let statement = sql::ledger_last(session.dialect(), ledger, SWEEP, &job_table(spec), &runs_from, until);
    Ok(match session.query(&statement)?.first().and_then(|row| row.first()) {
        Some(Cell::Instant(micros)) => Timestamp::from_micros(*micros),
        Some(Cell::Text(text)) => Timestamp::parse(text),
        _ => None,
    })
}

/// The table as the ledger names it.
fn job_table(spec: &QueueSpec) -> String {
    let table = spec.tables.get(&spec.claim.lock_table);
    table.map_or_else(String::new, |table| format!("{}.{}", table.schema, table.name))
}

/// The number of the lock: the first eight bytes of SHA-256 of `jobdoctor sweep SCHEMA.TABLE`. docs/cron.md says so too.
fn key(spec: &QueueSpec) -> i64 {
    let hash = Sha256::digest(format!("jobdoctor {SWEEP} {}", job_table(spec)));
    hash.iter().take(8).fold(0i64, |key, byte| (key << 8) | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_until_the_time_is_over() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let (last, min_interval) = (at("2026-11-20T10:00:00Z"), Duration::from_secs(60));
        let said = too_soon("main.jobs", last, min_interval, at("2026-11-20T10:00:20Z")).unwrap();
        assert_eq!(said.kind, StoreErrorKind::Busy);
        assert_eq!(
            said.message,
            "main.jobs was swept 20s ago, at 2026-11-20T10:00:00Z, and --min-interval 1m keeps the next sweep off until \
             2026-11-20T10:01:00Z; nothing was written"
        );
        assert!(too_soon("t", last, min_interval, at("2026-11-20T10:01:00Z")).is_none(), "the time is over");
        let ahead = too_soon("t", last, min_interval, at("2026-11-20T09:59:30Z")).unwrap();
        assert!(ahead.message.starts_with(
            "t was swept at 2026-11-20T10:00:00Z, which is 30s ahead of the database's clock and counts as just now, and --min-interval 1m"
        ));
        assert!(
            too_soon("t", last, min_interval, at("2026-11-20T09:59:00Z")).is_none(),
            "and not by more than it holds"
        );
    }
}
