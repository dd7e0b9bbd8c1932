//! Adds to the plan of a sweep jobs that are not claims: those that wait for too long, and interrupted ones.

use super::warnings::{cascades, final_actions};
use super::{Drafts, Part, Plan, Tally};
use crate::model::Claim;
use crate::ops::OpsError;
use crate::ops::diagnosis::diagnosed;
use crate::ops::interrupted::{compared, is_bounded, older};
use crate::ops::passes::{Hashes, STEPS};
use crate::ops::selection::Selection;
use crate::ops::session::{Session, Snapshot};
use crate::ops::thresholds::{self, Group};
use crate::policy::{Counted, Diagnoses, Draft, Judgement, PlannedActions, Policy, StateLimit, Verdict, draft, judge};
use crate::store::{Detail, Holders, Wanted};
use std::time::Duration;

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
        let Group { too_long, numbers, .. } = group;
        let own = |entry: &&StateLimit| numbers.contains(&entry.number);
        let shortest = too_long.entries.iter().filter(own).map(|entry| entry.after).min().unwrap_or_default();
        // The operator's policy is about claims.
        let policy = Policy { too_long, ..Policy::default() };
        let wanted = Wanted::Before(snapshot.now().minus(shortest));
        let (part, tally, _) = part(&mut snapshot, selection, &policy, plan, &wanted, &mut |claim, _, draft| {
            let is_here = policy.too_long.limit(claim).is_some_and(|entry| numbers.contains(&entry.number));
            let is_due = is_here && (draft.step().is_none() || seen.insert(claim.key.exact()));
            is_due.then_some(Counted::Alone)
        })?;
        add(&mut snapshot, part, tally, plan)?;
    }
    Ok(())
}

/// Adds the steps on interrupted jobs, from a snapshot of its own. Where they are so many that the brake would be pulled,
/// they do not hold back the claims of the plan: then none is added, and the value says why.
pub fn plan_interrupted(
    session: &Session<'_>,
    plan: &mut Plan,
    selection: &Selection,
    policy: &Policy,
    (since, is_overridden): (Duration, bool),
) -> Result<Option<String>, OpsError> {
    let mut snapshot = session.snapshot_of_interrupted()?.counting_losses()?;
    is_bounded(&snapshot, policy.max_stalls)?;
    let policy = policy.clone().on_interrupted(since);
    let spec = snapshot.spec.clone();
    let mut found = Diagnoses::new(&spec);
    let wanted = Wanted::Since(snapshot.now().minus(since));
    let without = (plan.later_waiting, plan.beyond_limit);
    let spooled = plan.spooled();
    let (part, tally, holders) =
        part(&mut snapshot, selection, &policy, plan, &wanted, &mut |claim, judgement, draft| {
            let would = PlannedActions::of(draft.step().map(|step| step.action));
            Some(found.add(claim, judgement, true, would))
        })?;
    let is_first = selection.bound.passes == 0;
    // All of them, and not those for which this pass has room; a later pass brings back none that the first held back.
    let interrupted = compared(&mut snapshot, holders.claims(), since)?;
    if let Some(why) = interrupted.evidence().filter(|_| !(is_overridden || is_first && plan.claims.steps.is_empty())) {
        (plan.later_waiting, plan.beyond_limit) = without;
        plan.spool.iter_mut().for_each(|spool| spool.limit(spooled, 0));
        return Ok(Some(format!("{why}: none of them is brought back in this run")));
    }
    if is_first {
        plan.older = older(&mut snapshot, &holders)?;
        plan.measured.interrupted = Some(interrupted);
        plan.diagnosed.add(diagnosed(&mut snapshot, found, &holders)?);
    }
    add(&mut snapshot, part, tally, plan)?;
    Ok(None)
}

/// Drafts jobs that are not claims, within the room that the plan has left. `is_due` says of each where its diagnosis
/// counts it; `None` leaves it out.
fn part(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    plan: &mut Plan,
    wanted: &Wanted,
    is_due: &mut dyn FnMut(&Claim, &Judgement, &Draft) -> Option<Counted>,
) -> Result<(Part, Tally, Holders), OpsError> {
    let now = snapshot.now();
    let of_limit = selection.limit.map_or(u64::MAX, |limit| (limit as u64).saturating_sub(plan.total()));
    let waiting = plan.len_of_waiting() + plan.later_waiting;
    let room = selection.bound.left.map_or(of_limit, |(_, left)| of_limit.min(left.saturating_sub(waiting)));
    let most = STEPS.saturating_sub(plan.len()).min(usize::try_from(room).unwrap_or(usize::MAX));
    let limit = selection.limit.and(usize::try_from(of_limit).ok());
    let limited = Selection { limit, ..selection.clone() };
    let mut drafts = Drafts::on(&snapshot.spec, most, &limited);
    let spooled = plan.spooled();
    drafts.spool = plan.spool.take();
    let holders = snapshot.scan(wanted, Detail::ForAction, &mut |spec, claim| {
        let judgement = judge(spec, &claim, policy, now);
        if judgement.verdict == Verdict::Healthy || !selection.admits(&claim) {
            return;
        }
        let draft = draft(spec, &claim, &judgement, policy);
        if let Some(counted) = is_due(&claim, &judgement, &draft) {
            drafts.add(spec, &claim, (&judgement, counted), policy, draft);
        }
    })?;
    drafts.end()?;
    let Drafts { spec, steps, skipped, tally, spool, .. } = drafts;
    plan.skipped.append(skipped);
    let (steps, beyond) = steps.finish();
    let later = beyond.min(room.saturating_sub(steps.len() as u64));
    plan.spool = spool;
    plan.spool.iter_mut().for_each(|spool| spool.limit(spooled, later));
    plan.later_waiting += later;
    plan.beyond_limit += beyond;
    Ok((Part { spec, steps }, tally.unwrap_or_default().finish(), holders))
}

/// Adds a part that has steps, with what an operator should know of all that a run takes.
fn add(snapshot: &mut Snapshot, part: Part, tally: Tally, plan: &mut Plan) -> Result<(), OpsError> {
    warn_of_actions(snapshot, &part, &tally, plan)?;
    plan.count(tally);
    if !part.steps.is_empty() {
        plan.waiting.push(part);
    }
    Ok(())
}

fn warn_of_actions(snapshot: &mut Snapshot, part: &Part, tally: &Tally, plan: &mut Plan) -> Result<(), OpsError> {
    let final_actions = final_actions(&part.spec, tally.by_action.keys());
    plan.undoable &= final_actions.is_empty();
    let cascades = cascades(snapshot, tally.by_action.keys(), false)?;
    final_actions.into_iter().chain(cascades).for_each(|why| plan.warn(why));
    Ok(())
}
