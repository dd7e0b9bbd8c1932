//! What the operator wants judged, and how.

use super::live_owners::Living;
use super::scope::{Restart, RestartScope};
use super::thresholds::{Thresholds, TooLong};
use super::unchanged::EarlierSnapshot;
use super::verdict::Rule;
use crate::model::Action;
use crate::preset::{ActionSpec, QueueSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What the operator wants judged, and how.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// How long a claim must have been silent; `None` leaves each source its own threshold.
    pub older: Option<Duration>,
    /// The config file's thresholds for single queues and kinds, and for run times.
    pub thresholds: Thresholds,
    /// Rules about trouble that `reclaim` and `sweep` act on.
    pub act_on: BTreeSet<Rule>,
    /// The action for a rule that fires, if not the usual one.
    pub actions: BTreeMap<Rule, Action>,
    /// How long a job may be in a state, and the action after that.
    pub too_long: TooLong,
    /// The action the operator asked for; `None` lets the rules decide.
    pub to: Option<Action>,
    /// The stall budget: a job that was lost that often before is failed instead of requeued; `None` is no limit.
    pub max_stalls: Option<u32>,
    /// Whether a job is failed whose requeue a unique key refuses; `None` lets the requeue decide. A script cannot do
    /// it.
    pub fails_refused: Option<bool>,
    /// A restart sweep: owners in the scope are dead, whatever their age.
    pub restart: Option<Restart>,
    /// The live-owner list, from outside the database.
    pub living: Option<Living>,
    pub earlier: Option<Arc<EarlierSnapshot>>,
}

impl Policy {
    /// The live-owner list, whether it is one rule of several or the scope of a restart sweep.
    pub fn list(&self) -> Option<&Living> {
        match &self.restart {
            Some(Restart { scope: RestartScope::NotListed(living), .. }) => Some(living),
            _ => self.living.as_ref(),
        }
    }

    /// The fail of a job whose requeue a unique key refuses, if the operator or the requeue itself asks for it.
    pub fn instead_of_requeue<'s>(&self, spec: &'s QueueSpec) -> Option<&'s ActionSpec> {
        let asks = |requeue: &ActionSpec| self.fails_refused.unwrap_or(requeue.fails_refused);
        let is_asked = !spec.waits && spec.actions.get(&Action::Requeue).is_some_and(asks);
        spec.actions.get(&Action::Fail).filter(|fail| is_asked && fail.refused.is_none())
    }

    /// True if evidence from outside a claim's row can make it stuck or unknown: then no pre-filter by columns may
    /// leave one out.
    pub fn needs_every_claim(&self) -> bool {
        self.restart.is_some() || self.living.is_some() || self.earlier.is_some()
    }
}
