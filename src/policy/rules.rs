use super::live_owners::Living;
use super::scope::RestartScope;
use super::thresholds::Thresholds;
use super::too_long::TooLong;
use super::unchanged::EarlierSnapshot;
use super::verdict::Rule;
use crate::model::{Action, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What the operator wants judged, and how.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// How long a claim must have been silent; `None` leaves each source its own threshold.
    pub older: Option<Duration>,
    /// What the config file says of single queues and kinds, and of how long a job may run.
    pub thresholds: Thresholds,
    /// Rules about trouble that `reclaim` and `sweep` act on.
    pub act_on: BTreeSet<Rule>,
    /// What is done where such a rule fires, if not what is usual.
    pub actions: BTreeMap<Rule, Action>,
    /// How long a job may be in a state, and what is done then.
    pub too_long: TooLong,
    /// The action the operator asked for; `None` lets the rules decide.
    pub to: Option<Action>,
    /// A job that was lost that often before is failed instead of requeued; `None` is no limit.
    pub max_stalls: Option<u32>,
    /// A restart sweep: owners in the scope are dead, whatever their age.
    pub restart: Option<Restart>,
    /// Who is alive, as somebody outside of the database knows it.
    pub living: Option<Living>,
    /// What earlier looks saw.
    pub looks: Option<Arc<EarlierSnapshot>>,
}

impl Policy {
    /// The list of living owners, whether it is a rule beside others or all that counts.
    pub fn list(&self) -> Option<&Living> {
        match &self.restart {
            Some(Restart { scope: RestartScope::NotListed(living), .. }) => Some(living),
            _ => self.living.as_ref(),
        }
    }

    /// True if a claim may be called stuck or unknown for what its columns alone do not tell: then no pre-filter by columns
    /// may leave one out.
    pub fn needs_every_claim(&self) -> bool {
        self.restart.is_some() || self.living.is_some() || self.looks.is_some()
    }
}

/// A restart sweep.
#[derive(Debug, Clone)]
pub struct Restart {
    /// Which owners are dead.
    pub scope: RestartScope,
    /// Only claims made before then are dead, whoever holds them; `None` is any.
    pub before: Option<Timestamp>,
    /// When the sweep began, by the database's clock: claims made later belong to workers that have just started.
    pub began: Timestamp,
    /// What was in flight then, where claims do not say when they were made and the sweep has waited since; `None` where the
    /// look that is judged is the first one.
    pub first: Option<Arc<EarlierSnapshot>>,
}
