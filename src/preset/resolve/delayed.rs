//! What a requeue does where the job is to run later, for queues that need more for it than another time.

use super::Binder;
use crate::model::Action;
use crate::preset::SpecError;
use crate::preset::document::{ActionDoc, StepDoc};
use crate::preset::queue::{ActionSpec, Attempts, ClaimSpec};

impl Binder<'_> {
    /// The action with what the preset lays over it for a delay; `None` where nothing is different.
    pub(super) fn delayed(
        &self,
        action: Action,
        doc: &ActionDoc,
        claim: &ClaimSpec,
        attempts: &Attempts,
    ) -> Result<Option<ActionSpec>, SpecError> {
        let Some(delayed) = &doc.delayed else { return Ok(None) };
        let wrong = |message: &str| SpecError::whole(self.name, format!("[action.{action}.delayed] {message}"));
        if action != Action::Requeue {
            return Err(wrong("means nothing: only a job that goes back to the queue runs later"));
        }
        let mut doc = ActionDoc { delayed: None, ..doc.clone() };
        if delayed.refused.is_some() {
            doc.refused.clone_from(&delayed.refused);
            return self.action_named(&doc, claim, attempts).map(Some);
        }
        if delayed.to.is_some() {
            doc.to.clone_from(&delayed.to);
        }
        let [StepDoc::Update { clear, stamp, set }] = doc.steps.as_mut_slice() else {
            return Err(wrong("can be laid over an action of one UPDATE only"));
        };
        for (column, written, value) in &delayed.set {
            clear.retain(|other| other.text != *column);
            stamp.retain(|other| other.text != *column);
            set.retain(|(other, _, _)| other != column);
            set.push((column.clone(), written.clone(), value.clone()));
        }
        self.action_named(&doc, claim, attempts).map(Some)
    }
}
