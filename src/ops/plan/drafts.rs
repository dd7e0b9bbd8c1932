//! The drafts about the jobs of one view, while they come in.

use super::steps::{SkippedJobs, Tally};
use super::thresholds_used::ThresholdsUsed;
use crate::model::Step;
use crate::ops::selection::Selection;
use crate::ops::spool::Spool;
use crate::ops::survey::Surveyed;
use crate::output::{First, Job, StepJob, order};
use crate::policy::{Draft, Policy};
use crate::preset::{Jobs, SpecError};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) struct Drafts<'a> {
    pub(super) jobs: Arc<Jobs>,
    pub(super) steps: First<(Step, StepJob)>,
    pub(super) skipped: SkippedJobs,
    /// Which jobs may have a step.
    pub(super) selection: &'a Selection,
    pub(super) policy: &'a Policy,
    /// The steps of the whole run; `None` in a later pass of it.
    pub(super) tally: Option<Tally>,
    /// Takes the steps for which there is no room.
    pub(super) spool: Option<Spool>,
    pub(super) thresholds_used: ThresholdsUsed,
    /// True if a step rests on trouble alone.
    pub(super) troubled: bool,
    pub(super) living_hosts: BTreeSet<String>,
    /// The first step that would leave its job elsewhere than it says.
    astray: Option<SpecError>,
}

impl Drafts<'_> {
    /// Drafts for these jobs, none yet, of which the first `most` steps are kept.
    pub(super) fn on<'a>(jobs: &Arc<Jobs>, most: usize, selection: &'a Selection, policy: &'a Policy) -> Drafts<'a> {
        Drafts {
            jobs: jobs.clone(),
            steps: First::of(most),
            skipped: SkippedJobs::default(),
            selection,
            policy,
            tally: selection.bound.only.is_none().then(|| Tally::limited(selection.limit)),
            spool: None,
            thresholds_used: ThresholdsUsed::default(),
            troubled: false,
            living_hosts: BTreeSet::new(),
            astray: None,
        }
    }

    /// Takes in a job with what is drafted about it; true for a step that may be among those of the plan.
    pub(super) fn add(&mut self, surveyed: Surveyed<'_>) -> bool {
        let Surveyed { claim, judgement, draft: Some(draft), group, .. } = surveyed else { return false };
        let (jobs, place, bound) = (self.jobs.clone(), order(judgement.last_seen_at), &self.selection.bound);
        let job = |step: Option<&Step>| Job { group, ..Job::of(&jobs, claim, self.policy, &judgement, step) };
        match draft {
            Draft::Skipped(_) if bound.is_confirmed(&jobs, &claim.key) => {}
            Draft::Skipped(why) => self.skipped.add(place, why, || job(None)),
            Draft::Step(step) if bound.admits(&jobs, claim, &step) => {
                if let Some(action) = jobs.actions.get(&step.action).filter(|_| claim.astray.contains(&step.action)) {
                    self.astray.get_or_insert_with(|| action.at.error(action.astray(Some(&step.id))));
                }
                self.tally.iter_mut().for_each(|tally| tally.add(place, &step));
                self.thresholds_used.add(claim, &judgement);
                self.troubled |= !judgement.verdict.is_death();
                let host = claim.owner.as_ref().and_then(|owner| owner.host.as_ref());
                self.living_hosts.extend(host.filter(|_| judgement.is_declared_dead).cloned());
                let job = |step: &Step| StepJob::of(step, job(Some(step)));
                if let Some(spool) = self.spool.as_mut().filter(|_| !self.steps.wants(place)) {
                    spool.draft(&step, job(&step));
                }
                let others = self.steps.displace(place, || {
                    let job = job(&step);
                    (*step, job)
                });
                self.spool(others);
                return true;
            }
            Draft::Step(_) => {}
        }
        false
    }

    /// Spools the steps for which there is no room, once all are drafted, unless one leads elsewhere than it says.
    pub(super) fn end(&mut self) -> Result<(), SpecError> {
        let others = self.steps.shrink();
        self.spool(others);
        self.astray.take().map_or(Ok(()), Err)
    }

    fn spool(&mut self, others: Vec<(i64, Box<(Step, StepJob)>)>) {
        let Some(spool) = &mut self.spool else { return };
        for (_, other) in others {
            let (step, job) = *other;
            spool.draft(&step, job);
        }
    }
}
