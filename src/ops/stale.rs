use super::OpsError;
use super::diagnoses::Grouping;
use super::document::{job, order};
use super::progress::{UnderWay, Work};
use super::selection::Selection;
use super::session::Snapshot;
use super::stalls::explain;
use super::thresholds::cutoffs;
use crate::model::Claim;
use crate::policy::{Judgement, Policy, Verdict, draft, judge};
use crate::report::{Spool, Stale, StaleSummary};
use crate::spec::QueueSpec;
use crate::store::Wanted;

/// Lists the claims that are stuck, and those that nobody can judge, under what is likely to have happened.
///
/// # Errors
/// When the store cannot be read, or the selection makes no sense for this queue.
pub fn stale(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Stale, OpsError> {
    gather(snapshot, selection, policy, true)
}

/// The same without the lists: what is likely to have happened, and the counts.
///
/// # Errors
/// As [`stale`].
pub fn stale_diagnoses(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Stale, OpsError> {
    gather(snapshot, selection, policy, false)
}

fn gather(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy, lists: bool) -> Result<Stale, OpsError> {
    let mut summary = StaleSummary::default();
    let (mut jobs, mut unknown) = (Spool::default(), Spool::default());
    // Of jobs that were named nothing is known about the others.
    let spec = snapshot.spec.clone();
    let mut grouping = (!selection.is_by_name()).then(|| Grouping::new(&spec));
    let not_found = judged(snapshot, selection, policy, &mut |spec, claim, judgement, is_listed| {
        grouping.iter_mut().for_each(|grouping| grouping.add(claim, &judgement, is_listed));
        if !is_listed {
            return Ok(());
        }
        let is_unknown = matches!(judgement.verdict, Verdict::Unknown(_));
        if is_unknown {
            summary.unknown += 1;
        } else {
            summary.stuck += 1;
            let silence = judgement.silence.map(|silence| silence.as_secs_f64());
            summary.oldest_silence_seconds = match (summary.oldest_silence_seconds, silence) {
                (Some(oldest), Some(silence)) => Some(f64::max(oldest, silence)),
                (oldest, silence) => oldest.or(silence),
            };
        }
        if !lists {
            return Ok(());
        }
        let draft = draft(spec, claim, &judgement, policy);
        let mut job = job(spec, claim, &judgement, &draft);
        explain(&mut job, claim, policy, &draft);
        let list = if is_unknown { &mut unknown } else { &mut jobs };
        Ok(list.push(order(job.last_seen_at), &job)?)
    })?;
    let mut diagnoses = Vec::new();
    summary.alone = summary.stuck;
    match grouping.filter(|grouping| !grouping.is_empty()) {
        Some(grouping) => {
            let grouped = grouping.finish(snapshot)?;
            (summary.in_flight, summary.alone) = (grouped.in_flight, grouped.alone);
            (summary.diagnoses, diagnoses) = (grouped.count, grouped.diagnoses);
        }
        None => summary.in_flight = snapshot.reader.in_flight(&snapshot.spec)?,
    }
    jobs.sort();
    unknown.sort();
    if let Some(limit) = selection.limit.filter(|_| lists) {
        let left_out = jobs.truncate(limit) + unknown.truncate(limit);
        summary.truncated = left_out > 0;
    }
    summary.returned = jobs.len() as u64;
    Ok(Stale {
        schema: "jobdoctor.stale/v1",
        store_time: snapshot.now(),
        target: snapshot.target.clone(),
        filter: selection.filter(policy),
        summary,
        diagnoses,
        jobs,
        unknown,
        not_found,
    })
}

/// What is done with a claim that is stuck or unknown; the last is whether it is among those asked for.
type Each<'a> = &'a mut dyn FnMut(&QueueSpec, &Claim, Judgement, bool) -> Result<(), OpsError>;

/// Hands over every claim of the queue that is stuck or unknown, asked for or not; with ids, those that are named. Returns the
/// ids that name no job.
pub(super) fn judged(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    each: Each<'_>,
) -> Result<Vec<String>, OpsError> {
    selection.check(&snapshot.spec, policy)?;
    let now = snapshot.now();
    let spec = &snapshot.spec;
    let mut failed = None;
    let under_way = UnderWay::begin(&*snapshot.progress, Work::Looking);
    let mut consider = |claim: &Claim| {
        under_way.one();
        if failed.is_some() {
            return;
        }
        let judgement = judge(spec, claim, policy, now);
        if judgement.verdict != Verdict::Healthy
            && let Err(error) = each(spec, claim, judgement, selection.admits(claim))
        {
            failed = Some(error);
        }
    };
    let mut not_found = Vec::new();
    if !selection.is_by_name() {
        let wanted = match policy.needs_every_claim() {
            true => Wanted::All,
            false => Wanted::Suspects(cutoffs(now, policy)),
        };
        snapshot.reader.scan(spec, &wanted, &mut |claim| consider(&claim))?;
    } else {
        let found = snapshot.reader.find(spec, &selection.ids)?;
        not_found = selection.without_job(&found);
        found.iter().filter(|found| found.in_flight).for_each(|found| consider(&found.claim));
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(not_found),
    }
}
