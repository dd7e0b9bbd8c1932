//! The steps of a plan and the jobs that are skipped, and what they come to.

use crate::model::{Action, Step};
use crate::output::{First, Job, LISTED, SkippedJob, StepJob};
use crate::policy::{Digest, Finding, Policy, Print, Rule, SkipReason, Skipped};
use crate::preset::Jobs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The steps on the jobs of one view, longest silent first, each with its document.
pub(in crate::ops) struct Part {
    pub(in crate::ops) jobs: Arc<Jobs>,
    /// By which they were judged.
    pub(in crate::ops) policy: Policy,
    pub(in crate::ops) steps: Vec<(Step, StepJob)>,
    /// How many jobs later passes of an apply go on to.
    pub(in crate::ops) later: u64,
    /// Jobs that are due and have no step here: those of later passes, and what `--limit` leaves out.
    pub(in crate::ops) beyond: u64,
}

impl Part {
    /// All its steps, those of later passes included.
    pub(in crate::ops) fn total(&self) -> u64 {
        self.steps.len() as u64 + self.later
    }
}

/// The first skipped jobs, and how many there are for each reason.
pub(in crate::ops) struct SkippedJobs {
    first: First<SkippedJob>,
    pub(in crate::ops) by_reason: BTreeMap<SkipReason, u64>,
    /// Those that are unknown because the zone of their times is.
    pub(in crate::ops) unknown_zone: u64,
}

impl Default for SkippedJobs {
    fn default() -> SkippedJobs {
        SkippedJobs { first: First::of(LISTED), by_reason: BTreeMap::new(), unknown_zone: 0 }
    }
}

impl SkippedJobs {
    pub(in crate::ops) fn add(&mut self, order: i64, skipped: Skipped, job: impl FnOnce() -> Job) {
        *self.by_reason.entry(skipped.reason).or_default() += 1;
        let is_unknown = skipped.reason == SkipReason::Unknown;
        self.unknown_zone += u64::from(is_unknown && Finding::are_of_zone(&skipped.findings));
        self.first.add(order, || SkippedJob { job: job(), skipped });
    }

    /// Adds others behind these.
    pub(in crate::ops) fn append(&mut self, other: SkippedJobs) {
        self.unknown_zone += other.unknown_zone;
        other.by_reason.into_iter().for_each(|(reason, jobs)| *self.by_reason.entry(reason).or_default() += jobs);
        other.first.finish().0.into_iter().for_each(|job| self.first.add(i64::MAX, || job));
    }

    pub(in crate::ops) fn len(&self) -> u64 {
        self.by_reason.values().sum()
    }

    pub(in crate::ops) fn into_first(self) -> Vec<SkippedJob> {
        self.first.finish().0
    }
}

/// The prints of the steps of a run and their number by action, from one pass over them.
#[derive(Default)]
pub(in crate::ops) struct Tally {
    pub(super) digest: Digest,
    /// Steps by action; an action without any is absent.
    pub(in crate::ops) by_action: BTreeMap<Action, u64>,
    /// Steps on claims that are only older than allowed.
    pub(super) by_age: u64,
    /// Of a run that is limited, whose first steps alone count.
    first: Option<First<(Print, Action, bool)>>,
}

impl Tally {
    pub(super) fn limited(most: Option<usize>) -> Tally {
        Tally { first: most.map(First::of), ..Tally::default() }
    }

    pub(in crate::ops) fn of<'a>(steps: impl Iterator<Item = &'a (Step, StepJob)>) -> Tally {
        let mut tally = Tally::default();
        steps.for_each(|(step, _)| tally.add(0, step));
        tally
    }

    pub(in crate::ops) fn add(&mut self, order: i64, step: &Step) {
        let (print, action, is_by_age) = (Digest::print(step), step.action, step.rules == [Rule::ClaimAge.name()]);
        match &mut self.first {
            Some(first) => first.add(order, || (print, action, is_by_age)),
            None => self.count(print, action, is_by_age),
        }
    }

    fn count(&mut self, print: Print, action: Action, is_by_age: bool) {
        self.digest.add(print);
        self.by_age += u64::from(is_by_age);
        *self.by_action.entry(action).or_default() += 1;
    }

    pub(super) fn finish(mut self) -> Tally {
        let first = self.first.take().map(|first| first.finish().0);
        first.into_iter().flatten().for_each(|(print, action, is_by_age)| self.count(print, action, is_by_age));
        self
    }
}
