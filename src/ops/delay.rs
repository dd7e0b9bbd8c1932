//! Requeues jobs for later than now.

use super::OpsError;
use super::session::Snapshot;
use crate::model::Action;
use crate::output::Request;
use crate::policy::Delay;
use crate::preset::{ActionSpec, QueueSpec};
use crate::store::chance;
use std::time::Duration;

impl Snapshot {
    /// Plans of this snapshot requeue jobs for later: the plan says which state they come to then.
    pub fn return_later(&mut self, later: &Delay) -> Result<(), OpsError> {
        if let Some(delayed) = can_return_later(&self.spec, later)? {
            self.spec.actions.insert(Action::Requeue, delayed);
        }
        Ok(())
    }
}

/// The requeue that waits, where one is asked for.
pub(super) fn can_return_later(spec: &QueueSpec, later: &Delay) -> Result<Option<ActionSpec>, OpsError> {
    if !later.is_asked() {
        return Ok(None);
    }
    spec.delayed_requeue().map(Some).map_err(|why| {
        let request = Request::Delay { is_jitter: later.delay.is_none(), why };
        OpsError::unsupported(spec, request)
    })
}

/// The waits of a run, dealt out batch by batch.
pub(super) struct Waits {
    later: Delay,
    /// Requeued jobs of the whole run, and how many of them have a wait.
    of: usize,
    dealt: usize,
}

impl Waits {
    /// For a run that requeues so many jobs.
    pub(super) fn new(later: Delay, of: usize) -> Waits {
        Waits { later, of, dealt: 0 }
    }

    /// For the next batch, of so many jobs.
    pub(super) fn next(&mut self, action: Action, count: usize) -> Vec<Duration> {
        if action != Action::Requeue {
            return Vec::new();
        }
        let waits = self.later.waits(self.dealt, count, self.of, chance);
        self.dealt += count;
        waits
    }
}
