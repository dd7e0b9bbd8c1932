//! The situation of a queue on one screen: both of its sides by cause, and the last run.

use super::history::{Records, last_run};
use super::selection::Selection;
use super::session::Snapshot;
use super::{OpsError, interrupted, stale};
use crate::history::Directory;
use crate::model::{LONGEST_THRESHOLD, LockHolder, WaitingSide};
use crate::output::{Collector, Stale, Status, StatusHead, StatusSummary, held_for_long, not_understood, out_of_sight};
use crate::policy::{INTERRUPTED_WITHIN, Policy};

/// Reads the situation. What could not be read is named there, and is never taken for nothing.
pub fn status(snapshot: &mut Snapshot, policy: &Policy, journals: Option<&Directory>) -> Result<Status, OpsError> {
    // Without a threshold no claim is judged, but what waits is read.
    let untold = Selection::default().check(&snapshot.jobs, policy).err();
    let policy = if untold.is_some() { &Policy { older: Some(LONGEST_THRESHOLD), ..policy.clone() } } else { policy };
    let Stale { head, mut summary, diagnoses, .. } =
        stale::stale(snapshot, &Selection::default(), policy, Collector::first(0), &mut |_| false)?;
    let mut warnings = head.warnings;
    if let Some(error) = untold {
        summary.unknown = summary.in_flight;
        warnings.push(error.to_string());
    }
    let mut causes = diagnoses;
    match snapshot.reader.long_locks(&snapshot.jobs) {
        Ok(holders) => {
            let (hidden, seen): (Vec<LockHolder>, _) = holders.into_iter().partition(|holder| holder.hidden);
            warnings.extend((!hidden.is_empty()).then(|| out_of_sight(hidden.len())));
            summary.diagnoses += seen.len() as u64;
            // After the causes of due jobs: they may be why.
            let at = causes.iter().take_while(|cause| cause.of.what.is_of_due_jobs()).count();
            causes.splice(at..at, seen.iter().map(|holder| held_for_long(holder, snapshot.now())));
        }
        Err(error) if error.spoils_the_snapshot() => return Err(error.into()),
        Err(error) => warnings.push(format!("long transactions are unknown: {error}")),
    }
    match snapshot.unfamiliar_states() {
        Ok(Some(found)) if found.are_unasked() => {
            warnings.push(found.sentence(&head.target.table, &head.target.preset));
        }
        Ok(Some(found)) => {
            summary.diagnoses += 1;
            causes.push(not_understood(&found, &head.target, snapshot.mapping.is_some(), snapshot.now()));
        }
        Ok(None) => {}
        Err(OpsError::Store(error)) if error.spoils_the_snapshot() => return Err(error.into()),
        Err(error) => warnings.push(format!("states that are not declared are unknown: {error}")),
    }
    let (mut interrupted, mut interrupted_unread) = (None, false);
    if snapshot.views.tells_interrupted {
        match interrupted::causes(snapshot, policy, INTERRUPTED_WITHIN) {
            Ok((jobs, found)) => {
                interrupted = Some(jobs);
                summary.diagnoses += found.len() as u64;
                causes.extend(found);
            }
            Err(OpsError::Store(error)) if error.spoils_the_snapshot() => return Err(error.into()),
            Err(error) => {
                interrupted_unread = true;
                warnings.push(format!("interrupted jobs are unknown: {error}"));
            }
        }
    }
    let last_run = last_run(&mut Records { journals, snapshot: Some(snapshot) }).unwrap_or_else(|error| {
        warnings.push(format!("the last run is unknown: {error}"));
        None
    });
    let done = summary.waiting.as_ref().and_then(|waiting| {
        let done = waiting.queues.iter().map(|queue| queue.done_5m);
        done.sum::<Option<u64>>().filter(|_| !waiting.queues.is_empty())
    });
    Ok(Status {
        head: StatusHead { schema: "jobdoctor.status/v1", store_time: head.store_time, target: head.target, warnings },
        summary: StatusSummary {
            counts: summary,
            interrupted,
            interrupted_unread,
            done_5m: done,
            done_5m_is_more: done.is_some_and(|done| done > WaitingSide::MOST),
            last_run,
            next: None,
        },
        causes,
    })
}
