//! Acquires the sweep lock of a queue for a run, and waits for it.

use super::OpsError;
use super::session::Snapshot;
use crate::model::{Batch, BatchReport};
use crate::output::advice;
use crate::preset::{Jobs, LEDGER};
use crate::store::{Limits, Recorder, StoreError, StoreErrorKind, Writer, chance, too_soon};
use std::time::{Duration, Instant};

/// The shortest and the longest pause between two attempts to acquire the lock. A batch holds it for some 20 ms.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

#[derive(Debug, Clone, Copy)]
pub struct LockOptions {
    /// The sweep is called off if the ledger records another one within that time.
    pub min_interval: Option<Duration>,
    /// The first batch waits for the lock until then; later batches wait as long as the run may take.
    pub until: Instant,
}

/// Applies a batch under the sweep lock. A batch that did not get the lock was not begun, so it is tried again, until
/// `until`.
pub(super) fn apply_with_lock(
    writer: &mut dyn Writer,
    jobs: &Jobs,
    batch: &Batch<'_>,
    recorder: &mut dyn Recorder,
    limits: &Limits,
    until: Instant,
) -> BatchReport<StoreError> {
    let mut waited_for: Option<StoreError> = None;
    loop {
        let mut done = writer.apply(jobs, batch, recorder);
        let waits = done.stop.as_ref().is_some_and(|stop| stop.kind == StoreErrorKind::SweepLockHeld);
        let until = until.min(limits.deadline);
        if !waits || limits.interrupt.is_raised() || Instant::now() >= until {
            done.stop = done.stop.map(|stop| in_vain(stop, waited_for));
            return done;
        }
        waited_for = done.stop;
        limits.interrupt.sleep(pause().min(until.saturating_duration_since(Instant::now())));
    }
}

/// The error of a batch that has waited for another run. If the time ran out in a later attempt, the error of the
/// cancelled statement does not say that the other run held the lock; the earlier error does.
fn in_vain(stop: StoreError, waited_for: Option<StoreError>) -> StoreError {
    match (waited_for, stop.kind) {
        (Some(_), StoreErrorKind::SweepLockHeld) => stop.hint(advice::WAITED),
        (Some(waited_for), StoreErrorKind::TimedOut) => waited_for.hint(advice::WAITED),
        _ => stop,
    }
}

/// A random pause, so that two runs that collided do not collide again.
pub fn pause() -> Duration {
    let (shortest, longest) = PAUSE;
    shortest + (longest - shortest).mul_f64(chance())
}

/// Why a sweep is called off before it is planned, if so: the ledger records another one within that time.
pub fn called_off(snapshot: &mut Snapshot, min_interval: Duration) -> Result<Option<StoreError>, OpsError> {
    let (table, now) = (snapshot.target.table.clone(), snapshot.now());
    let last = snapshot.reader.last_sweep(&snapshot.jobs, min_interval)?;
    Ok(last.and_then(|last| too_soon(&table, last, min_interval, now)))
}

/// The error of a run that needs the ledger, if there is one that does not count.
pub fn ignored_ledger(snapshot: &Snapshot) -> Option<StoreError> {
    snapshot.jobs.queue.ignored.get(LEDGER).map(|why| StoreError::new(StoreErrorKind::Unfit, why))
}

/// Why the ledger does not show every host the sweeps of all hosts; `None` if it does.
pub fn why_ledger_is_unusable(snapshot: &Snapshot) -> Option<String> {
    let table = &snapshot.target.table;
    let Some(ledger) = &snapshot.jobs.queue.ledger else { return Some(format!("{table} has no ledger")) };
    let name = format!("{}.{}", ledger.table.schema, ledger.table.name);
    match (ledger.lacks.as_slice(), ledger.may_read, ledger.may_insert) {
        ([], true, true) => None,
        ([], false, _) => Some(format!("this role may not read the ledger {name}")),
        ([], true, false) => Some(format!("this role may not add to the ledger {name}")),
        (lacks, ..) => Some(format!("the ledger {name} lacks {}", lacks.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_ran_out_during_the_wait_is_reported_as_that() {
        let error = |kind, message: &str| StoreError::new(kind, message);
        let cut_off = || error(StoreErrorKind::TimedOut, "canceling statement");
        let another = || error(StoreErrorKind::SweepLockHeld, "another sweep");
        for stop in [cut_off(), another()] {
            let stopped = in_vain(stop, Some(another()));
            assert_eq!((stopped.message.as_str(), stopped.hint.as_deref()), ("another sweep", Some(advice::WAITED)));
        }
        assert_eq!(in_vain(cut_off(), None).message, "canceling statement");
        assert_eq!(in_vain(another(), None).hint, None, "it has not waited");
        let lost = in_vain(error(StoreErrorKind::Lost, "lost"), Some(another()));
        assert_eq!(lost.kind, StoreErrorKind::Lost, "what else went wrong is not hidden");
    }
}
