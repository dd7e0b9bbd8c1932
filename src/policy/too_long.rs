//! How long a job may be in a state, by the config file.

use super::scope::Globs;
use crate::model::{Action, Claim};
use crate::preset::Written;
use std::time::Duration;

/// `[[target.NAME.too_long]]`, in the order of the file: of those that are about a job, the first counts.
#[derive(Debug, Clone, Default)]
pub struct TooLong {
    /// The target's name.
    pub target: String,
    /// The entries.
    pub entries: Vec<StateLimit>,
}

/// One entry: which jobs, how long they may be so, and what is done with them then.
#[derive(Debug, Clone)]
pub struct StateLimit {
    /// Its place in the file, counted from 1.
    pub number: usize,
    /// The state, by the queue's own name for it.
    pub state: Written,
    /// Jobs of queues that match; by default of any.
    pub queue: Globs,
    /// Jobs of kinds that match; by default of any.
    pub kind: Globs,
    /// How long it may be in that state.
    pub after: Duration,
    /// For a state before running: the column that says since when. Jobs in flight are so since their claim.
    pub since: Option<Written>,
    /// What is done then.
    pub action: Action,
}

impl TooLong {
    /// The entry that counts for a job.
    pub fn limit(&self, claim: &Claim) -> Option<&StateLimit> {
        self.entries.iter().find(|entry| {
            entry.state.text == claim.state
                && entry.queue.admits(claim.queue.as_deref())
                && entry.kind.admits(claim.kind.as_deref())
        })
    }

    /// The shortest time that any entry for jobs in flight allows.
    pub fn shortest_in_flight(&self) -> Option<Duration> {
        self.entries.iter().filter(|entry| entry.since.is_none()).map(|entry| entry.after).min()
    }

    /// What to call an entry.
    pub fn name(&self, entry: &StateLimit) -> String {
        format!("too_long {} of target {}", entry.number, self.target)
    }
}
