//! Jobs that the library failed because their worker died: a snapshot is turned to them, and a plan takes them in.

use super::OpsError;
use super::diagnosis::diagnosed;
use super::scan::judged;
use super::selection::Selection;
use super::session::{Session, Snapshot};
use crate::model::Claim;
use crate::output::{Diagnosis, advice};
use crate::policy::{Diagnoses, Interrupted, Judgement, PlannedActions, Policy, draft};
use crate::preset::{QueueSpec, SpecError};
use crate::store::{Detail, Holders};
use std::ops::ControlFlow;
use std::time::Duration;

impl Session<'_> {
    /// Begins a snapshot of the interrupted jobs. Its target is that of the queue.
    pub fn snapshot_of_interrupted(&self) -> Result<Snapshot, OpsError> {
        let mut snapshot = self.snapshot()?;
        snapshot.spec = self.interrupted(&mut snapshot)?;
        Ok(snapshot)
    }
}

/// How many jobs were interrupted before those that a scan read; `None` for a snapshot of claims.
pub(super) fn older(snapshot: &mut Snapshot, scanned: &Holders) -> Result<Option<u64>, OpsError> {
    if snapshot.spec.interrupted.is_none() {
        return Ok(None);
    }
    Ok(Some(snapshot.reader.in_flight(&snapshot.spec)?.saturating_sub(scanned.claims())))
}

/// So many planned jobs, with what the brake compares them with.
pub(super) fn compared(snapshot: &mut Snapshot, jobs: u64, since: Duration) -> Result<Interrupted, OpsError> {
    let from = snapshot.now().minus(since);
    let ended = snapshot.reader.ended(&snapshot.spec, from)?;
    Ok(Interrupted { jobs, ended, since })
}

/// How many jobs were interrupted within that time, in the snapshot of a queue, and their causes.
pub(super) fn causes(
    session: &Session<'_>,
    snapshot: &mut Snapshot,
    policy: &Policy,
    since: Duration,
) -> Result<(u64, Vec<Diagnosis>), OpsError> {
    let spec = session.interrupted(snapshot)?;
    let claims = std::mem::replace(&mut snapshot.spec, spec.clone());
    let policy = policy.clone().on_interrupted(since);
    let mut found = Diagnoses::new(&spec);
    let mut jobs = 0;
    let mut each = |spec: &QueueSpec, claim: &Claim, judgement: Judgement, _: bool| {
        jobs += 1;
        let would = draft(spec, claim, &judgement, &policy).step().map(|step| step.action);
        found.add(claim, &judgement, true, PlannedActions::of(would));
        ControlFlow::Continue(())
    };
    let scanned = judged(snapshot, &Selection::default(), &policy, Detail::ForListing, None, None, &mut each);
    let concluded = scanned.and_then(|scanned| diagnosed(snapshot, found, &scanned.holders.unwrap_or_default()));
    snapshot.spec = claims;
    Ok((jobs, concluded?.list))
}

/// Why jobs must not be retried unattended, if so. Without a stall budget, or where nothing counts, a job that kills its
/// worker would come back for ever.
pub fn why_unbounded(snapshot: &Snapshot, max_stalls: Option<u32>) -> Option<&'static str> {
    let is_retried = snapshot.spec.retries_interrupted;
    let is_bounded = is_retried && max_stalls.is_some() && snapshot.counts_stalls();
    (!is_bounded).then(|| advice::interrupted_without_budget(is_retried, max_stalls.is_some()))
}

/// Refuses to retry jobs unattended where they must not be.
pub fn is_bounded(snapshot: &Snapshot, max_stalls: Option<u32>) -> Result<(), OpsError> {
    why_unbounded(snapshot, max_stalls).map_or(Ok(()), |why| Err(SpecError::whole("interrupted", why).into()))
}
