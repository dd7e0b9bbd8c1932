//! The operator's limits: how long a claim may be silent or run, and how long a job may be in a state.

use super::scope::Globs;
use crate::model::{Action, Claim};
use crate::preset::{Liveness, SilentAfter, Waits, Written};
use std::time::Duration;

/// The thresholds of a target in the config file; empty leaves each source its own.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    pub target: String,
    /// `[[target.NAME.threshold]]`, in order: of those that match a claim, the first that has the value counts.
    pub entries: Vec<Threshold>,
    /// `max_runtime` of the target, for what no entry says otherwise.
    pub max_runtime: Option<Duration>,
    /// True if a flag has set the silence for every claim: then no entry's `older` counts.
    pub overruled: bool,
}

/// One entry: whose claims, and what is allowed to them.
#[derive(Debug, Clone, Default)]
pub struct Threshold {
    /// Claims of queues that match; by default of any.
    pub queue: Globs,
    /// Claims of kinds that match; by default of any.
    pub kind: Globs,
    /// How long they may be silent.
    pub older: Option<Duration>,
    pub max_runtime: Option<Duration>,
}

/// How long something is allowed, and what set that limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Allowed {
    pub span: Duration,
    pub set_by: SetBy,
}

/// What set a limit. Flags come before the config file, and that before the preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetBy {
    /// `--older`.
    Flag,
    Target,
    /// This entry of the target's thresholds, counted from 1.
    Entry(usize),
    /// This entry of the target's limits for states, counted from 1.
    TooLong(usize),
    Row,
    Preset,
}

impl Thresholds {
    /// The shortest silence that an entry allows; `None` where none counts. The pre-filter must let through whatever is
    /// silent for longer than that.
    pub fn shortest_older(&self) -> Option<Duration> {
        self.entries.iter().filter(|_| !self.overruled).filter_map(|entry| entry.older).min()
    }

    /// The shortest run time that the target or an entry allows.
    pub fn shortest_max_runtime(&self) -> Option<Duration> {
        self.entries.iter().filter_map(|entry| entry.max_runtime).chain(self.max_runtime).min()
    }

    /// The first matching entry that has the value, counted from 1.
    pub(super) fn find(
        &self,
        queue: Option<&str>,
        kind: Option<&str>,
        value: impl Fn(&Threshold) -> Option<Duration>,
    ) -> Option<Allowed> {
        let is_about = |entry: &Threshold| entry.queue.admits(queue) && entry.kind.admits(kind);
        let mut matching = self.entries.iter().enumerate().filter(|(_, entry)| is_about(entry));
        matching.find_map(|(n, entry)| Some(Allowed { span: value(entry)?, set_by: SetBy::Entry(n + 1) }))
    }
}

/// What sets the silence of that source where the operator sets none.
pub(super) fn own_word(source: &Liveness) -> SetBy {
    match source.silent_after() {
        Some(SilentAfter::Column(_)) => SetBy::Row,
        _ => SetBy::Preset,
    }
}

/// `[[target.NAME.too_long]]`, in the order of the file: of those that are about a job, the first counts.
#[derive(Debug, Clone, Default)]
pub struct TooLong {
    pub target: String,
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

    /// The jobs that the entries are about which wait: each state and column once.
    pub fn waits(&self) -> Vec<Waits> {
        let mut all: Vec<Waits> = Vec::new();
        for StateLimit { state, since, .. } in &self.entries {
            let is_new = |since: &Written| !all.iter().any(|known| known.is(state, since));
            if let Some(since) = since.clone().filter(is_new) {
                all.push(Waits { state: state.clone(), since });
            }
        }
        all
    }

    /// The shortest time that any entry allows.
    pub fn shortest(&self) -> Duration {
        self.entries.iter().map(|entry| entry.after).min().unwrap_or_default()
    }

    /// The shortest time that any entry for jobs in flight allows.
    pub fn shortest_in_flight(&self) -> Option<Duration> {
        self.entries.iter().filter(|entry| entry.since.is_none()).map(|entry| entry.after).min()
    }
}

/// The share of its allowance, in percent, from which on a claim is late.
const LATE: u128 = 80;

/// True if a claim that was silent for `used` still counts as alive, and has used most of the silence that it is
/// allowed.
pub(super) fn is_late(used: Duration, allowance: Duration) -> bool {
    used.as_nanos() * 100 >= allowance.as_nanos() * LATE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lease of 60 s, and both sides of the boundary.
    #[test]
    fn late_begins_at_four_fifths() {
        let is_late = |used, allowance| super::is_late(Duration::from_millis(used), Duration::from_millis(allowance));
        assert!(is_late(49_000, 60_000) && is_late(48_000, 60_000) && is_late(90_000, 60_000));
        assert!(!is_late(47_999, 60_000) && !is_late(0, 60_000));
        assert!(super::is_late(Duration::MAX, Duration::MAX), "the largest values do not overflow");
    }
}
