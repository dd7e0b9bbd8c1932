//! Jobs that wait for too long, which only a sweep sees to.

use super::Reclaiming;
use crate::cli::error::CliError;
use crate::ops::{self, Asked, Plan};
use crate::policy::Policy;
use crate::store::{Limits, Store};

impl Reclaiming<'_> {
    /// Adds them to the plan. A restart sweep is about owners, and nobody owns a job that waits.
    pub(super) fn with_waiting(
        &self,
        store: &dyn Store,
        limits: &Limits,
        plan: &mut Plan,
        policy: &Policy,
    ) -> Result<(), CliError> {
        let Asked::Selection(selection) = &self.asked else { return Ok(()) };
        if self.unattended.is_none() || policy.restart.is_some() {
            return Ok(());
        }
        Ok(ops::plan_waiting(&self.settings.session(store, limits), plan, selection, policy)?)
    }
}
