//! The passes of one run: a plan holds a bounded number of steps, and an apply goes on with a plan of the rest.

use crate::model::{Claim, Clocks, Step, Timestamp};
use crate::policy::Digest;
use crate::preset::QueueSpec;
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
    /// The keys of the jobs of those steps: the confirmation tells what became of each.
    pub(super) confirmed: Arc<BTreeSet<String>>,
    /// How many are left of the claims that the brake and `--max-jobs` have counted, and of the jobs that wait.
    pub(super) left: Option<(u64, u64)>,
    /// Passes before this one.
    pub(super) passes: usize,
    /// True if it does not matter which of the steps come first.
    pub(super) in_any_order: bool,
    /// The run that an undo reverts: the beginning of its id may fit the undo's own by now.
    pub(super) run_id: Option<String>,
}

impl Bound {
    pub(super) fn admits(&self, spec: &QueueSpec, claim: &Claim, step: &Step) -> bool {
        let is_earlier = |began: Timestamp| claim.claimed_at.at().is_none_or(|at| began.is_after(at, Clocks::One));
        // No worker holds a job that waits.
        self.began.is_none_or(|began| spec.waits || is_earlier(began))
            && self.only.as_ref().is_none_or(|only| only.has(step))
            && !self.tried.has(claim.key.exact())
    }
}
