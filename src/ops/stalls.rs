//! How often a job was lost before: counted in a column of its row, or by a source outside of it.

use super::OpsError;
use super::delay::can_return_later;
use super::session::Snapshot;
use crate::model::Claim;
use crate::output;
use crate::policy::{Delay, Draft, Policy, why_failed};

/// Counts, outside of the rows, how often jobs were lost.
pub trait CountStalls {
    /// How often the job of that claim was lost before, as far as this source knows; 0 if it has never heard of it.
    fn stalls_of(&self, claim: &Claim) -> i64;
}

impl<F: Fn(&Claim) -> i64> CountStalls for F {
    fn stalls_of(&self, claim: &Claim) -> i64 {
        self(claim)
    }
}

impl dyn CountStalls {
    /// The claim with its losses.
    pub(super) fn counted(&self, claim: Claim) -> Claim {
        Claim { stalls: Some(self.stalls_of(&claim)), ..claim }
    }
}

impl Snapshot {
    /// The snapshot with losses counted by `source`, where the rows do not count them.
    #[must_use]
    pub fn counting_stalls(self, source: Box<dyn CountStalls>) -> Snapshot {
        if self.counts_stalls() { self } else { Snapshot { stalls: Some(source), ..self } }
    }

    /// True if its claims know how often they were lost before.
    pub fn counts_stalls(&self) -> bool {
        self.spec.attempts.stalls.is_some() || self.stalls.is_some()
    }
}

/// Refuses a budget that nothing counts, which would never be spent.
pub(super) fn must_be_counted(snapshot: &Snapshot, max_stalls: Option<u32>) -> Result<(), OpsError> {
    match max_stalls {
        Some(_) if !snapshot.counts_stalls() => Err(OpsError::usage(
            format!("--max-stalls: nothing counts how often a job of preset {} was lost before", snapshot.spec.preset),
            "leave it out, in the config file too; a mapping can name a column that its requeue counts up: \
             `stalls` in [attempts]. On SQLite a run counts losses only where attempts are counted or the key is AUTOINCREMENT",
        )),
        _ => Ok(()),
    }
}

/// What the target asks of every run and this queue cannot do: it would refuse each. With the word for programs.
pub fn unfit_for_target(snapshot: &Snapshot, max_stalls: Option<u32>, delay: &Delay) -> Vec<(&'static str, String)> {
    let budget = must_be_counted(snapshot, max_stalls).err().map(|error| ("max_stalls", error.to_string()));
    let delay = can_return_later(&snapshot.spec, delay).err().map(|error| ("delay", error.to_string()));
    budget.into_iter().chain(delay).collect()
}

/// Says with a job that its budget fails it.
pub(super) fn explain(job: &mut output::Job, claim: &Claim, policy: &Policy, draft: &Draft) {
    let why = why_failed(claim, policy, draft);
    job.reasons.extend(why.map(|detail| output::Reason { rule: "max_stalls".to_owned(), proves: None, detail }));
}
