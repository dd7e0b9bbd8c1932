//! Jobs that the library failed because their worker died: a snapshot is turned to them, and a plan takes them in.

use super::OpsError;
use super::selection::Selection;
use super::session::Snapshot;
use super::survey::Survey;
use crate::output::{Diagnosis, advice};
use crate::policy::{Interrupted, Policy};
use crate::preset::{Jobs, SpecError};
use crate::store::Holders;
use std::ops::ControlFlow;
use std::time::Duration;

/// How many jobs were interrupted before those that a scan read; `None` for a snapshot of claims.
pub(super) fn older(snapshot: &mut Snapshot, jobs: &Jobs, scanned: &Holders) -> Result<Option<u64>, OpsError> {
    if !jobs.are_interrupted() {
        return Ok(None);
    }
    Ok(Some(snapshot.reader.in_flight(jobs)?.saturating_sub(scanned.claims())))
}

/// So many planned jobs, with what the brake compares them with.
pub(super) fn compared(
    snapshot: &mut Snapshot,
    of: &Jobs,
    jobs: u64,
    since: Duration,
) -> Result<Interrupted, OpsError> {
    let from = snapshot.now().minus(since);
    let ended = snapshot.reader.ended(of, from)?;
    Ok(Interrupted { jobs, ended, since })
}

/// How many jobs were interrupted within that time, and their causes.
pub(super) fn causes(
    snapshot: &mut Snapshot,
    policy: &Policy,
    since: Duration,
) -> Result<(u64, Vec<Diagnosis>), OpsError> {
    let of = snapshot.views.interrupted.clone()?;
    let policy = policy.clone().on_interrupted(since);
    let all = Selection::default();
    let mut jobs = 0;
    let mut seen = Survey::of(&of, &all, &policy).run(snapshot, &mut |_| {
        jobs += 1;
        ControlFlow::Continue(())
    })?;
    let concluded = seen.causes(snapshot)?;
    Ok((jobs, concluded.list))
}

/// Why jobs must not be retried unattended, if so. Without a stall budget, or where nothing counts, a job that kills its
/// worker would come back for ever.
pub fn why_unbounded(snapshot: &mut Snapshot, max_stalls: Option<u32>) -> Result<Option<&'static str>, OpsError> {
    let is_retried = snapshot.views.retries_interrupted();
    let retried = snapshot.views.interrupted.clone().ok().filter(|_| is_retried && max_stalls.is_some());
    let is_bounded = retried.map_or(Ok(false), |jobs| {
        snapshot.count_losses(&jobs)?;
        Ok::<_, OpsError>(snapshot.counts_stalls(&jobs))
    })?;
    Ok((!is_bounded).then(|| advice::interrupted_without_budget(is_retried, max_stalls.is_some())))
}

/// Refuses to retry jobs unattended where they must not be.
pub fn require_bounds(snapshot: &mut Snapshot, max_stalls: Option<u32>) -> Result<(), OpsError> {
    why_unbounded(snapshot, max_stalls)?.map_or(Ok(()), |why| Err(SpecError::whole("interrupted", why).into()))
}
