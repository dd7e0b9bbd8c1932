//! What is new and what is gone from one snapshot to the next.

use super::OpsError;
use crate::output::{Job, Spool, Stale};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A snapshot compared with the one before it: which findings are new, and which are gone.
///
/// A finding is a job with its claim: a job that was requeued, claimed again and is stuck again is gone and new. It
/// takes some 50 bytes of memory a finding.
pub struct SnapshotDiff {
    pub document: Stale,
    /// What the snapshot before it found and this one did not, as it was then.
    pub gone: Spool<Job>,
    seen: HashSet<u64>,
    before: HashSet<u64>,
}

impl SnapshotDiff {
    /// The first snapshot: everything in it is new.
    pub fn first(document: Stale) -> Result<SnapshotDiff, OpsError> {
        let seen = seen(&document)?;
        Ok(SnapshotDiff { document, gone: Spool::default(), seen, before: HashSet::new() })
    }

    pub fn then(self, document: Stale) -> Result<SnapshotDiff, OpsError> {
        let seen = seen(&document)?;
        let mut gone = Spool::default();
        if self.seen.iter().any(|mark| !seen.contains(mark)) {
            for job in self.findings() {
                let job = job?;
                if !seen.contains(&mark(&job)) {
                    gone.push(0, job)?;
                }
            }
        }
        Ok(SnapshotDiff { document, gone, seen, before: self.seen })
    }

    /// Everything that this snapshot found: stuck claims, longest silent first, then unknown ones.
    pub fn findings(&self) -> impl Iterator<Item = std::io::Result<Job>> {
        self.document.jobs.iter().chain(self.document.unknown.iter())
    }

    /// True if the snapshot before did not find this job.
    pub fn is_new(&self, job: &Job) -> bool {
        !self.before.contains(&mark(job))
    }
}

fn seen(document: &Stale) -> Result<HashSet<u64>, OpsError> {
    let mut seen = HashSet::new();
    for job in document.jobs.iter().chain(document.unknown.iter()) {
        seen.insert(mark(&job?));
    }
    Ok(seen)
}

/// A hash that identifies a finding; collisions are one in 10^15.
fn mark(job: &Job) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&job.id, &job.owner, job.claimed_at).hash(&mut hasher);
    hasher.finish()
}
