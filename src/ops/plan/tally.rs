//! What a plan comes to: its digest, how many steps of which action it has, and how many jobs were lost before.

use crate::model::{Action, Step};
use crate::policy::Digest;
use std::collections::BTreeMap;
use std::io;

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
    /// Of steps whose losses do not matter.
    pub(in crate::ops) fn of(steps: impl Iterator<Item = io::Result<Step>>) -> io::Result<Tally> {
        let mut tally = Tally::default();
        for step in steps {
            tally.add(&step?, None);
        }
        Ok(tally)
    }

    /// Takes one step in, of a job that was lost so often before, if that is known.
    pub(in crate::ops) fn add(&mut self, step: &Step, stalls: Option<i64>) {
        self.digest.add(step);
        self.lost_before += u64::from(stalls.is_some_and(|stalls| stalls > 0));
        *self.by_action.entry(step.action).or_default() += 1;
    }

    /// The digest, and the steps by action.
    pub(in crate::ops) fn finish(self) -> (String, BTreeMap<Action, u64>) {
        (self.digest.finish(), self.by_action)
    }
}
