//! Confirms a plan by a second snapshot: only what is unchanged in both is acted on.

use super::OpsError;
use super::pass::Pass;
use super::plan::{Part, Plan, PlanSource, ReadyPlan};
use super::session::Snapshot;
use super::spool::Spool;
use crate::model::{Claim, Key, Step};
use crate::output::{Job, StepJob};
use crate::policy::{Draft, Finding, Policy, SkipReason, Skipped, Verdict};
use crate::store::{Limits, StoreError, StoreErrorKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// The least pause before another second snapshot.
const BLINK: Duration = Duration::from_millis(20);
/// Changed jobs that one query reads, to report how they changed.
const LOOKUP: usize = 500;

impl Pass<'_> {
    /// Waits, takes a second snapshot, and keeps of a plan the steps that are equal in both: the same precondition,
    /// evidence row and action. A step that changed in between is skipped. A step of the second snapshot alone is left to
    /// the next run.
    ///
    /// The two snapshots are `after` apart by the database's clock. No connection stays open during the wait.
    pub(super) fn confirm(
        &self,
        first: ReadyPlan,
        asked: &PlanSource,
        policy: &Policy,
        after: Duration,
    ) -> Result<ReadyPlan, OpsError> {
        let first = first.into_plan();
        let (mut snapshot, apart) = self.second_snapshot(&first, after)?;
        let mut second = asked.only(&first).plan(&mut snapshot, policy)?;
        let before = second.len();
        for (part, then) in second.parts.iter_mut().zip(first.parts) {
            let mut changed: BTreeMap<String, (Step, StepJob)> =
                then.steps.into_iter().map(|(step, job)| (step.key.exact(), (step, job))).collect();
            part.steps.retain(|(step, _)| {
                let key = step.key.exact();
                let is_in_both = changed.get(&key).is_some_and(|(then, _)| then == step);
                is_in_both && changed.remove(&key).is_some()
            });
            part.beyond = then.beyond;
            for (job, mut why) in changed_jobs(&mut snapshot, part, changed.into_values().collect())? {
                if why.reason == SkipReason::ChangedBetweenSnapshots {
                    why.findings.insert(0, Finding::BetweenSnapshots(apart));
                }
                second.skipped.add(job.order(), why, || job);
            }
        }
        if second.diagnosed.count > 0 && second.len() != before {
            // Rare: an evidence row or the action changed, and the claim's own row did not.
            second.diagnosed = asked.only(&second).plan(&mut snapshot, policy)?.diagnosed;
        }
        second.warnings = if second.is_empty() { Vec::new() } else { first.warnings };
        second.refused_interrupted = second.refused_interrupted.or(first.refused_interrupted);
        (second.filter, second.not_found, second.measured) = (first.filter, first.not_found, first.measured);
        // The pause is for one plan: what it has no room for is left to the next run.
        second.alone();
        second.spool = first.spool.map(Spool::emptied);
        second.confirmed_after = Some(apart);
        Ok(second.ready(snapshot))
    }

    /// The second snapshot, and how long after the first one it is.
    fn second_snapshot(&self, first: &Plan, after: Duration) -> Result<(Snapshot, Duration), OpsError> {
        let mut wait = after;
        loop {
            sleep(self.session.limits, wait)?;
            let snapshot = self.snapshot()?;
            let apart = snapshot.now().since(first.store_time);
            if apart >= after {
                return Ok((snapshot, apart));
            }
            // The database's clock is slower than ours, or was set back.
            wait = (after - apart).max(BLINK);
        }
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

/// Gives the jobs of the first snapshot's steps that changed since, each with why the second one skips it.
fn changed_jobs(
    snapshot: &mut Snapshot,
    part: &Part,
    changed: Vec<(Step, StepJob)>,
) -> Result<Vec<(Job, Skipped)>, OpsError> {
    let mut jobs = Vec::new();
    for some in changed.chunks(LOOKUP) {
        let keys: Vec<Key> = some.iter().map(|(step, _)| step.key.clone()).collect();
        let found = snapshot.find_keys(&part.jobs, &keys)?;
        for (step, job) in some {
            let found = found.iter().find(|(claim, _)| claim.key.exact() == step.key.exact());
            jobs.push(changed_job(snapshot, part, job, found));
        }
    }
    Ok(jobs)
}

fn changed_job(
    snapshot: &Snapshot,
    Part { jobs, policy, .. }: &Part,
    step: &StepJob,
    found: Option<&(Claim, bool)>,
) -> (Job, Skipped) {
    let why = |what: Finding| Skipped { reason: SkipReason::ChangedBetweenSnapshots, findings: vec![what] };
    let Some((claim, in_flight)) = found else {
        return ((*step.job).clone(), why(Finding::RowGone));
    };
    let (judgement, draft) = snapshot.drafted(jobs, claim, *in_flight, policy);
    let is_stuck = *in_flight && matches!(judgement.verdict, Verdict::Stuck(_));
    let skipped = match draft {
        Draft::Skipped(skipped) if is_stuck => skipped,
        Draft::Skipped(skipped) => why(Finding::Skipped(skipped)),
        Draft::Step(_) => why(Finding::RowChanged),
    };
    let job = match in_flight {
        true => Job::of(jobs, claim, policy, &judgement, None),
        false => Job { state: claim.state.clone(), action: None, ..(*step.job).clone() },
    };
    (job, skipped)
}
