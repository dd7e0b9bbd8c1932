//! What keeps a plan from being executed.

use super::plan::Plan;
use crate::output::remedy;
use crate::policy::{Brake, Circumstances, Lifted};
use crate::store::Store;

/// Why nothing is written to a database in this place, if so.
pub(super) fn refusal_of_place(store: &dyn Store) -> Option<String> {
    let caution = store.caution().filter(|caution| caution.forbids_writing)?;
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
    /// Why the list of living owners may be the wrong one; saying how many jobs may move lifts it.
    pub wrong_list: Option<String>,
    /// What lifts the brake.
    pub lifted: Option<Lifted>,
}

impl Guard<'_> {
    /// What the brake makes of the plan.
    pub(super) fn brake(&self, plan: &Plan) -> Brake {
        let measured = &plan.measured;
        let circumstances = Circumstances {
            is_scoped: measured.is_scoped,
            is_standby: self.is_standby,
            up: measured.up,
            lifted: self.lifted,
        };
        Brake::on(plan.claims.steps.len() as u64, measured.gauge.as_ref(), &circumstances)
    }

    /// Why the plan is not executed, if so.
    pub(super) fn refusal(&self, plan: &Plan, brake: &Brake) -> Option<String> {
        let steps = plan.len() as u64;
        let pulled = || brake.pulled.then(|| format!("the brake: {}", brake.why.join("; ")));
        self.place()
            .or_else(|| self.moved(plan))
            .or_else(|| self.size(steps))
            .or_else(|| self.list(steps))
            .or_else(pulled)
    }

    /// Why there is no script of the plan, if so: a read-only target and a standby are what scripts are for, and of the brake
    /// the script itself tells whoever runs it.
    pub(super) fn refusal_of_script(&self, plan: &Plan) -> Option<String> {
        let steps = plan.len() as u64;
        self.moved(plan).or_else(|| self.size(steps)).or_else(|| self.list(steps))
    }

    /// The same for so many steps that no judgement has led to.
    pub(super) fn refusal_of(&self, steps: u64) -> Option<String> {
        self.place().or_else(|| self.size(steps))
    }

    fn place(&self) -> Option<String> {
        if let Some(target) = self.read_only {
            return Some(format!("target {target} is read-only in the config file"));
        }
        self.is_standby.then(|| "this is a standby; its primary is the place to apply".to_owned())
    }

    fn moved(&self, plan: &Plan) -> Option<String> {
        let expected = self.expect.filter(|expected| !plan.digest.starts_with(*expected))?;
        let now = plan.short_digest();
        Some(format!("the plan is no longer the one expected: {expected} was said, and it is {now} now"))
    }

    fn list(&self, steps: u64) -> Option<String> {
        let why = self.wrong_list.as_ref().filter(|_| steps > 0)?;
        Some(format!("{why}. If that is right, say with --max-jobs how many jobs may move"))
    }

    fn size(&self, steps: u64) -> Option<String> {
        let max = self.max_jobs.filter(|max| steps > *max)?;
        Some(format!("the plan has {steps} steps and --max-jobs allows {max}"))
    }
}
