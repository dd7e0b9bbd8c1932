//! What a plan comes to: its digest, how many steps of which action it has, and how many jobs were lost before.

use crate::model::{Action, Step};
use crate::output::StepJob;
use crate::policy::Digest;
use std::collections::BTreeMap;

/// The digest of some steps and their number by action, from one pass over them.
#[derive(Default)]
pub(in crate::ops) struct Tally {
    digest: Digest,
    /// Steps by action; an action without any is absent.
    pub(in crate::ops) by_action: BTreeMap<Action, u64>,
    /// Jobs that were lost before.
    pub(in crate::ops) lost_before: u64,
}

impl Tally {
    pub(in crate::ops) fn of<'a>(steps: impl Iterator<Item = &'a (Step, StepJob)>) -> Tally {
        let mut tally = Tally::default();
        for (step, StepJob { job, .. }) in steps {
            tally.digest.add(step);
            tally.lost_before += u64::from(job.stalls.is_some_and(|stalls| stalls > 0));
            *tally.by_action.entry(step.action).or_default() += 1;
        }
        tally
    }

    /// The digest, and the steps by action.
    pub(in crate::ops) fn finish(self) -> (String, BTreeMap<Action, u64>) {
        (self.digest.finish(), self.by_action)
    }
}
