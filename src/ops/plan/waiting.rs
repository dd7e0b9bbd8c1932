//! Adds jobs that wait for too long to the plan of a sweep.

use super::warnings::final_actions;
use super::{Drafts, Part, Plan, Tally};
use crate::model::Claim;
use crate::ops::OpsError;
use crate::ops::selection::Selection;
use crate::ops::session::{Session, Snapshot};
use crate::ops::side_effects::cascades;
use crate::ops::too_long::{self, Group};
use crate::policy::{Draft, Policy, StateLimit, Verdict, draft, judge};
use crate::preset::QueueSpec;
use crate::store::{Detail, Wanted};
use std::collections::HashSet;

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
    let mut seen = HashSet::new();
    for group in too_long::waiting(&plan.claims.spec, &policy.too_long) {
        let mut snapshot = session.snapshot_of_waiting(&group.waits)?;
        let mut part = part(&mut snapshot, selection, group, plan, &mut seen)?;
        let room = selection.limit.map(|limit| limit.saturating_sub(plan.len()));
        plan.beyond_limit += room.map_or(0, |room| part.truncate(room));
        if !part.is_empty() {
            warn_of_actions(&mut snapshot, &part, plan)?;
            plan.waiting.push(part);
        }
    }
    if !plan.waiting.is_empty() {
        plan.skipped.sort();
        let tally = Tally::of(plan.parts().flat_map(Part::steps))?;
        (plan.digest, plan.by_action) = tally.finish();
    }
    Ok(())
}

fn part(
    snapshot: &mut Snapshot,
    selection: &Selection,
    group: Group,
    plan: &mut Plan,
    seen: &mut HashSet<String>,
) -> Result<Part, OpsError> {
    let Group { too_long, numbers, .. } = group;
    let own = |entry: &&StateLimit| numbers.contains(&entry.number);
    let shortest = too_long.entries.iter().filter(own).map(|entry| entry.after).min().unwrap_or_default();
    // The operator's policy is about claims.
    let policy = Policy { too_long, ..Policy::default() };
    let now = snapshot.now();
    let mut drafts = Drafts::on(&snapshot.spec);
    let mut failed = None;
    let mut consider = |spec: &QueueSpec, claim: &Claim| {
        let judgement = judge(spec, claim, &policy, now);
        if failed.is_some() || judgement.verdict == Verdict::Healthy || !selection.admits(claim) {
            return;
        }
        let is_here = policy.too_long.limit(claim).is_some_and(|entry| numbers.contains(&entry.number));
        let draft = draft(spec, claim, &judgement, &policy);
        if !is_here || (matches!(draft, Draft::Step(_)) && !seen.insert(claim.key.exact())) {
            return;
        }
        failed = drafts.add(spec, claim, &judgement, &policy, draft).err();
    };
    snapshot
        .scan(&Wanted::Before(now.minus(shortest)), Detail::ForAction, &mut |spec, claim| consider(spec, &claim))?;
    if let Some(error) = failed {
        return Err(error);
    }
    let Drafts { mut part, skipped, .. } = drafts;
    for job in skipped.iter() {
        plan.skipped.push(i64::MAX, job?)?;
    }
    part.sort();
    Ok(part)
}

fn warn_of_actions(snapshot: &mut Snapshot, part: &Part, plan: &mut Plan) -> Result<(), OpsError> {
    let tally = Tally::of(part.steps())?;
    let final_actions = final_actions(&part.spec, tally.by_action.keys());
    plan.undoable &= final_actions.is_empty();
    for why in final_actions.into_iter().chain(cascades(snapshot, tally.by_action.keys())?) {
        if !plan.warnings.contains(&why) {
            plan.warnings.push(why);
        }
    }
    Ok(())
}
