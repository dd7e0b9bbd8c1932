//! How a run acquires the sweep lock of a queue, and how long it waits for it.

use super::OpsError;
use super::session::Snapshot;
use crate::model::{Batch, BatchReport, Timestamp};
use crate::preset::QueueSpec;
use crate::store::{Limits, Recorder, StoreError, StoreErrorKind, SweepLock, Writer, too_soon};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// The shortest and the longest pause between two attempts to acquire the lock. A batch holds it for some 20 ms.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

/// What to do where one has waited for another run in vain.
pub const WAITED: &str = "this one has waited for it until --lock-wait or --timeout was over; it does the same work, so that the \
                          next run has less to do";

/// How a run uses the sweep lock.
#[derive(Debug, Clone, Copy)]
pub struct LockOptions {
    /// It is called off if a sweep of this queue has moved something within that time, as the ledger tells.
    pub min_interval: Option<Duration>,
    /// Until when the first batch may wait for the lock; the others wait for as long as the run may take.
    pub until: Instant,
}

impl LockOptions {
    /// Has a writer acquire the lock in each batch.
    pub(super) fn begin(&self, writer: &mut dyn Writer) {
        writer.use_sweep_lock(SweepLock { min_interval: self.min_interval });
    }
}

/// Applies a batch under the sweep lock. A batch that did not get the lock was not begun, so it is tried again, until `until`.
pub(super) fn apply_with_lock(
    writer: &mut dyn Writer,
    spec: &QueueSpec,
    batch: &Batch<'_>,
    recorder: &mut dyn Recorder,
    limits: &Limits,
    until: Instant,
) -> BatchReport<StoreError> {
    let mut waited_for: Option<StoreError> = None;
    loop {
        let mut done = writer.apply(spec, batch, recorder);
        let waits = done.stop.as_ref().is_some_and(|stop| stop.kind == StoreErrorKind::SweepLockHeld);
        let until = until.min(limits.deadline);
        if !waits || limits.interrupt.is_raised() || Instant::now() >= until {
            done.stop = done.stop.map(|stop| in_vain(stop, waited_for));
            return done;
        }
        waited_for = done.stop;
        std::thread::sleep(pause().min(until.saturating_duration_since(Instant::now())));
    }
}

/// Why a batch has stopped that has waited for another run. Time that ran out during another attempt was spent by the
/// run that held the lock: the error of a statement that was cut off does not say so.
fn in_vain(stop: StoreError, waited_for: Option<StoreError>) -> StoreError {
    match (waited_for, stop.kind) {
        (Some(_), StoreErrorKind::SweepLockHeld) => stop.hint(WAITED),
        (Some(waited_for), StoreErrorKind::TimedOut) => waited_for.hint(WAITED),
        _ => stop,
    }
}

/// A pause that is another one in each run, so that runs which met once do not meet again.
pub fn pause() -> Duration {
    let (shortest, longest) = PAUSE;
    let random = RandomState::new().build_hasher().finish();
    shortest + (longest - shortest).mul_f64((random % 1000) as f64 / 1000.0)
}

/// Why a sweep is called off before it is planned, if so: one has moved something within that time, as the ledger tells.
///
/// # Errors
/// When the ledger cannot be read.
pub fn called_off(snapshot: &mut Snapshot, min_interval: Duration) -> Result<Option<StoreError>, OpsError> {
    let (table, now) = (snapshot.target.table.clone(), snapshot.now());
    let last: Option<Timestamp> = snapshot.reader.last_sweep(&snapshot.spec, min_interval)?;
    Ok(last.and_then(|last| too_soon(&table, last, min_interval, now)))
}

/// Why the ledger does not tell every host of a sweep on any of them; `None` if it does.
pub fn untold(snapshot: &Snapshot) -> Option<String> {
    let table = &snapshot.target.table;
    let Some(ledger) = &snapshot.spec.ledger else { return Some(format!("{table} has no ledger")) };
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
    fn time_that_ran_out_in_line_is_told_as_that() {
        let error = |kind, message: &str| StoreError::new(kind, message);
        let cut_off = || error(StoreErrorKind::TimedOut, "canceling statement");
        let another = || error(StoreErrorKind::SweepLockHeld, "another sweep");
        for stop in [cut_off(), another()] {
            let told = in_vain(stop, Some(another()));
            assert_eq!((told.message.as_str(), told.hint.as_deref()), ("another sweep", Some(WAITED)));
        }
        assert_eq!(in_vain(cut_off(), None).message, "canceling statement");
        assert_eq!(in_vain(another(), None).hint, None, "it has not waited");
        let lost = in_vain(error(StoreErrorKind::Lost, "lost"), Some(another()));
        assert_eq!(lost.kind, StoreErrorKind::Lost, "what else went wrong is not hidden");
    }
}
