//! Lists stuck and unknown claims under the diagnoses that explain them.

use super::OpsError;
use super::caveats::caveats;
use super::diagnosis::{Diagnosed, diagnosed};
use super::groups::Groups;
use super::scan::{detail_for_listing, judged};
use super::selection::Selection;
use super::session::Snapshot;
use crate::output::{Field, Job, Spool, Stale, StaleHead, StaleSummary, order};
use crate::policy::{Diagnoses, Policy, Verdict, draft};

/// Lists the claims that are stuck, and those that are unknown, under what is likely to have happened. The caller has a
/// use for at most `most` jobs of each list; what is counted does not depend on it.
pub fn stale(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    most: Option<usize>,
) -> Result<Stale, OpsError> {
    list(snapshot, selection, policy, most, None)
}

/// Counts the claims that are stuck or unknown by host, owner, kind, queue or state, and lists none.
pub fn stale_by(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy, by: Field) -> Result<Stale, OpsError> {
    let groups = Groups::new(&snapshot.spec, by)?;
    let mut document = list(snapshot, selection, policy, Some(0), Some(groups))?;
    document.head.by = Some(by);
    Ok(document)
}

fn list(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    most: Option<usize>,
    mut groups: Option<Groups>,
) -> Result<Stale, OpsError> {
    let most = most.into_iter().chain(selection.limit).min().unwrap_or(usize::MAX);
    let mut summary = StaleSummary::default();
    let (mut jobs, mut unknown) = (Spool::first(most), Spool::first(most));
    let spec = snapshot.spec.clone();
    // Named jobs alone tell nothing about their owners' other jobs.
    let mut found = (!selection.is_by_name()).then(|| Diagnoses::new(&spec));
    let mut is_empty = true;
    let not_found =
        judged(snapshot, selection, policy, detail_for_listing(policy), &mut |spec, claim, judgement, is_listed| {
            is_empty = false;
            found.iter_mut().for_each(|diagnoses| diagnoses.add(claim, &judgement, is_listed));
            if !is_listed {
                return Ok(());
            }
            groups.iter_mut().for_each(|groups| groups.add(claim, &judgement));
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
            let list = if is_unknown { &mut unknown } else { &mut jobs };
            let place = order(judgement.last_seen_at);
            if !list.wants(place) {
                return Ok(());
            }
            let draft = draft(spec, claim, &judgement, policy);
            Ok(list.push(place, Job::of(spec, claim, policy, &judgement, &draft))?)
        })?;
    let found = match found.filter(|_| !is_empty) {
        Some(found) => diagnosed(snapshot, found)?,
        None => Diagnosed {
            alone: summary.stuck,
            in_flight: snapshot.reader.in_flight(&snapshot.spec)?,
            ..Diagnosed::default()
        },
    };
    (summary.alone, summary.diagnoses, summary.in_flight) = (found.alone, found.count, found.in_flight);
    jobs.sort();
    unknown.sort();
    jobs.truncate(most);
    unknown.truncate(most);
    let found_none = summary.stuck + summary.unknown == 0 && !selection.is_by_name();
    let warnings = caveats(snapshot, Some(selection).filter(|_| found_none), summary.unknown > 0, summary.in_flight)?;
    let is_beyond = |count: u64| selection.limit.is_some_and(|limit| count > limit as u64);
    summary.truncated = most > 0 && (is_beyond(summary.stuck) || is_beyond(summary.unknown));
    summary.returned = jobs.len() as u64;
    let head = StaleHead {
        schema: "jobdoctor.stale/v1",
        store_time: snapshot.now(),
        target: snapshot.target.clone(),
        filter: selection.filter(policy),
        by: None,
        not_found,
        warnings,
    };
    let groups = groups.map(|groups| groups.finish(selection.limit)).unwrap_or_default();
    Ok(Stale { head, summary, diagnoses: found.list, groups, jobs, unknown })
}
