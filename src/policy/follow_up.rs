//! What became of a job after it was requeued.

use super::Policy;
use super::judge::judge;
use super::verdict::Verdict;
use crate::model::{Claim, Timestamp};
use crate::preset::{Jobs, StateSource, StepSpec, Touch};

/// What became of a requeued job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Afterwards {
    /// No worker has taken it yet.
    Waiting,
    /// A worker holds it again, and shows life.
    PickedUp,
    /// A worker held it again, and is dead too.
    StuckAgain,
    /// No worker holds it, and the table does not say whether it waits or has ended.
    NotInFlight,
    Finished,
    /// It ended badly, or was cancelled.
    Failed,
    /// Its row is gone: many libraries delete finished jobs, and people delete jobs.
    Gone,
}

impl Afterwards {
    /// True if it cannot change any more.
    pub fn is_end(self) -> bool {
        matches!(self, Afterwards::Finished | Afterwards::Failed | Afterwards::Gone)
    }
}

/// What became of a job, by what a snapshot found under its key: the claim, and whether it is in flight. The job was
/// moved, so a claim in flight is a new one.
pub fn afterwards(jobs: &Jobs, found: Option<(&Claim, bool)>, policy: &Policy, now: Timestamp) -> Afterwards {
    match found {
        None if returns_by_delete(jobs) => Afterwards::NotInFlight,
        None => Afterwards::Gone,
        Some((claim, true)) => match judge(jobs, claim, policy, now).verdict {
            verdict @ Verdict::Stuck(_) if verdict.is_death() => Afterwards::StuckAgain,
            _ => Afterwards::PickedUp,
        },
        Some((claim, false)) => {
            let states = &jobs.queue.states;
            let is = |list: &[crate::preset::StateValue]| list.iter().any(|state| state.name == claim.state);
            match &jobs.claim.state {
                StateSource::Column(_) if is(&states.waiting) => Afterwards::Waiting,
                StateSource::Column(_) if is(&states.done) => Afterwards::Finished,
                StateSource::Column(_) if is(&states.failed) || is(&states.cancelled) => Afterwards::Failed,
                _ => Afterwards::NotInFlight,
            }
        }
    }
}

/// True if a requeue deletes the row under whose key the job is looked up: the claim is a row of its own.
fn returns_by_delete(jobs: &Jobs) -> bool {
    let deletes = |step: &StepSpec| match step {
        StepSpec::Sql { sql, .. } => sql.touches().contains(&(Touch::Delete, jobs.claim.lock_table.as_str())),
        StepSpec::Update(_) => false,
    };
    jobs.actions.get(&crate::model::Action::Requeue).is_some_and(|moved| moved.steps.iter().any(deletes))
}
