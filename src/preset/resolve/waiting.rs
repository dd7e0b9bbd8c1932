//! Jobs that wait in one state, read as claims are.

use crate::model::{Action, AttemptsChange};
use crate::preset::document::{By, Document};
use crate::preset::fields::Written;
use crate::preset::queue::{ActionSpec, Exhausted, QueueSpec};
use crate::preset::{SpecError, WrittenAt, did_you_mean};

/// Jobs that wait in one state. No worker holds them, so no sign of life is read; what is left is since when they wait,
/// and what `[waiting]` of the preset does to them.
#[derive(Debug, Clone)]
pub struct Waits {
    /// One of the queue's waiting states.
    pub state: Written,
    /// The column that says since when; what is NULL there does not wait.
    pub since: Written,
}

impl Waits {
    /// Turns a document about claims into one about these jobs.
    pub(super) fn turn(&self, document: &mut Document) -> Result<(), SpecError> {
        let states = &mut document.states;
        let Some(at) = states.waiting.iter().position(|state| state.name == self.state.text) else {
            let hint = did_you_mean(&self.state.text, states.waiting.iter().map(|state| state.name.as_str()));
            return Err(self.state.error(format!("`{}` is not one of the waiting states{hint}", self.state.text)));
        };
        let state = states.waiting.remove(at);
        // Known all the same: an action may lead there.
        states.waiting.append(&mut states.in_flight);
        states.in_flight.push(state);
        document.claim.claimed_at = Some(self.since.clone());
        // Age is what the limit is about. What else shows life is asked: a worker may hold a job before it says so.
        document.claim.liveness.retain(|source| source.by != By::Age);
        document.claim.progress.clear();
        document.rules = Default::default();
        document.finished = None;
        document.cautions.clear();
        // A job that never ran has used up nothing.
        document.attempts.exhausted = Exhausted::Leave;
        document.attempts.stalls = None;
        Ok(())
    }

    /// Completes what was resolved from such a document.
    pub(super) fn complete(mut spec: QueueSpec) -> QueueSpec {
        spec.actions = std::mem::take(&mut spec.waiting);
        if let (false, Some(state)) = (spec.notify.is_empty(), spec.states.in_flight.first()) {
            let stays = ActionSpec {
                to: state.clone(),
                attempts: AttemptsChange::Keep,
                steps: Vec::new(),
                refused: None,
                locks_for_update: false,
                delayed: None,
                fails_refused: false,
                at: WrittenAt::default(),
            };
            spec.actions.insert(Action::Wake, stays);
        }
        QueueSpec { waits: true, ..spec }
    }
}
