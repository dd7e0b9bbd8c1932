//! `--emit-sql`: the plan as a script.

use super::Reclaiming;
use crate::cli::commands::selection::no_such_job;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::ops::{self, Order, Plan};
use crate::output::format::count;
use crate::store::Limits;

impl Reclaiming<'_> {
    pub(super) fn emit(
        &self,
        context: &Context,
        limits: &Limits,
        plan: &Plan,
        order: &Order<'_>,
    ) -> Result<Exit, CliError> {
        let emitted = ops::emit(limits, plan, order, self.settings.foreign_keys())?;
        context.ui.report(|out| emitted.parts.iter().try_for_each(|part| out.write_all(part?.as_bytes())))?;
        emitted.warnings.iter().for_each(|warning| context.ui.warn(warning));
        let not_found = plan.not_found();
        if !not_found.is_empty() {
            context.ui.warn(&no_such_job(plan.table(), not_found));
        }
        context.ui.note(&format!(
            "a script of {} for {}; nothing was written",
            count(emitted.batches, "batch", "batches"),
            count(plan.len() as u64, "job", "jobs")
        ));
        Ok(if not_found.is_empty() { Exit::Done } else { Exit::Partial })
    }
}
