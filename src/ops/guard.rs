//! What keeps a plan from being executed.

use super::plan::Plan;
use crate::policy::{Brake, Circumstances, Lifted};

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
        Brake::on(plan.len() as u64, measured.gauge.as_ref(), &circumstances)
    }

    /// Why the plan is not executed, if so.
    pub(super) fn refusal(&self, plan: &Plan, brake: &Brake) -> Option<String> {
        let steps = plan.len() as u64;
        if let Some(target) = self.read_only {
            return Some(format!("target {target} is read-only in the config file"));
        }
        if self.is_standby {
            return Some("this is a standby; its primary is the place to apply".to_owned());
        }
        if let Some(expected) = self.expect.filter(|expected| !plan.digest.starts_with(*expected)) {
            return Some(format!(
                "the plan is no longer the one expected: {expected} was said, and it is {} now",
                plan.short_digest()
            ));
        }
        if let Some(max) = self.max_jobs.filter(|max| steps > *max) {
            return Some(format!("the plan has {steps} steps and --max-jobs allows {max}"));
        }
        brake.pulled.then(|| format!("the brake: {}", brake.why.join("; ")))
    }
}
