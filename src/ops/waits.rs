//! Says what jobs wait for that wait.

use super::OpsError;
use super::selection::Selection;
use super::session::Snapshot;
use super::waiting::{self, StuckByQueue};
use crate::model::{Reading, WaitingSide};
use crate::output::{ShownJob, Waits};
use crate::policy::{Policy, QueueFlow};
use crate::preset::{DueSpec, StateSource, StateValue};
use crate::store::{Detail, Found, Scan, Wanted};
use std::ops::ControlFlow;

/// Says of the shown jobs that wait what they wait for.
pub(super) fn explain(
    snapshot: &mut Snapshot,
    ids: &[String],
    shown: &mut [(Found, ShownJob)],
) -> Result<(), OpsError> {
    let Ok(told) = snapshot.views.waiting.clone() else { return Ok(()) };
    let staged = told.staged.iter().map(|(by, staged)| (staged, Some(by)));
    let mut flows: Option<Vec<QueueFlow>> = None;
    for (due, stager) in std::iter::once((&told.due, None)).chain(staged) {
        let jobs = &due.jobs;
        if jobs.claim.key.is_empty() {
            continue;
        }
        let table = jobs.table();
        for found in snapshot.reader.find(jobs, ids).unwrap_or_default() {
            let claim = &found.claim;
            let key = claim.key.exact();
            let is_it = |(known, job): &&mut (Found, ShownJob)| {
                !job.in_flight && known.claim.key.exact() == key && job.table == table
            };
            let Some((_, job)) = shown.iter_mut().find(is_it) else { continue };
            let is_held = claim.extra.first().is_some_and(Option::is_some);
            let may_wait = |all: &[StateValue]| all.iter().any(|state| state.name == job.job.state);
            let has_states = matches!(jobs.claim.state, StateSource::Column(_));
            let waits_held = is_held && (!has_states || may_wait(&snapshot.jobs.queue.states.waiting));
            if !(found.in_flight || waits_held || may_wait(&jobs.states)) {
                continue;
            }
            if flows.is_none() {
                flows = Some(flows_of(snapshot)?);
            }
            let flow = flows.iter().flatten().find(|flow| flow.queue == claim.queue);
            let waits = waits(snapshot, due, stager, &found);
            let flow = flow.filter(|_| waits.not_before_at.is_none() && waits.held.is_none());
            let (paused, workers) = (flow.is_some_and(|flow| flow.paused), flow.and_then(|flow| flow.workers));
            job.waits = Some(Waits { paused, workers, ..waits });
        }
    }
    Ok(())
}

/// Says what a job waits for that a stager, if any, moves on first. What holds up its whole queue is not asked.
fn waits(snapshot: &mut Snapshot, due: &DueSpec, stager: Option<&String>, found: &Found) -> Waits {
    let (now, claim, may_be_taken) = (snapshot.now(), &found.claim, found.in_flight);
    let ahead = [claim.deadline.at(), claim.claimed_at.at()].map(|at| at.filter(|at| at.micros() > now.micros()));
    let not_before = ahead.into_iter().flatten().max_by_key(|at| at.micros());
    if not_before.is_some() {
        return Waits { not_before_at: not_before, ..Waits::default() };
    }
    let since_at = claim.claimed_at.at();
    let held = match (&claim.deadline, stager) {
        (Reading::Unfit { why, .. }, _) if since_at.is_none() => {
            Some(format!("the time before which it is not due {why}"))
        }
        (_, Some(by)) => Some(format!("{by} has not moved it on yet")),
        _ => claim.extra.first().cloned().flatten(),
    };
    let held = held.or_else(|| (!may_be_taken).then(|| "a rule of the queue keeps workers from it".to_owned()));
    if held.is_some() {
        return Waits { since_at, held, ..Waits::default() };
    }
    let before = since_at.map(|since| snapshot.reader.due_before(due, claim.queue.as_deref(), since));
    Waits { since_at, before: before.and_then(Result::ok), ..Waits::default() }
}

/// The waiting side by queue. The claims that are read with it are of no use here.
fn flows_of(snapshot: &mut Snapshot) -> Result<Vec<QueueFlow>, OpsError> {
    let mut side = WaitingSide::default();
    let each = &mut |_| ControlFlow::Break(());
    let Snapshot { reader, views, .. } = &mut *snapshot;
    let waiting = views.waiting.as_deref().ok().map(|told| (told, &mut side));
    let scan = Scan { most: Some(0), waiting, ..Scan::of(&views.claims, Wanted::All, Detail::ForListing) };
    reader.scan_until(scan, each)?;
    let policy = Policy::default();
    Ok(waiting::concluded(snapshot, side, &StuckByQueue::new(), &Selection::default(), &policy).0.queues)
}
