//! The passes of one run: a plan holds a bounded number of steps, and an apply goes on with a plan of the rest.

use crate::model::{Claim, Clocks, Key, Step, Timestamp};
use crate::policy::Digest;
use crate::preset::Jobs;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

/// The most steps of a plan. Each takes some 2 kB, a plan in the making holds a quarter more, and 64 MiB have room for the
/// keys of a million jobs, for the list that is printed and for the rest of the program too.
pub(super) const STEPS: usize = 5_000;

/// Leaves 12 bits of a hash: a million keys make lists of some 250.
const SHARED: u32 = 52;

/// A set that keeps hashes, because there may be a million keys: sorted lists of those that begin alike, of which none doubles.
/// Where two are equal, a job is left to the next run.
#[derive(Debug, Clone, Default)]
pub struct Hashes {
    hasher: RandomState,
    alike: BTreeMap<u64, Vec<u64>>,
}

impl Hashes {
    /// Adds one; false if it was there.
    pub(super) fn insert(&mut self, value: impl Hash) -> bool {
        let hash = self.hash(value);
        let alike = self.alike.entry(hash >> SHARED).or_default();
        let Err(at) = alike.binary_search(&hash) else { return false };
        alike.reserve_exact(1);
        alike.insert(at, hash);
        true
    }

    pub(super) fn has(&self, value: impl Hash) -> bool {
        self.has_hash(self.hash(value))
    }

    pub(super) fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }

    pub(super) fn has_hash(&self, hash: u64) -> bool {
        self.alike.get(&(hash >> SHARED)).is_some_and(|alike| alike.binary_search(&hash).is_ok())
    }
}

/// Which steps of a later snapshot belong to a run.
#[derive(Debug, Clone, Default)]
pub struct Bound {
    /// When the run began; what was claimed since belongs to the next one.
    pub(super) began: Option<Timestamp>,
    /// The keys of jobs that an earlier pass has tried.
    pub(super) tried: Arc<Hashes>,
    /// The steps that the first snapshot of the run planned: nothing else is acted on.
    pub(super) only: Option<Arc<Digest>>,
    /// The keys of the jobs of those steps, by their table: the confirmation tells what became of each.
    pub(super) confirmed: Arc<BTreeMap<String, BTreeSet<String>>>,
    /// How many are left of the jobs of each part that the brake and `--max-jobs` have counted.
    pub(super) left: Option<Vec<u64>>,
    /// Passes before this one.
    pub(super) passes: usize,
    /// True if it does not matter which of the steps come first.
    pub(super) in_any_order: bool,
    /// The run that an undo reverts: the beginning of its id may fit the undo's own by now.
    pub(super) run_id: Option<String>,
}

impl Bound {
    /// How many jobs are left of a part.
    pub(super) fn left(&self, part: usize) -> Option<u64> {
        self.left.as_ref().map(|left| left.get(part).copied().unwrap_or(0))
    }

    pub(super) fn is_confirmed(&self, jobs: &Jobs, key: &Key) -> bool {
        self.confirmed.get(&jobs.claim.lock_table).is_some_and(|keys| keys.contains(&key.exact()))
    }

    pub(super) fn admits(&self, jobs: &Jobs, claim: &Claim, step: &Step) -> bool {
        let is_earlier = |began: Timestamp| claim.claimed_at.at().is_none_or(|at| began.is_after(at, Clocks::One));
        // No worker holds a job that waits.
        self.began.is_none_or(|began| jobs.waited() || is_earlier(began))
            && self.only.as_ref().is_none_or(|only| only.has(step))
            && !self.tried.has(claim.key.exact())
    }
}
