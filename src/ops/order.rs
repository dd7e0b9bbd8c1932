//! What is asked of a run: how far it goes, what guards it, and within which bounds it writes.

use super::OpsError;
use super::passes::Bound;
use super::plan::{Plan, ReadyPlan};
use super::sweep_lock::LockOptions;
use crate::history::{RecordOptions, Recording};
use crate::output::{Refusal, StepJob, remedy};
use crate::policy::{Brake, Circumstances, Delay, Override, Proves};
use crate::preset::Jobs;
use crate::store::{Forbids, Store};

/// Makes the plan of the next pass: of what is due now and was before this run began, without what the run has tried.
pub type NextPass<'a> = &'a dyn Fn(Bound) -> Result<ReadyPlan, OpsError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is reported, and nothing is written.
    Plan,
    /// It is carried out in transactions that are rolled back.
    ServerDryRun,
    Apply,
}

impl Mode {
    pub fn writes(self) -> bool {
        self != Mode::Plan
    }
}

/// Why a job is moved, for the error that the queue keeps with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Dead,
    /// It took too long, or its deadline has passed; its worker may be alive.
    Late,
    Waited,
}

impl Cause {
    pub(super) fn of(jobs: &Jobs, job: &StepJob) -> Cause {
        match job.job.reasons.iter().any(|reason| matches!(reason.proves, Some(Proves::Death | Proves::Age))) {
            _ if jobs.waited() => Cause::Waited,
            true => Cause::Dead,
            false => Cause::Late,
        }
    }

    /// The reason written with a job, before the operator's own.
    fn reason(self, run_id: &str) -> String {
        let words = match self {
            Cause::Dead => "worker presumed dead",
            Cause::Late => "took too long",
            Cause::Waited => "waited too long",
        };
        format!("jobdoctor: {words} (run {run_id})")
    }
}

/// Why nothing is written to a database in this place, if so.
fn refusal_of_place(store: &dyn Store) -> Option<String> {
    let caution = store.caution().filter(|caution| caution.forbids >= Forbids::Writing)?;
    Some(format!("{}; {}", caution.message, remedy(caution.remedy)))
}

/// What the operator and the config file say about whether a plan may be executed.
#[derive(Debug, Clone, Default)]
pub struct Guard<'a> {
    /// `--max-jobs` or the target's `max_jobs`: a plan with more steps is refused.
    pub max_jobs: Option<u64>,
    /// `--expect`: the beginning of the digest that the plan must have.
    pub expect: Option<&'a str>,
    /// The target that the config file calls read-only.
    pub read_only: Option<&'a str>,
    pub is_standby: bool,
    /// Why the live-owner list may be that of another queue; `--max-jobs` on the command line clears this.
    pub wrong_list: Option<String>,
    /// Which hosts still show life that a restart sweep takes for dead.
    pub living: Option<String>,
    pub overridden: Option<Override>,
}

impl Guard<'_> {
    pub(super) fn brake(&self, plan: &Plan) -> Brake {
        let Guard { is_standby, overridden, .. } = *self;
        let circumstances = Circumstances { is_standby, living: self.living.clone(), overridden };
        let steps = plan.own_steps();
        let mut brake = Brake::on(steps, &plan.measured, &circumstances);
        if let (None, Some(Override::MaxJobs(jobs))) = (self.overridden, &mut brake.overridden_by) {
            *jobs = plan.total().max(steps);
        }
        brake
    }

    /// Why the plan is not executed, if so.
    fn refusal(&self, plan: &Plan, brake: &Brake) -> Option<Refusal> {
        let steps = plan.total();
        let expected = self.expect.filter(|expected| !plan.digest.starts_with(*expected));
        let other_plan = |expected: &str| Refusal::OtherPlan {
            expected: expected.to_owned(),
            digest: plan.short_digest().to_owned(),
        };
        let too_large = || Some(Refusal::TooLarge { steps, max: self.max_jobs.filter(|max| steps > *max)? });
        let wrong_list = || self.wrong_list.clone().filter(|_| steps > 0).map(Refusal::WrongList);
        let pulled = || brake.pulled.then(|| Refusal::Brake(brake.why.clone()));
        let of_place = self.refusal_of_place().or_else(|| expected.map(other_plan));
        of_place.or_else(too_large).or_else(wrong_list).or_else(pulled)
    }

    /// Why nothing is written there, not even to be rolled back, if so.
    fn refusal_of_place(&self) -> Option<Refusal> {
        let read_only = self.read_only.map(|target| Refusal::ReadOnly(target.to_owned()));
        read_only.or_else(|| self.is_standby.then_some(Refusal::Standby))
    }
}

/// Whether and within which bounds a plan is executed.
pub struct ApplyOptions<'a> {
    /// The document's name: `jobdoctor.reclaim/v1`, `jobdoctor.sweep/v1` or `jobdoctor.undo/v1`.
    pub schema: &'static str,
    pub mode: Mode,
    pub guard: Guard<'a>,
    /// The run's id, which is part of the reason written with each job.
    pub run_id: String,
    /// How much later than now requeued jobs may run.
    pub later: Delay,
    /// Whether to write without pauses, for when all workers are stopped.
    pub fast: bool,
    /// How it uses the sweep lock; `None` for a run without it.
    pub sweep_lock: Option<LockOptions>,
    /// Who runs it, why, and where the run is recorded.
    pub record: RecordOptions,
    /// How it goes on after a plan that has no room for all jobs; `None` where it does not.
    pub next: Option<NextPass<'a>>,
}

impl ApplyOptions<'_> {
    /// The reason that is written with each job, if the queue keeps its last error.
    pub(super) fn reason(&self, cause: Cause) -> String {
        let words = cause.reason(&self.run_id);
        self.record.reason.as_ref().map_or(words.clone(), |reason| format!("{words}: {reason}"))
    }

    /// Says why nothing is written, if so. A plan that is only printed is not refused.
    pub(super) fn refused(
        &self,
        store: &dyn Store,
        plan: &Plan,
        brake: &Brake,
        recording: &Recording,
    ) -> Option<String> {
        let refusal = match self.mode {
            Mode::Plan => return None,
            Mode::ServerDryRun => self.guard.refusal_of_place(),
            Mode::Apply => self.guard.refusal(plan, brake),
        };
        let refused = refusal.map(|refusal| refusal.to_string()).or_else(|| plan.nothing_left_to_revert());
        let refused = refused.or_else(|| refusal_of_place(store));
        refused.or_else(|| recording.refusal().filter(|_| !plan.is_empty()))
    }
}
