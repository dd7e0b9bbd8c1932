//! Decides whether a plan may be executed.

use super::plan::Plan;
use crate::output::{Refusal, remedy};
use crate::policy::{Brake, Circumstances, Override};
use crate::store::{Forbids, Store};

/// Why nothing is written to a database in this place, if so.
pub(super) fn refusal_of_place(store: &dyn Store) -> Option<String> {
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
    /// True if the database is a standby.
    pub is_standby: bool,
    /// Why the live-owner list may be that of another queue; `--max-jobs` on the command line clears this.
    pub wrong_list: Option<String>,
    /// What overrides the brake.
    pub overridden: Option<Override>,
}

impl Guard<'_> {
    /// What the brake makes of the plan.
    pub(super) fn brake(&self, plan: &Plan) -> Brake {
        let measured = &plan.measured;
        let circumstances = Circumstances {
            is_scoped: measured.is_scoped,
            is_standby: self.is_standby,
            up: measured.up,
            overridden: self.overridden,
        };
        Brake::on(plan.claims.steps.len() as u64 + plan.later, measured.gauge.as_ref(), &circumstances)
    }

    /// Why the plan is not executed, if so.
    pub(super) fn refusal(&self, plan: &Plan, brake: &Brake) -> Option<Refusal> {
        let pulled = || brake.pulled.then(|| Refusal::Brake(brake.why.clone()));
        self.refusal_of_place().or_else(|| self.refusal_of_script(plan)).or_else(pulled)
    }

    /// Why there is no script of the plan, if so. A read-only target and a standby are what scripts are for, and the
    /// script itself warns of the brake.
    pub(super) fn refusal_of_script(&self, plan: &Plan) -> Option<Refusal> {
        let steps = plan.total();
        let expected = self.expect.filter(|expected| !plan.digest.starts_with(*expected));
        let other_plan = |expected: &str| Refusal::OtherPlan {
            expected: expected.to_owned(),
            digest: plan.short_digest().to_owned(),
        };
        let wrong_list = || self.wrong_list.clone().filter(|_| steps > 0).map(Refusal::WrongList);
        expected.map(other_plan).or_else(|| self.size(steps)).or_else(wrong_list)
    }

    /// Why nothing is written there, not even to be rolled back, if so.
    pub(super) fn refusal_of_place(&self) -> Option<Refusal> {
        let read_only = self.read_only.map(|target| Refusal::ReadOnly(target.to_owned()));
        read_only.or_else(|| self.is_standby.then_some(Refusal::Standby))
    }

    fn size(&self, steps: u64) -> Option<Refusal> {
        self.max_jobs.filter(|max| steps > *max).map(|max| Refusal::TooLarge { steps, max })
    }
}
