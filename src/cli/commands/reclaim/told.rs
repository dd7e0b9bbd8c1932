//! How a run is told of once it has ended, or whether it is told of at all.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::model::Outcome;
use crate::ops::Reclaimed;
use crate::output::StepJob;

impl Reclaiming<'_> {
    /// True if nothing was done, or would be. Where another sweep was faster, it is the other one's news; a job that is locked is
    /// in somebody's hands, or tried again by the next run, where nobody has asked for a report of each; and workers that were
    /// told of a job are told again until one takes it.
    pub(super) fn is_no_news(&self, context: &Context, done: &Reclaimed) -> bool {
        let passes = |outcome: &str| {
            let is = |known: Outcome| outcome == known.name();
            is(Outcome::Changed) || is(Outcome::Gone) || is(Outcome::Locked) && self.is_brief(context)
        };
        let is_none = |step: &StepJob| step.is_wake_up() || step.outcome.as_deref().is_some_and(passes);
        let document = &done.document;
        document.refused.is_none()
            && done.after.is_empty()
            && document.steps.iter().flatten().all(|step| is_none(&step))
    }

    pub(super) fn tell(&self, context: &Context, done: &Reclaimed, idle: bool) -> Result<(), CliError> {
        if idle {
            self.say_skipped(context, &done.document);
        }
        if self.is_brief(context) {
            return if idle { Ok(()) } else { self.tell_briefly(context, done) };
        }
        if !idle || self.format.is_machine() {
            context.ui.print(self.format, &done.document)?;
        }
        if !idle {
            self.say(context, done);
        }
        Ok(())
    }

    /// Writes the document into the file that was named for it. If that is no longer possible the run still ends as it would
    /// have ended.
    pub(super) fn keep(&self, context: &Context, done: &Reclaimed) {
        let report = self.unattended.as_ref().and_then(|said| said.report);
        if let Some(Err(error)) = report.map(|report| report.write(&done.document)) {
            context.ui.complain(&format!("{}; what the run did is not changed by that", error.message));
        }
    }
}
