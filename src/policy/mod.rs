//! Pure judgement: a claim and a policy in, a verdict out; findings in, steps out. No clock, no I/O.

mod alerts;
mod brake;
mod diagnosis;
mod finding;
mod follow_up;
mod judge;
mod live_owners;
mod plan;
mod resemblance;
mod scope;
mod thresholds;
mod unchanged;
mod verdict;
mod waiting;

pub use alerts::{Alerts, Measure, Range, State};
pub use brake::{Brake, Circumstances, FREE, Gauge, Interrupted, Measured, Override, Up};
use diagnosis::Tally;
pub use diagnosis::{
    Diagnoses, Diagnosis, DiagnosisKind, Doubt, Flow, Group, Grouped, Inconsistencies, Inconsistency, Next,
    UnfamiliarStates,
};
pub(crate) use finding::{Finding, Limit};
pub use finding::{SkipReason, Skipped};
pub use follow_up::{Afterwards, afterwards};
pub use judge::{explain, judge};
pub use live_owners::{LiveOwners, LiveOwnersError, Living, Standing};
pub use plan::{Delay, Draft, PlannedActions, draft, why_failed};
pub use resemblance::{differ_by_a_number, may_be_one_host};
pub use scope::{Globs, Restart, RestartScope, ScopeError, exactly};
pub use thresholds::{Allowed, SetBy, StateLimit, Threshold, Thresholds, TooLong};
pub use unchanged::{Digest, EarlierSnapshot, Print, SeenClaim, Unchanged, key_print, seen};
pub use verdict::{Check, CheckResult, Judgement, Proves, Reason, Rule, Value, Verdict, VerdictKind};
pub use waiting::{Flows, QueueFlow};

use crate::model::{Action, Claim};
use crate::preset::{ActionSpec, Jobs, MaxRuntime};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How long ago a job may have been interrupted to be retried, unless the operator says.
pub const INTERRUPTED_WITHIN: Duration = Duration::from_secs(24 * 3600);

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
    /// Whether a job is failed whose requeue a unique key refuses, even if the requeue does not say so.
    pub fails_refused: bool,
    /// A restart sweep: owners in the scope are dead, whatever their age.
    pub restart: Option<Restart>,
    /// The live-owner list, from outside the database.
    pub living: Option<Living>,
    pub earlier: Option<Arc<EarlierSnapshot>>,
    /// How long ago a job may have been interrupted; `None` where claims are judged.
    pub interrupted: Option<Duration>,
    /// How long due jobs may wait; `None` leaves it to the preset's normal delay.
    pub oldest_due: Option<Duration>,
}

impl Policy {
    /// The policy with `--older`, which counts for every claim whatever the config file says.
    #[must_use]
    pub fn with_older(mut self, flag: Option<Duration>) -> Policy {
        if flag.is_some() {
            self.older = flag;
            self.thresholds.overruled = true;
        }
        self
    }

    /// The policy on jobs that were interrupted within that time. The rules of claims say nothing of them, and they come
    /// back or stay.
    #[must_use]
    pub fn on_interrupted(self, since: Duration) -> Policy {
        let Policy { max_stalls, living, .. } = self;
        Policy { to: Some(Action::Requeue), max_stalls, living, interrupted: Some(since), ..Policy::default() }
    }

    /// How long the operator allows claims of that queue and kind to be silent; `None` leaves each source its own.
    pub fn older_for(&self, queue: Option<&str>, kind: Option<&str>) -> Option<Allowed> {
        let thresholds = &self.thresholds;
        let entry = thresholds.find(queue, kind, |entry| entry.older).filter(|_| !thresholds.overruled);
        let is_of_target = !thresholds.overruled && !thresholds.target.is_empty();
        let set_by = if is_of_target { SetBy::Target } else { SetBy::Flag };
        entry.or(self.older.map(|span| Allowed { span, set_by }))
    }

    /// How long a claim may run: the row's own word, else an entry's, else the target's, else the preset's.
    pub(super) fn max_runtime_for(&self, jobs: &Jobs, claim: &Claim) -> Option<Allowed> {
        let said = |set_by: SetBy| move |span: Duration| Allowed { span, set_by };
        let on_row = matches!(jobs.rules.max_runtime, Some(MaxRuntime::Column(_)));
        let row = claim.max_runtime.filter(|_| on_row).map(said(SetBy::Row));
        let find = || self.thresholds.find(claim.queue.as_deref(), claim.kind.as_deref(), |entry| entry.max_runtime);
        row.or_else(find)
            .or(self.thresholds.max_runtime.map(said(SetBy::Target)))
            .or(claim.max_runtime.map(said(SetBy::Preset)))
    }

    /// The live-owner list, whether it is one rule of several or the scope of a restart sweep.
    pub fn list(&self) -> Option<&Living> {
        match &self.restart {
            Some(Restart { scope: RestartScope::NotListed(living), .. }) => Some(living),
            _ => self.living.as_ref(),
        }
    }

    /// The fail of a job whose requeue a unique key refuses, if the operator or the requeue itself asks for it.
    pub fn instead_of_requeue<'s>(&self, jobs: &'s Jobs) -> Option<&'s ActionSpec> {
        let asks = |requeue: &ActionSpec| self.fails_refused || requeue.fails_refused;
        let is_asked = !jobs.waited() && jobs.actions.get(&Action::Requeue).is_some_and(asks);
        jobs.actions.get(&Action::Fail).filter(|fail| is_asked && fail.refused.is_none())
    }

    /// True if evidence from outside a claim's row can make it stuck or unknown: then no pre-filter by columns may
    /// leave one out.
    pub fn needs_every_claim(&self) -> bool {
        self.restart.is_some() || self.living.is_some() || self.earlier.is_some()
    }
}
