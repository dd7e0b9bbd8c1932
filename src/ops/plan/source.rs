//! What a plan is made from: a selection, a saved plan, or a run that is reverted.

use super::saved::saved_policy;
use super::{Plan, plan, plan_again};
use crate::history::Directory;
use crate::ops::OpsError;
use crate::ops::history::Records;
use crate::ops::passes::{Bound, Hashes, STEPS};
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::ops::undo::undo_plan;
use crate::output::SavedPlan;
use crate::policy::Policy;
use std::sync::Arc;

/// What a plan is made from.
#[derive(Clone)]
pub enum PlanSource {
    /// The claims of a selection.
    Selection(Box<Selection>),
    /// The jobs of a saved plan, after what to call its file.
    Saved(String, Arc<SavedPlan>),
    /// The steps of a run from that one on, by the beginning of its id; they are searched in the journals of this host,
    /// and in the ledger.
    Run(String, Option<Directory>, u64),
}

impl PlanSource {
    pub fn plan(&self, snapshot: &mut Snapshot, policy: &Policy) -> Result<Plan, OpsError> {
        match self {
            PlanSource::Selection(selection) => plan(snapshot, selection, policy),
            PlanSource::Saved(name, saved) => plan_again(snapshot, name, saved, policy),
            PlanSource::Run(prefix, journals, from) => {
                undo_plan(&mut Records { journals: journals.as_ref(), snapshot: Some(snapshot) }, prefix, *from)
            }
        }
    }

    /// For the plan of a second snapshot: a job that is not in the first plan must not push out one that is.
    pub(in crate::ops) fn only(&self, only: Hashes) -> PlanSource {
        self.bounded(|bound| bound.only = Some(Arc::new(only)))
    }

    /// What the next pass of a run plans from.
    pub fn rest(&self, bound: Bound) -> PlanSource {
        match self {
            PlanSource::Run(prefix, journals, _) => {
                let run_id = bound.run_id.unwrap_or_else(|| prefix.clone());
                PlanSource::Run(run_id, journals.clone(), (bound.passes * STEPS) as u64)
            }
            _ => self.bounded(|old| *old = bound),
        }
    }

    fn bounded(&self, change: impl FnOnce(&mut Bound)) -> PlanSource {
        let mut source = self.clone();
        if let PlanSource::Selection(selection) = &mut source {
            change(&mut selection.bound);
        }
        source
    }

    /// How the claims are judged: as for the saved plan, over the settings in force.
    pub fn policy(&self, policy: Policy) -> Result<Policy, OpsError> {
        match self {
            PlanSource::Selection(_) | PlanSource::Run(..) => Ok(policy),
            PlanSource::Saved(name, saved) => saved_policy(name, &saved.policy, policy),
        }
    }

    /// True if the operator named jobs, and expects an answer for each.
    pub fn is_by_name(&self) -> bool {
        match self {
            PlanSource::Selection(selection) => selection.is_by_name(),
            PlanSource::Saved(..) | PlanSource::Run(..) => true,
        }
    }
}
