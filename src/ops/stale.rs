use super::OpsError;
use super::document::{job, order};
use super::selection::Selection;
use super::session::Look;
use crate::model::Claim;
use crate::policy::{Judgement, Policy, Verdict, draft, judge};
use crate::report::{Spool, Stale, StaleSummary};
use crate::spec::QueueSpec;
use crate::store::{Cutoffs, Wanted};

/// Lists the claims that are stuck, and those that nobody can judge.
///
/// # Errors
/// When the store cannot be read, or the selection makes no sense for this queue.
pub fn stale(look: &mut Look, selection: &Selection, policy: &Policy) -> Result<Stale, OpsError> {
    let mut summary = StaleSummary { in_flight: look.reader.in_flight(&look.spec)?, ..StaleSummary::default() };
    let (mut jobs, mut unknown) = (Spool::default(), Spool::default());
    findings(look, selection, policy, &mut |spec, claim, judgement| {
        let job = job(spec, claim, &judgement, &draft(spec, claim, &judgement, policy));
        let place = order(job.last_sign_at);
        if matches!(judgement.verdict, Verdict::Unknown(_)) {
            summary.unknown += 1;
            return Ok(unknown.push(place, &job)?);
        }
        summary.stuck += 1;
        summary.oldest_silence_seconds = match (summary.oldest_silence_seconds, job.silence_seconds) {
            (Some(oldest), Some(silence)) => Some(f64::max(oldest, silence)),
            (oldest, silence) => oldest.or(silence),
        };
        Ok(jobs.push(place, &job)?)
    })?;
    jobs.sort();
    unknown.sort();
    if let Some(limit) = selection.limit {
        let left_out = jobs.truncate(limit) + unknown.truncate(limit);
        summary.truncated = left_out > 0;
    }
    summary.returned = jobs.len() as u64;
    Ok(Stale {
        schema: "jobdoctor.stale/v1",
        store_time: look.now(),
        target: look.target.clone(),
        filter: selection.filter(policy),
        summary,
        jobs,
        unknown,
    })
}

/// Hands over every claim among those asked for that is stuck or unknown; with ids, those that are named.
pub(super) fn findings(
    look: &mut Look,
    selection: &Selection,
    policy: &Policy,
    each: &mut dyn FnMut(&QueueSpec, &Claim, Judgement) -> Result<(), OpsError>,
) -> Result<(), OpsError> {
    findings_among(look, selection, policy, &mut |_, _| {}, each)
}

/// The same, and shows every suspect of the whole queue, asked for or not, to `whole` first.
pub(super) fn findings_among(
    look: &mut Look,
    selection: &Selection,
    policy: &Policy,
    whole: &mut dyn FnMut(&Claim, &Judgement),
    each: &mut dyn FnMut(&QueueSpec, &Claim, Judgement) -> Result<(), OpsError>,
) -> Result<(), OpsError> {
    selection.check(&look.spec, policy)?;
    let now = look.now();
    let spec = &look.spec;
    let mut failed = None;
    let mut consider = |claim: &Claim| {
        if failed.is_some() {
            return;
        }
        let judgement = judge(spec, claim, policy, now);
        whole(claim, &judgement);
        if selection.admits(claim)
            && judgement.verdict != Verdict::Healthy
            && let Err(error) = each(spec, claim, judgement)
        {
            failed = Some(error);
        }
    };
    if !selection.is_by_name() {
        let wanted = match &policy.restart {
            Some(_) => Wanted::All,
            None => Wanted::Suspects(Cutoffs { now, older: policy.older }),
        };
        look.reader.scan(spec, &wanted, &mut |claim| consider(&claim))?;
    } else {
        let found = look.reader.find(spec, &selection.ids)?;
        found.iter().filter(|found| found.in_flight).for_each(|found| consider(&found.claim));
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
