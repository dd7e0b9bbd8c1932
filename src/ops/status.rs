//! The situation of a queue on one screen: both of its sides by cause, and the last run.

use super::history::{Records, last_run};
use super::selection::Selection;
use super::session::Snapshot;
use super::{OpsError, interrupted, stale};
use crate::history::Directory;
use crate::model::{LONGEST_THRESHOLD, LockHolder, WaitingSide};
use crate::output::{Collector, Diagnosis, Stale, Status, StatusHead, StatusSummary, out_of_sight};
use crate::policy::{self, INTERRUPTED_WITHIN, Next, Policy};

/// Reads the situation, and what to do next about it. What could not be read is named there, and is never taken for
/// nothing.
pub fn status(
    snapshot: &mut Snapshot,
    policy: &Policy,
    journals: Option<&Directory>,
) -> Result<(Status, Option<Next>), OpsError> {
    // Without a threshold no claim is judged, but what waits is read.
    let untold = Selection::default().check(&snapshot.jobs, policy).err();
    let policy = if untold.is_some() { &Policy { older: Some(LONGEST_THRESHOLD), ..policy.clone() } } else { policy };
    let Stale { head, mut summary, diagnoses, .. } =
        stale::stale(snapshot, &Selection::default(), policy, Collector::first(0), &mut |_, _| false)?;
    let mut warnings = head.warnings;
    if let Some(error) = untold {
        summary.unknown = summary.in_flight;
        warnings.push(error.to_string());
    }
    let (mut causes, claims_alone) = (Vec::new(), diagnoses);
    let locks = snapshot.reader.long_locks(&snapshot.jobs).map_err(OpsError::from);
    let locks = or_warning(locks, "long transactions are", &mut warnings)?.unwrap_or_default();
    let (hidden, seen): (Vec<LockHolder>, _) = locks.into_iter().partition(|holder| holder.hidden);
    warnings.extend((!hidden.is_empty()).then(|| out_of_sight(hidden.len())));
    causes.extend(seen.into_iter().map(|holder| policy::Diagnosis::of_locks(holder, snapshot.now())));
    let states = snapshot.unfamiliar_states();
    match or_warning(states, "states that are not declared are", &mut warnings)?.flatten() {
        Some(found) if found.are_unasked() => warnings.push(found.sentence()),
        found => causes.extend(found.map(policy::Diagnosis::of_states)),
    }
    let mut causes = Diagnosis::list(causes, snapshot.now());
    let mut interrupted = None;
    if snapshot.views.tells_interrupted {
        let found = interrupted::causes(snapshot, policy, INTERRUPTED_WITHIN);
        if let Some((jobs, found)) = or_warning(found, "interrupted jobs are", &mut warnings)? {
            interrupted = Some(jobs);
            causes.extend(found);
        }
    }
    summary.diagnoses += causes.len() as u64;
    causes.extend(claims_alone);
    Diagnosis::sort(&mut causes);
    let next = [
        (summary.stuck > 0).then_some(Next::Reclaim),
        (interrupted > Some(0)).then_some(Next::ListInterrupted),
        (summary.unknown > 0).then_some(Next::List),
    ];
    let next = causes.iter().map(|cause| cause.of.next()).chain(next.into_iter().flatten()).min();
    let last_run = last_run(&mut Records { journals, snapshot: Some(snapshot) }).unwrap_or_else(|error| {
        warnings.push(format!("the last run is unknown: {error}"));
        None
    });
    let done = summary.waiting.as_ref().and_then(|waiting| {
        let done = waiting.queues.iter().map(|queue| queue.done_5m);
        done.sum::<Option<u64>>().filter(|_| !waiting.queues.is_empty())
    });
    let document = Status {
        head: StatusHead { schema: "jobdoctor.status/v1", store_time: head.store_time, target: head.target, warnings },
        summary: StatusSummary {
            counts: summary,
            interrupted,
            interrupted_unread: snapshot.views.tells_interrupted && interrupted.is_none(),
            done_5m: done,
            done_5m_is_more: done.is_some_and(|done| done > WaitingSide::MOST),
            last_run,
            next: None,
        },
        causes,
    };
    Ok((document, next))
}

/// What was read. If it could not be, a warning says so and there is none, unless the snapshot is spoiled.
fn or_warning<T>(read: Result<T, OpsError>, what: &str, warnings: &mut Vec<String>) -> Result<Option<T>, OpsError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(OpsError::Store(error)) if error.spoils_the_snapshot() => Err(error.into()),
        Err(error) => {
            warnings.push(format!("{what} unknown: {error}"));
            Ok(None)
        }
    }
}
