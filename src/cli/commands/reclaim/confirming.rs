//! A second look before anything is moved.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::{APPLYING, LOOKING};
use crate::model::age;
use crate::ops::{self, Look, OpsError, Plan};
use crate::policy::{Policy, Rule};
use crate::render::count;
use crate::store::Limits;
use std::time::Duration;

impl Reclaiming<'_> {
    /// How long the run may take unless the operator has said.
    ///
    /// # Errors
    /// When the operator has, and it leaves no time for a second look.
    pub(super) fn usual_time(&self) -> Result<Duration, CliError> {
        let usual = if self.act.apply { APPLYING } else { LOOKING };
        let usual = usual + self.lock_wait();
        let Some(after) = self.confirm_after() else { return Ok(usual) };
        match self.settings.stated_timeout() {
            Some(timeout) if timeout <= after => {
                let message =
                    format!("waiting {} between two looks leaves nothing of --timeout {}", age(after), age(timeout));
                Err(CliError::new(Exit::Usage, message).hint("make --timeout longer, or --confirm-after shorter"))
            }
            _ => Ok(usual + after),
        }
    }

    /// The plan of which a second look has seen the same, if one was asked for.
    pub(super) fn confirmed(
        &self,
        context: &Context,
        look_again: &dyn Fn() -> Result<Look, OpsError>,
        limits: &Limits,
        plan: Plan,
        policy: &Policy,
    ) -> Result<Plan, CliError> {
        let Some(after) = self.confirm_after().filter(|_| !plan.is_empty()) else { return Ok(plan) };
        if context.ui.is_watched() {
            let jobs = count(plan.len() as u64, "job", "jobs");
            context.ui.note(&format!("{jobs} to move; looking again in {} to see what stood still", age(after)));
        }
        Ok(ops::confirm(look_again, limits, plan, &self.asked, policy, after)?)
    }

    /// Refuses to act on a rule that could never fire here.
    pub(super) fn must_know_progress(&self, look: &Look) -> Result<(), CliError> {
        if !self.act.rule.contains(&Rule::NoProgress) {
            return Ok(());
        }
        if self.beside.look_file.is_none() {
            return Err(CliError::new(Exit::Usage, "--rule no_progress needs two looks to compare")
                .hint("add --look-file FILE, the same in each run"));
        }
        if look.spec.claim.progress.is_empty() {
            let message =
                format!("--rule no_progress: preset {} names no columns that show progress", look.spec.preset);
            return Err(
                CliError::new(Exit::Usage, message).hint("name them with `progress` in the [claim] of a mapping")
            );
        }
        Ok(())
    }

    fn confirm_after(&self) -> Option<Duration> {
        self.confirm.confirm_after.or(self.settings.target.confirm_after)
    }
}
