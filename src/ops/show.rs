//! Explains single jobs.

use super::OpsError;
use super::losses::explain;
use super::selection::Selection;
use super::session::Snapshot;
use crate::output::{Job, RuleCheck, Show, ShownJob, Would};
use crate::policy::{Draft, Policy, SkipReason, Skipped, VerdictKind, draft, judge};
use crate::store::Found;

/// Explains jobs one by one: the evidence, the checks, and what reclaim would do.
///
/// # Errors
/// When the store cannot be read.
pub fn show(snapshot: &mut Snapshot, ids: &[String], policy: &Policy) -> Result<Show, OpsError> {
    Selection::default().check(&snapshot.spec, policy)?;
    let found = snapshot.find(ids)?;
    let mut jobs = Vec::new();
    for id in ids {
        jobs.extend(
            found.iter().filter(|found| found.names.contains(id)).map(|found| explained(snapshot, found, policy)),
        );
    }
    let not_found = Selection { ids: ids.to_vec(), ..Selection::default() }.without_job(&found);
    Ok(Show {
        schema: "jobdoctor.show/v1",
        store_time: snapshot.now(),
        target: snapshot.target.clone(),
        jobs,
        not_found,
    })
}

fn explained(snapshot: &Snapshot, found: &Found, policy: &Policy) -> ShownJob {
    let (spec, claim) = (&snapshot.spec, &found.claim);
    let judgement = judge(spec, claim, policy, snapshot.now());
    let draft = if found.in_flight { draft(spec, claim, &judgement, policy) } else { not_in_flight(&claim.state) };
    let checks = judgement.checks.iter().map(|check| RuleCheck {
        rule: check.rule.to_owned(),
        column: check.column.clone(),
        value: check.value.clone(),
        result: check.result.name().to_owned(),
        detail: check.detail.clone(),
    });
    let mut job = Job::of(spec, claim, &judgement, &draft);
    explain(&mut job, claim, policy, &draft);
    let checks = if found.in_flight { checks.collect() } else { Vec::new() };
    if !found.in_flight {
        // No worker holds it, so it cannot be stuck.
        job.verdict = VerdictKind::Healthy;
        job.reasons = Vec::new();
        job.liveness = None;
    }
    let names = spec.show.iter().map(|(name, _)| name.clone());
    ShownJob {
        job,
        in_flight: found.in_flight,
        checks,
        would: match &draft {
            Draft::Step(step) => Some(Would {
                action: step.action.name().to_owned(),
                state_after: step.state_after.clone(),
                attempts_after: step.attempts_after,
            }),
            Draft::Skipped(_) => None,
        },
        skipped: match &draft {
            Draft::Step(_) => None,
            Draft::Skipped(why) => Some(why.clone()),
        },
        extra: names.zip(claim.extra.iter().cloned()).collect(),
    }
}

/// The draft for a job that no worker holds.
pub(super) fn not_in_flight(state: &str) -> Draft {
    Draft::Skipped(Skipped { reason: SkipReason::NotInFlight, detail: format!("it is {state}, not in flight") })
}
