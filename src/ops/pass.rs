//! One pass over a queue: its snapshot, its plan, what confirms it, and its execution with the passes behind it.

use super::OpsError;
use super::order::{ApplyOptions, Mode};
use super::passes::Bound;
use super::plan::{Plan, PlanSource, ReadyPlan};
use super::progress::Progress;
use super::reclaim::{Reclaimed, reclaim};
use super::session::{Session, Snapshot};
use super::spool::Spool;
use crate::output::advice;
use crate::policy::{Delay, Policy};
use crate::store::catalog;
use std::rc::Rc;
use std::time::Duration;

/// How long the database may take to say whether it can store a text.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Pass<'a> {
    pub session: Session<'a>,
    pub source: &'a PlanSource,
    pub mode: Mode,
    /// True if it is about interrupted jobs instead of claims.
    pub of_interrupted: bool,
    /// True if losses are counted, for a stall budget.
    pub counts_losses: bool,
    /// How much later than now requeued jobs may run.
    pub delay: Delay,
    /// The time between the plan and the snapshot that confirms it.
    pub confirm_after: Option<Duration>,
    /// True if the list of its steps is wanted whole.
    pub is_whole: bool,
    pub progress: Rc<dyn Progress>,
    /// Told of the plan before the pause of a confirmation.
    pub on_pause: &'a dyn Fn(&ReadyPlan, Duration),
}

impl Pass<'_> {
    pub fn snapshot(&self) -> Result<Snapshot, OpsError> {
        let mut snapshot =
            if self.of_interrupted { self.session.snapshot_of_interrupted()? } else { self.session.snapshot()? };
        snapshot.progress = self.progress.clone();
        snapshot.spool = self.is_whole.then(|| Spool::new(self.mode == Mode::Plan));
        snapshot.return_later(&self.delay)?;
        if self.counts_losses { snapshot.counting_losses() } else { Ok(snapshot) }
    }

    /// Plans in a snapshot; `reason` is what is to be written with each job.
    pub fn plan(&self, snapshot: &mut Snapshot, policy: &Policy, reason: Option<&str>) -> Result<Plan, OpsError> {
        if let Some(reason) = reason {
            require_storable(snapshot, reason)?;
        }
        self.source.plan(snapshot, policy)
    }

    /// Ends the snapshot of a plan, and keeps the steps that a second one confirms; all of them where none is asked for.
    pub fn confirmed(&self, mut plan: Plan, snapshot: Snapshot, policy: &Policy) -> Result<ReadyPlan, OpsError> {
        if self.mode == Mode::ServerDryRun {
            snapshot.beyond_rollback().into_iter().for_each(|warning| plan.warn(warning));
        }
        self.confirmed_from(self.source, plan.ready(snapshot), policy)
    }

    fn confirmed_from(&self, source: &PlanSource, plan: ReadyPlan, policy: &Policy) -> Result<ReadyPlan, OpsError> {
        let Some(after) = self.confirm_after.filter(|_| !plan.is_empty()) else { return Ok(plan) };
        (self.on_pause)(&plan, after);
        self.confirm(plan, source, policy, after)
    }

    /// Carries the plan out, or only reports it, as the mode says, and goes on with the jobs that it had no room for. An
    /// error means that nothing was written.
    pub fn carry_out(&self, plan: ReadyPlan, policy: &Policy, order: ApplyOptions<'_>) -> Result<Reclaimed, OpsError> {
        let next = |bound: Bound| {
            let (source, mut snapshot) = (self.source.within(bound), self.snapshot()?);
            let plan = source.plan(&mut snapshot, policy)?;
            self.confirmed_from(&source, plan.ready(snapshot), policy)
        };
        // A dry run on the server would meet the same jobs again.
        let goes_on = self.mode == Mode::Apply;
        let order = ApplyOptions { next: goes_on.then_some(&next), ..order };
        reclaim(self.session.store, self.session.limits, plan, &order)
    }
}

/// Refuses a reason that the database's encoding cannot store.
fn require_storable(snapshot: &mut Snapshot, reason: &str) -> Result<(), OpsError> {
    match snapshot.reader.sample(&catalog::echo(reason), PATIENCE) {
        Err(error) if error.code.as_deref() == Some(catalog::UNSTORABLE) => {
            let (message, hint) = advice::unstorable_reason(&error.to_string());
            Err(OpsError::usage(message, hint))
        }
        _ => Ok(()),
    }
}
