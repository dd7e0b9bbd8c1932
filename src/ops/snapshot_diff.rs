//! What is new and what is gone from one snapshot to the next.

use super::stale::stale;
use super::{OpsError, Selection, Snapshot};
use crate::model::{Claim, Timestamp};
use crate::output::{Collector, Job, Stale};
use crate::policy::Policy;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A snapshot compared with the one before it: which findings are new, and which are gone.
///
/// A finding is a job with its claim: a job that was requeued, claimed again and is stuck again is gone and new. All of
/// them are compared, in some 50 bytes of memory a finding; the first are listed.
pub struct SnapshotDiff {
    pub document: Stale,
    /// What the snapshot before it listed and this one did not find, as it was then.
    pub gone: Vec<Job>,
    /// How many findings of the snapshot before are gone in all.
    pub all_gone: usize,
    seen: HashSet<u64>,
    before: HashSet<u64>,
}

impl SnapshotDiff {
    /// Compares a snapshot with the last one, if there is one: new jobs come first, and at most `most` are listed.
    pub fn of(
        last: Option<&SnapshotDiff>,
        snapshot: &mut Snapshot,
        selection: &Selection,
        policy: &Policy,
        most: usize,
    ) -> Result<SnapshotDiff, OpsError> {
        let (mut seen, before) = (HashSet::new(), last.map(|last| last.seen.clone()).unwrap_or_default());
        let document = stale(snapshot, selection, policy, Collector::first(most), &mut |claim: &Claim| {
            let owner = claim.owner.as_ref().map(|owner| owner.name.as_str());
            let mark = mark(&claim.key.to_string(), owner, claim.claimed_at.at());
            seen.insert(mark);
            !before.contains(&mark)
        })?;
        let all_gone = before.difference(&seen).count();
        let gone = last.into_iter().flat_map(SnapshotDiff::findings).filter(|job| !seen.contains(&mark_of(job)));
        let gone = gone.cloned().collect();
        Ok(SnapshotDiff { document, gone, all_gone, seen, before })
    }

    /// The stuck claims that this snapshot lists, then the unknown ones.
    pub fn findings(&self) -> impl Iterator<Item = &Job> {
        self.document.jobs.items().iter().chain(&self.document.unknown)
    }

    /// True if the snapshot before did not find this job.
    pub fn is_new(&self, job: &Job) -> bool {
        !self.before.contains(&mark_of(job))
    }
}

fn mark_of(job: &Job) -> u64 {
    mark(&job.id, job.owner.as_deref(), job.claimed_at)
}

/// A hash that identifies a finding; collisions are one in 10^15.
fn mark(id: &str, owner: Option<&str>, claimed_at: Option<Timestamp>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, owner, claimed_at).hash(&mut hasher);
    hasher.finish()
}
