//! Adds jobs that wait for too long to the plan of a sweep.

use super::warnings::{cascades, final_actions};
use super::{Drafts, Part, Plan, Tally};
use crate::model::Claim;
use crate::ops::OpsError;
use crate::ops::passes::{Hashes, STEPS};
use crate::ops::selection::Selection;
use crate::ops::session::{Session, Snapshot};
use crate::ops::thresholds::{self, Group};
use crate::policy::{Counted, Draft, Policy, StateLimit, Verdict, draft, judge};
use crate::preset::QueueSpec;
use crate::store::{Detail, Wanted};

/// Adds the steps that the config file wants for jobs that wait for too long, from one snapshot for each state and
/// column that reads late rows only. No worker holds such a job, so the brake ignores them; `--limit` counts claims
/// first.
pub fn plan_waiting(
    session: &Session<'_>,
    plan: &mut Plan,
    selection: &Selection,
    policy: &Policy,
) -> Result<(), OpsError> {
    // A job that is late by two columns is moved once, by the first entry.
    let mut seen = Hashes::default();
    for group in thresholds::waiting(&plan.claims.spec, &policy.too_long) {
        let mut snapshot = session.snapshot_of_waiting(&group.waits)?;
        let part = part(&mut snapshot, selection, group, plan, &mut seen)?;
        if !part.steps.is_empty() {
            warn_of_actions(&mut snapshot, &part, plan)?;
            plan.waiting.push(part);
        }
    }
    if !plan.waiting.is_empty() {
        (plan.digest, plan.by_action) = Tally::of(plan.parts().flat_map(|part| &part.steps)).finish();
    }
    Ok(())
}

fn part(
    snapshot: &mut Snapshot,
    selection: &Selection,
    group: Group,
    plan: &mut Plan,
    seen: &mut Hashes,
) -> Result<Part, OpsError> {
    let Group { too_long, numbers, .. } = group;
    let own = |entry: &&StateLimit| numbers.contains(&entry.number);
    let shortest = too_long.entries.iter().filter(own).map(|entry| entry.after).min().unwrap_or_default();
    // The operator's policy is about claims.
    let policy = Policy { too_long, ..Policy::default() };
    let now = snapshot.now();
    let of_limit = selection.limit.map_or(u64::MAX, |limit| (limit as u64).saturating_sub(plan.total()));
    let waiting = plan.len_of_waiting() + plan.later_waiting;
    let room = selection.bound.left.map_or(of_limit, |(_, left)| of_limit.min(left.saturating_sub(waiting)));
    let most = STEPS.saturating_sub(plan.len()).min(usize::try_from(room).unwrap_or(usize::MAX));
    let mut drafts = Drafts::on(&snapshot.spec, most, &selection.bound);
    let mut consider = |spec: &QueueSpec, claim: &Claim| {
        let judgement = judge(spec, claim, &policy, now);
        if judgement.verdict == Verdict::Healthy || !selection.admits(claim) {
            return;
        }
        let is_here = policy.too_long.limit(claim).is_some_and(|entry| numbers.contains(&entry.number));
        let draft = draft(spec, claim, &judgement, &policy);
        if !is_here || (matches!(draft, Draft::Step(_)) && !seen.insert(claim.key.exact())) {
            return;
        }
        drafts.add(spec, claim, (&judgement, Counted::Alone), &policy, draft);
    };
    snapshot
        .scan(&Wanted::Before(now.minus(shortest)), Detail::ForAction, &mut |spec, claim| consider(spec, &claim))?;
    let Drafts { spec, steps, skipped, .. } = drafts;
    plan.skipped.append(skipped);
    let (steps, beyond) = steps.finish();
    plan.later_waiting += beyond.min(room.saturating_sub(steps.len() as u64));
    plan.beyond_limit += beyond;
    Ok(Part { spec, steps })
}

fn warn_of_actions(snapshot: &mut Snapshot, part: &Part, plan: &mut Plan) -> Result<(), OpsError> {
    let tally = Tally::of(part.steps.iter());
    let final_actions = final_actions(&part.spec, tally.by_action.keys());
    plan.undoable &= final_actions.is_empty();
    let cascades = cascades(snapshot, tally.by_action.keys(), false)?;
    final_actions.into_iter().chain(cascades).for_each(|why| plan.warn(why));
    Ok(())
}
