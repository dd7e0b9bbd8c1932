use super::saved::saved_policy;
use super::{Plan, plan, plan_again};
use crate::ops::OpsError;
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::output::SavedPlan;
use crate::policy::Policy;

/// What a plan is asked to be about.
pub enum PlanSource {
    /// The claims of a selection.
    Selection(Box<Selection>),
    /// The jobs of a plan in a file; and what to call that file.
    Saved(String, Box<SavedPlan>),
}

impl PlanSource {
    /// Drafts the plan.
    ///
    /// # Errors
    /// See [`plan`] and [`plan_again`].
    pub fn plan(&self, snapshot: &mut Snapshot, policy: &Policy) -> Result<Plan, OpsError> {
        match self {
            PlanSource::Selection(selection) => plan(snapshot, selection, policy),
            PlanSource::Saved(name, saved) => plan_again(snapshot, name, saved, policy),
        }
    }

    /// The same for a second snapshot: the limit has cut the first plan already, and a job that is not in that one must not push
    /// out one that is.
    pub(in crate::ops) fn plan_without_limit(
        &self,
        snapshot: &mut Snapshot,
        policy: &Policy,
    ) -> Result<Plan, OpsError> {
        match self {
            PlanSource::Selection(selection) => {
                plan(snapshot, &Selection { limit: None, ..(**selection).clone() }, policy)
            }
            PlanSource::Saved(..) => self.plan(snapshot, policy),
        }
    }

    /// How the claims are judged: as the plan in the file was, over what is in force now.
    ///
    /// # Errors
    /// When what the file says of it makes no sense.
    pub fn policy(&self, policy: Policy) -> Result<Policy, OpsError> {
        match self {
            PlanSource::Selection(_) => Ok(policy),
            PlanSource::Saved(name, saved) => saved_policy(name, &saved.policy, policy),
        }
    }

    /// True if jobs were named, each of which somebody waits to hear of.
    pub fn is_by_name(&self) -> bool {
        match self {
            PlanSource::Selection(selection) => selection.is_by_name(),
            PlanSource::Saved(..) => true,
        }
    }
}
