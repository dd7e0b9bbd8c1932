//! Watches requeued jobs, in short snapshots by key.

use super::plan::Plan;
use crate::model::{Action, Claim, Key, Outcome, Verified};
use crate::output::StepJob;
use crate::policy::{Afterwards, Policy, afterwards};
use crate::preset::Jobs;
use crate::store::{Limits, Store, StoreError, StoreErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause after the first snapshot; each is half as long again as the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Keys that one query reads.
const LOOKUP: usize = 1000;
/// The most ids of jobs that are stuck again.
const NAMED: usize = 1000;

/// The jobs of a plan that are to be watched once it is applied.
pub struct RequeuedJobs {
    jobs: Arc<Jobs>,
    /// By which they are judged if they are in flight again.
    policy: Policy,
    /// Each with its id: the document has another order than the plan.
    keys: Vec<(String, Key)>,
}

impl RequeuedJobs {
    /// Remembers the keys of the jobs that the plan requeues: the document has only their ids.
    pub fn of(plan: &Plan, policy: &Policy) -> RequeuedJobs {
        let steps = plan.parts.first().into_iter().flat_map(|part| &part.steps).map(|(step, _)| step);
        let requeues = steps.filter(|step| step.action == Action::Requeue);
        let keys = requeues.map(|step| (step.id.clone(), step.key.clone())).collect();
        // A restart sweep says who was dead before it. Workers that claim a job now are judged by the queue's own
        // evidence.
        let policy = Policy { restart: None, ..policy.clone() };
        RequeuedJobs { jobs: plan.jobs.clone(), policy, keys }
    }

    /// Leaves out the jobs that none of these steps moved.
    pub fn moved(mut self, steps: &[StepJob]) -> RequeuedJobs {
        let moved = steps.iter().filter(|step| step.outcome == Some(Outcome::Moved));
        let moved: BTreeSet<&str> = moved.map(|step| step.job.id.as_str()).collect();
        self.keys.retain(|(id, _)| moved.contains(id.as_str()));
        self
    }

    /// Watches the jobs for `time`, or until each of them has ended, or until an interrupt. `limits` gives the limits of
    /// one snapshot; `report` receives the result of each. If the last one fails, so does this: an earlier one is no
    /// answer.
    pub fn follow(
        &self,
        store: &dyn Store,
        limits: &dyn Fn() -> Limits,
        time: Duration,
        report: &mut dyn FnMut(&Verified),
    ) -> Result<Verified, StoreError> {
        let begun = Instant::now();
        let job = |(_, key): &(String, Key)| Job { key: key.clone(), stands: Afterwards::Waiting };
        let mut jobs: Vec<Job> = self.keys.iter().map(job).collect();
        let mut pause = FIRST_PAUSE;
        loop {
            // Measured first: the snapshot must not be older than the time that is reported as watched.
            let waited = begun.elapsed();
            let seen = self.snapshot(store, &limits(), &mut jobs);
            let interrupted = limits().interrupt.is_raised();
            let is_over = interrupted || waited >= time || jobs.iter().all(|job| job.stands.is_end());
            match seen {
                Err(error) if is_over && !(interrupted && error.kind == StoreErrorKind::Interrupted) => {
                    return Err(error);
                }
                Err(_) => {}
                Ok(()) => report(&verified(&jobs, waited)),
            }
            if is_over {
                return Ok(verified(&jobs, waited));
            }
            limits().interrupt.sleep(pause.min(time.saturating_sub(begun.elapsed())));
            pause = pause.mul_f32(1.5).min(LONGEST_PAUSE);
        }
    }

    /// Reads the jobs that have not ended, and notes what became of them.
    fn snapshot(&self, store: &dyn Store, limits: &Limits, jobs: &mut [Job]) -> Result<(), StoreError> {
        let mut open: Vec<&mut Job> = jobs.iter_mut().filter(|job| !job.stands.is_end()).collect();
        if open.is_empty() {
            return Ok(());
        }
        let mut reader = store.reader(limits, &[])?;
        let now = reader.now();
        for chunk in open.chunks_mut(LOOKUP) {
            let keys: Vec<Key> = chunk.iter().map(|job| job.key.clone()).collect();
            let found = reader.find_keys(&self.jobs, &keys)?;
            let rows: BTreeMap<String, (&Claim, bool)> =
                found.iter().map(|(claim, in_flight)| (claim.key.exact(), (claim, *in_flight))).collect();
            for job in chunk.iter_mut() {
                let row = rows.get(&job.key.exact()).copied();
                job.stands = afterwards(&self.jobs, row, &self.policy, now);
            }
        }
        Ok(())
    }
}

struct Job {
    key: Key,
    stands: Afterwards,
}

fn verified(jobs: &[Job], waited: Duration) -> Verified {
    let count = |stands| jobs.iter().filter(|job| job.stands == stands).count() as u64;
    let stuck = jobs.iter().filter(|job| job.stands == Afterwards::StuckAgain);
    Verified {
        waited_seconds: waited.as_secs_f64(),
        watched: jobs.len() as u64,
        waiting: count(Afterwards::Waiting),
        picked_up: count(Afterwards::PickedUp),
        not_in_flight: count(Afterwards::NotInFlight),
        finished: count(Afterwards::Finished),
        failed: count(Afterwards::Failed),
        stuck_again: count(Afterwards::StuckAgain),
        gone: count(Afterwards::Gone),
        stuck_again_ids: stuck.take(NAMED).map(|job| job.key.to_string()).collect(),
    }
}
