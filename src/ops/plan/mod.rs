mod scope;
mod warnings;

use super::OpsError;
use super::document::{held, job, order};
use super::selection::Selection;
use super::session::Look;
use super::show::not_in_flight;
use super::stale::findings;
use crate::model::{Claim, Step, Timestamp};
use crate::policy::{Digest, Draft, Judgement, Policy, draft, judge};
use crate::report::{Filter, HeldJob, Spool, StepJob, Target};
use crate::spec::QueueSpec;
use scope::{move_is_offered, scope_is_sound};
use std::collections::BTreeSet;
use warnings::warnings;

/// What is to be done, as a value: it can be printed, and it can be executed. Nothing in it can write.
pub struct Plan {
    pub(in crate::ops) spec: QueueSpec,
    pub(in crate::ops) store_time: Timestamp,
    pub(in crate::ops) target: Target,
    pub(in crate::ops) filter: Filter,
    /// What is done, with the fences; and, in the same order, the jobs as documents show them.
    pub(in crate::ops) steps: Spool<Step>,
    pub(in crate::ops) jobs: Spool<StepJob>,
    pub(in crate::ops) held: Spool<HeldJob>,
    pub(in crate::ops) in_flight: u64,
    pub(in crate::ops) beyond_limit: u64,
    pub(in crate::ops) not_found: Vec<String>,
    pub(in crate::ops) digest: String,
    pub(in crate::ops) warnings: Vec<String>,
}

impl Plan {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// How many claims are in the whole queue.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// Drafts what to do about the claims asked for. The dry run and the apply take the same plan.
///
/// # Errors
/// When the store cannot be read, or what is asked for makes no sense for this queue.
pub fn plan(look: &mut Look, selection: &Selection, policy: &Policy) -> Result<Plan, OpsError> {
    if let Some(restart) = &policy.restart {
        scope_is_sound(look, &restart.scope)?;
    }
    move_is_offered(&look.spec, policy)?;
    let in_flight = look.reader.in_flight(&look.spec)?;
    let mut drafts = Drafts::default();
    let mut not_found = Vec::new();
    if selection.ids.is_empty() {
        findings(look, selection, policy, &mut |spec, claim, judgement| {
            let draft = draft(spec, claim, &judgement, policy);
            drafts.add(spec, claim, &judgement, draft)
        })?;
    } else {
        selection.check(&look.spec, policy)?;
        not_found = named(look, selection, policy, &mut drafts)?;
    }
    let Drafts { mut steps, mut jobs, mut held, sources, troubled } = drafts;
    steps.sort();
    jobs.sort();
    held.sort();
    let beyond_limit = selection.limit.map_or(0, |limit| steps.truncate(limit).min(jobs.truncate(limit)));
    let mut digest = Digest::default();
    for step in steps.iter() {
        digest.add(&step?);
    }
    let warnings = if steps.is_empty() { Vec::new() } else { warnings(&look.spec, policy, &sources, troubled) };
    Ok(Plan {
        spec: look.spec.clone(),
        store_time: look.now(),
        target: look.target.clone(),
        filter: selection.filter(policy),
        steps,
        jobs,
        held,
        in_flight,
        beyond_limit: beyond_limit as u64,
        not_found,
        digest: digest.finish(),
        warnings,
    })
}

/// The jobs that were named: each is a step, or is held with why, or is not found.
fn named(
    look: &mut Look,
    selection: &Selection,
    policy: &Policy,
    drafts: &mut Drafts,
) -> Result<Vec<String>, OpsError> {
    let now = look.now();
    let found = look.reader.find(&look.spec, &selection.ids)?;
    for found in found.iter().filter(|found| selection.admits(&found.claim)) {
        let judgement = judge(&look.spec, &found.claim, policy, now);
        let draft = match found.in_flight {
            true => draft(&look.spec, &found.claim, &judgement, policy),
            false => not_in_flight(&found.claim.state),
        };
        drafts.add(&look.spec, &found.claim, &judgement, draft)?;
    }
    let ids: BTreeSet<&String> = found.iter().flat_map(|found| &found.names).collect();
    Ok(selection.ids.iter().filter(|id| !ids.contains(id)).cloned().collect())
}

#[derive(Default)]
struct Drafts {
    steps: Spool<Step>,
    jobs: Spool<StepJob>,
    held: Spool<HeldJob>,
    /// Which sources of liveness the steps rest on.
    sources: BTreeSet<&'static str>,
    /// Whether a step rests on trouble alone.
    troubled: bool,
}

impl Drafts {
    fn add(&mut self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement, draft: Draft) -> Result<(), OpsError> {
        let job = job(spec, claim, judgement, &draft);
        let place = order(job.last_sign_at);
        match draft {
            Draft::Held(why) => self.held.push(place, &HeldJob { job, held: held(&why) })?,
            Draft::Step(step) => {
                self.sources.extend(judgement.liveness);
                self.troubled |= !judgement.verdict.is_death();
                let job = StepJob {
                    job,
                    state_after: step.state_after.clone(),
                    attempts_after: step.attempts_after,
                    outcome: None,
                    error: None,
                };
                self.jobs.push(place, &job)?;
                self.steps.push(place, &step)?;
            }
        }
        Ok(())
    }
}
