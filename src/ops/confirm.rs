//! Confirms a plan by a second snapshot: only what is unchanged in both is acted on.

use super::OpsError;
use super::diagnosis::diagnosed_again;
use super::plan::{Part, Plan, PlanSource, ReadyPlan, Tally};
use super::session::Snapshot;
use super::show::not_in_flight;
use crate::model::{Claim, Key, Step};
use crate::output::{Job, SkippedJob, Spool, StepJob};
use crate::policy::{Draft, Finding, Policy, SkipReason, Skipped, Verdict, draft, judge};
use crate::store::{Limits, StoreError, StoreErrorKind};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io;
use std::time::Duration;

/// The least pause before another second snapshot.
const BLINK: Duration = Duration::from_millis(20);
/// Changed jobs that one query reads, to report how they changed.
const LOOKUP: usize = 500;

/// Waits, takes a second snapshot, and keeps of a plan the steps that are equal in both: the same precondition,
/// evidence row and action. A step that changed in between is skipped. A step of the second snapshot alone is left to
/// the next run.
///
/// The two snapshots are `after` apart by the database's clock. No connection stays open during the wait.
pub fn confirm(
    next_snapshot: &dyn Fn() -> Result<Snapshot, OpsError>,
    limits: &Limits,
    first: ReadyPlan,
    asked: &PlanSource,
    policy: &Policy,
    after: Duration,
) -> Result<ReadyPlan, OpsError> {
    let first = first.into_plan();
    let (mut snapshot, apart) = second_snapshot(next_snapshot, limits, &first, after)?;
    let mut second = asked.plan_without_limit(&mut snapshot, policy)?;
    let mut unconfirmed: HashMap<String, [u8; 32]> = HashMap::new();
    for step in first.claims.steps() {
        let step = step?;
        unconfirmed.insert(step.key.exact(), print(&step)?);
    }
    let (mut part, mut tally) = (Part::new(second.claims.spec.clone()), Tally::default());
    for step in second.claims.iter() {
        let (step, job) = step?;
        let key = step.key.exact();
        if unconfirmed.get(&key) == Some(&print(&step)?) {
            unconfirmed.remove(&key);
            tally.add(&step, job.job.stalls);
            part.push(step, job)?;
        }
    }
    let mut moved: Vec<(Key, StepJob)> = Vec::new();
    for step in first.claims.iter() {
        let (step, job) = step?;
        if unconfirmed.contains_key(&step.key.exact()) {
            moved.push((step.key, job));
        }
    }
    second.skipped = with_changed(&mut snapshot, &second.skipped, moved, policy, apart)?;
    part.sort();
    if second.diagnosed.count > 0 && part.len() != second.claims.len() {
        second.diagnosed = diagnosed_again(&mut snapshot, policy, &part)?;
    }
    second.warnings = if part.is_empty() { Vec::new() } else { first.warnings };
    second.claims = part;
    (second.digest, second.by_action) = tally.finish();
    (second.filter, second.beyond_limit, second.not_found) = (first.filter, first.beyond_limit, first.not_found);
    second.confirmed_after = Some(apart);
    Ok(second.ready(snapshot))
}

/// The second snapshot, and how long after the first one it is.
fn second_snapshot(
    next_snapshot: &dyn Fn() -> Result<Snapshot, OpsError>,
    limits: &Limits,
    first: &Plan,
    after: Duration,
) -> Result<(Snapshot, Duration), OpsError> {
    let mut wait = after;
    loop {
        sleep(limits, wait)?;
        let snapshot = next_snapshot()?;
        let apart = snapshot.now().since(first.store_time);
        if apart >= after {
            return Ok((snapshot, apart));
        }
        // The database's clock is slower than ours, or was set back.
        wait = (after - apart).max(BLINK);
    }
}

pub(super) fn sleep(limits: &Limits, span: Duration) -> Result<(), OpsError> {
    if limits.interrupt.sleep(span.min(limits.left())) {
        return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted before the second snapshot").into());
    }
    if limits.left().is_zero() {
        let message = "the time limit ran out before the second snapshot";
        return Err(StoreError::new(StoreErrorKind::TimedOut, message).into());
    }
    Ok(())
}

/// The skipped jobs of the second snapshot, and the steps of the first one that changed since.
fn with_changed(
    snapshot: &mut Snapshot,
    before: &Spool<SkippedJob>,
    moved: Vec<(Key, StepJob)>,
    policy: &Policy,
    apart: Duration,
) -> Result<Spool<SkippedJob>, OpsError> {
    let mut list = Spool::default();
    let mut ids: Vec<String> = moved.iter().map(|(_, step)| step.job.id.clone()).collect();
    ids.sort();
    for known in before.iter() {
        let known = known?;
        if ids.binary_search(&known.job.id).is_err() {
            list.push(known.job.order(), known)?;
        }
    }
    for some in moved.chunks(LOOKUP) {
        let keys: Vec<Key> = some.iter().map(|(key, _)| key.clone()).collect();
        let found = snapshot.find_keys(&keys)?;
        for (key, step) in some {
            let found = found.iter().find(|(claim, _)| claim.key.exact() == key.exact());
            let moved = moved_job(snapshot, step, found, policy, apart);
            list.push(moved.job.order(), moved)?;
        }
    }
    list.sort();
    Ok(list)
}

fn moved_job(
    snapshot: &Snapshot,
    step: &StepJob,
    found: Option<&(Claim, bool)>,
    policy: &Policy,
    apart: Duration,
) -> SkippedJob {
    let why = |what: Finding| Skipped {
        reason: SkipReason::ChangedBetweenSnapshots,
        findings: vec![Finding::BetweenSnapshots(apart), what],
    };
    let Some((claim, in_flight)) = found else {
        return SkippedJob { job: step.job.clone(), skipped: why(Finding::RowGone).into() };
    };
    let spec = &snapshot.spec;
    let judgement = judge(spec, claim, policy, snapshot.now());
    let draft = if *in_flight { draft(spec, claim, &judgement, policy) } else { not_in_flight(&claim.state) };
    let is_stuck = *in_flight && matches!(judgement.verdict, Verdict::Stuck(_));
    let skipped = why(match draft {
        Draft::Skipped(skipped) if !is_stuck => Finding::Skipped(skipped),
        _ => Finding::RowChanged,
    });
    let job = match in_flight {
        true => Job::of(spec, claim, policy, &judgement, &Draft::Skipped(skipped.clone())),
        false => Job { state: claim.state.clone(), action: None, ..step.job.clone() },
    };
    SkippedJob { job, skipped: skipped.into() }
}

fn print(step: &Step) -> io::Result<[u8; 32]> {
    Ok(Sha256::digest(serde_json::to_vec(step)?).into())
}
