//! A second snapshot before anything is moved.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::{APPLYING, READING};
use crate::model::age;
use crate::ops::{self, OpsError, Plan, Snapshot};
use crate::output::format::count;
use crate::policy::{Policy, Rule};
use crate::store::Limits;
use std::time::Duration;

impl Reclaiming<'_> {
    /// How long the run may take unless the operator has said.
    ///
    /// # Errors
    /// When the operator has, and it leaves no time for a second snapshot.
    pub(super) fn usual_time(&self) -> Result<Duration, CliError> {
        let usual = if self.act.apply { APPLYING } else { READING };
        let usual = usual + self.lock_wait();
        let Some(after) = self.confirm_after() else { return Ok(usual) };
        match self.settings.stated_timeout() {
            Some(timeout) if timeout <= after => {
                let message = format!(
                    "waiting {} between two snapshots leaves nothing of --timeout {}",
                    age(after),
                    age(timeout)
                );
                Err(CliError::new(Exit::Usage, message).hint("make --timeout longer, or --confirm-after shorter"))
            }
            _ => Ok(usual + after),
        }
    }

    /// The plan of which a second snapshot has seen the same, if one was asked for.
    pub(super) fn confirmed(
        &self,
        context: &Context,
        next_snapshot: &dyn Fn() -> Result<Snapshot, OpsError>,
        limits: &Limits,
        plan: Plan,
        policy: &Policy,
    ) -> Result<Plan, CliError> {
        let Some(after) = self.confirm_after().filter(|_| !plan.is_empty()) else { return Ok(plan) };
        if context.ui.is_watched() {
            let jobs = count(plan.len() as u64, "job", "jobs");
            context.ui.note(&format!("{jobs} to move; looking again in {} to see what stood still", age(after)));
        }
        Ok(ops::confirm(next_snapshot, limits, plan, &self.asked, policy, after)?)
    }

    /// Refuses to act on a rule that could never fire here.
    pub(super) fn must_know_progress(&self, snapshot: &Snapshot) -> Result<(), CliError> {
        if !self.act.rule.contains(&Rule::NoProgress) {
            return Ok(());
        }
        if self.beside.snapshot_file.is_none() {
            return Err(CliError::new(Exit::Usage, "--rule no_progress needs two snapshots to compare")
                .hint("add --snapshot-file FILE, the same in each run"));
        }
        if snapshot.spec.claim.progress.is_empty() {
            let message =
                format!("--rule no_progress: preset {} names no columns that show progress", snapshot.spec.preset);
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
