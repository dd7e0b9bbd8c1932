//! The steps of a plan and the jobs that are skipped, and what they come to.

use crate::model::{Action, Step};
use crate::output::{First, Job, LISTED, SkippedJob, StepJob};
use crate::policy::{Digest, Finding, SkipReason, Skipped};
use crate::preset::QueueSpec;
use std::collections::BTreeMap;

/// The steps on one queue spec, longest silent first, each with its document.
pub(in crate::ops) struct Part {
    /// The queue, or one of its waiting states.
    pub(in crate::ops) spec: QueueSpec,
    pub(in crate::ops) steps: Vec<(Step, StepJob)>,
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
    pub(super) fn append(&mut self, other: SkippedJobs) {
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

/// The digest of some steps and their number by action, from one pass over them.
#[derive(Default)]
pub(in crate::ops) struct Tally {
    digest: Digest,
    /// Steps by action; an action without any is absent.
    pub(in crate::ops) by_action: BTreeMap<Action, u64>,
}

impl Tally {
    pub(in crate::ops) fn of<'a>(steps: impl Iterator<Item = &'a (Step, StepJob)>) -> Tally {
        let mut tally = Tally::default();
        for (step, _) in steps {
            tally.digest.add(step);
            *tally.by_action.entry(step.action).or_default() += 1;
        }
        tally
    }

    pub(in crate::ops) fn finish(self, mapping: &str) -> (String, BTreeMap<Action, u64>) {
        (self.digest.finish(mapping), self.by_action)
    }
}
