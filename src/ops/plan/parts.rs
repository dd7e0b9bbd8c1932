//! Adds to the plan of a sweep jobs that are not claims: those that waited too long, and interrupted ones.

use super::drafts::Drafts;
use super::warnings::{cascades, final_actions};
use super::{Part, Plan, Tally};
use crate::ops::OpsError;
use crate::ops::interrupted::{compared, older, require_bounds};
use crate::ops::passes::{Hashes, STEPS};
use crate::ops::selection::{AlsoInterrupted, Selection};
use crate::ops::session::Snapshot;
use crate::ops::spool::Spool;
use crate::ops::survey::{Seen, Survey, Surveyed};
use crate::ops::thresholds::{self, Group};
use crate::output::advice;
use crate::policy::Policy;
use crate::store::Detail;
use std::ops::ControlFlow;

/// Adds the steps on jobs that are not claims, as the selection asks for them. `--limit` counts claims first.
pub(super) fn add_others(plan: &mut Plan, snapshot: &mut Snapshot, selection: &Selection) -> Result<(), OpsError> {
    if selection.with_waited {
        add_waited(plan, snapshot, selection)?;
    }
    match (selection.with_interrupted, plan.policy.to) {
        (Some(_), Some(_)) => plan.refused_interrupted = Some(advice::TO_IS_ABOUT_CLAIMS.to_owned()),
        (Some(also), None) => add_interrupted(plan, snapshot, selection, also)?,
        (None, _) => {}
    }
    Ok(())
}

/// Adds the steps that the config file wants for jobs that waited too long. No worker holds such a job, so the brake
/// ignores them.
fn add_waited(plan: &mut Plan, snapshot: &mut Snapshot, selection: &Selection) -> Result<(), OpsError> {
    // A job that is late by two columns is moved once, by the first entry.
    let mut seen = Hashes::default();
    let policy = plan.policy.clone();
    for Group { waits, too_long, numbers } in thresholds::waited(&plan.jobs, &policy.too_long) {
        let jobs = snapshot.waited(&waits)?;
        // The operator's policy is about claims.
        let policy = Policy { too_long, ..Policy::default() };
        let (part, tally, _) = draft_part(plan, snapshot, Survey::of(&jobs, selection, &policy), &mut |surveyed| {
            let is_here = policy.too_long.limit(surveyed.claim).is_some_and(|entry| numbers.contains(&entry.number));
            let is_step = surveyed.draft.as_ref().is_some_and(|draft| draft.step().is_some());
            is_here && (!is_step || seen.insert(surveyed.claim.key.exact()))
        })?;
        plan.add(snapshot, part, tally)?;
    }
    Ok(())
}

/// Adds the steps on interrupted jobs. Where they are so many that the brake would be pulled, they do not hold back the
/// claims of the plan: then none is added, and the plan says why.
fn add_interrupted(
    plan: &mut Plan,
    snapshot: &mut Snapshot,
    selection: &Selection,
    also: AlsoInterrupted,
) -> Result<(), OpsError> {
    require_bounds(snapshot, plan.policy.max_stalls)?;
    let jobs = snapshot.views.interrupted.clone()?;
    let policy = plan.policy.clone().on_interrupted(also.within);
    let spooled = plan.spooled();
    let (part, tally, mut seen) = draft_part(plan, snapshot, Survey::of(&jobs, selection, &policy), &mut |_| true)?;
    let is_first = selection.bound.passes == 0;
    // All of them, and not those for which this pass has room; a later pass brings back none that the first held back.
    let interrupted = compared(snapshot, &jobs, seen.claims(), also.within)?;
    let is_allowed = also.is_overridden || is_first && plan.parts.first().is_none_or(|own| own.steps.is_empty());
    if let Some(why) = interrupted.evidence().filter(|_| !is_allowed) {
        plan.spool.iter_mut().for_each(|spool| spool.limit(spooled, 0));
        plan.refused_interrupted = Some(format!("{why}: none of them is brought back in this run"));
        return Ok(());
    }
    if is_first {
        plan.older = seen.holders.as_ref().map_or(Ok(None), |holders| older(snapshot, &jobs, holders))?;
        plan.measured.interrupted = Some(interrupted);
        plan.diagnosed.add(seen.causes(snapshot)?);
    }
    plan.add(snapshot, part, tally)
}

/// Drafts jobs that are not claims, within the room that the plan has left; `is_due` may leave one out.
fn draft_part<'a>(
    plan: &mut Plan,
    snapshot: &mut Snapshot,
    survey: Survey<'a>,
    is_due: &mut dyn FnMut(&Surveyed<'_>) -> bool,
) -> Result<(Part, Tally, Seen<'a>), OpsError> {
    let Survey { jobs, selection, policy, .. } = survey;
    let of_limit = selection.limit.map_or(u64::MAX, |limit| (limit as u64).saturating_sub(plan.total()));
    let room = selection.bound.left(plan.parts.len()).map_or(of_limit, |left| of_limit.min(left));
    let most = STEPS.saturating_sub(plan.len()).min(usize::try_from(room).unwrap_or(usize::MAX));
    let limit = selection.limit.and(usize::try_from(of_limit).ok());
    let limited = Selection { limit, ..selection.clone() };
    let mut drafts = Drafts::on(jobs, most, &limited, policy);
    let spooled = plan.spooled();
    drafts.spool = plan.spool.take();
    let seen = Survey { detail: Detail::ForAction, ..survey }.run(snapshot, &mut |surveyed| {
        if is_due(&surveyed) {
            drafts.add(surveyed);
        }
        ControlFlow::Continue(())
    })?;
    drafts.end()?;
    let Drafts { steps, skipped, tally, spool, .. } = drafts;
    plan.skipped.append(skipped);
    let (steps, beyond) = steps.finish();
    let later = beyond.min(room.saturating_sub(steps.len() as u64));
    plan.spool = spool;
    plan.spool.iter_mut().for_each(|spool: &mut Spool| spool.limit(spooled, later));
    let part = Part { jobs: jobs.clone(), policy: policy.clone(), steps, later, beyond };
    Ok((part, tally.unwrap_or_default().finish(), seen))
}

impl Plan {
    /// Adds a part, with what an operator should know of all that a run takes.
    fn add(&mut self, snapshot: &mut Snapshot, part: Part, tally: Tally) -> Result<(), OpsError> {
        let final_actions = final_actions(&part.jobs, tally.by_action.keys());
        self.undoable &= final_actions.is_empty();
        let cascades = cascades(snapshot, &part.jobs, tally.by_action.keys(), false)?;
        final_actions.into_iter().chain(cascades).for_each(|why| self.warn(why));
        self.count(tally);
        self.parts.push(part);
        Ok(())
    }
}
