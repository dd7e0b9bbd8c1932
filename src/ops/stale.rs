use super::OpsError;
use super::diagnoses::Grouping;
use super::scan::judged;
use super::selection::Selection;
use super::session::Snapshot;
use super::stalls::explain;
use crate::output::{Job, Spool, Stale, StaleSummary};
use crate::policy::{Policy, Verdict, draft};

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
        let mut job = Job::of(spec, claim, &judgement, &draft);
        explain(&mut job, claim, policy, &draft);
        let list = if is_unknown { &mut unknown } else { &mut jobs };
        Ok(list.push(job.order(), job)?)
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
