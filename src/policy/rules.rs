use super::scope::RestartScope;
use super::verdict::Rule;
use crate::model::{Move, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

/// What the operator wants judged, and how.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// How long a claim must have been silent; `None` leaves each source its own threshold.
    pub older: Option<Duration>,
    /// Rules about trouble that `reclaim` and `sweep` act on.
    pub act_on: BTreeSet<Rule>,
    /// The move the operator asked for; `None` lets the rules decide.
    pub to: Option<Move>,
    /// A restart sweep: owners in the scope are dead, whatever their age.
    pub restart: Option<Restart>,
}

/// A restart sweep.
#[derive(Debug, Clone)]
pub struct Restart {
    /// Which owners are dead.
    pub scope: RestartScope,
    /// When the sweep began, by the store's clock: claims made later belong to workers that have just started.
    pub began: Timestamp,
}
