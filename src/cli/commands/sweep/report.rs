//! Decides whether and how a finished sweep is reported: cron mails every line, so a sweep that did nothing is silent.

use crate::cli::context::Context;
use crate::cli::environment::host;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::secret::masked;
use crate::model::Outcome;
use crate::ops::Reclaimed;
use crate::output::format::{Format, count, inert};
use crate::output::{Closing, Reclaim, SkippedJob, StepJob, closing, left_behind, paragraph, place, skipped_by_reason};
use crate::policy::SkipReason;

/// The report of one sweep.
pub(super) struct Report<'a> {
    pub(super) context: &'a Context,
    pub(super) format: Format,
    /// True for a paragraph in a mail: no terminal, and no `-o`.
    pub(super) is_brief: bool,
    /// True for a restart sweep: workers start after it, and jobs of theirs that stay where they are wait for a person.
    pub(super) is_restart: bool,
    pub(super) closing: Closing<'a>,
}

impl Report<'_> {
    /// Prints the report, if the sweep did anything.
    pub(super) fn print(&self, done: &Reclaimed) -> Result<(), CliError> {
        let ui = &self.context.ui;
        let is_idle = self.has_no_news(done) && !ui.is_watched();
        if is_idle {
            self.detail_skipped(&done.document);
        }
        if self.is_restart && !ui.is_watched() {
            self.note_unknown(&done.document);
        }
        if self.is_brief {
            return if is_idle { Ok(()) } else { self.print_paragraph(done) };
        }
        if !is_idle || self.format.is_machine() {
            ui.print(self.format, &done.document)?;
        }
        if !is_idle {
            ui.messages(&closing(&done.document, &self.closing));
        }
        Ok(())
    }

    /// True if nothing was done, or would be done. Another sweep that was first reports its own actions; the next sweep tries a locked
    /// job again, so cron needs no mail of it; waiting workers are woken by each sweep until one claims the job.
    fn has_no_news(&self, done: &Reclaimed) -> bool {
        let passes = |outcome: Outcome| match outcome {
            Outcome::Changed | Outcome::Gone => true,
            Outcome::Locked => self.is_brief,
            _ => false,
        };
        let is_none = |step: &StepJob| step.is_wake_up() || step.outcome.is_some_and(passes);
        let document = &done.document;
        document.refused.is_none()
            && done.after.is_empty()
            && document.steps.iter().flatten().all(|step| is_none(&step))
    }

    /// Names the jobs that may be stuck although the sweep did nothing, with `--verbose`.
    fn detail_skipped(&self, document: &Reclaim) {
        let ui = &self.context.ui;
        document.summary.outcomes.as_ref().and_then(left_behind).iter().for_each(|line| ui.detail(line));
        if let Some(skipped) = skipped_by_reason(document) {
            ui.detail(&format!("{skipped} To see why: {}", self.closing.next.explain()));
        }
    }

    /// Says in one line how many claims the sweep could not judge, and why it could not judge the first.
    fn note_unknown(&self, document: &Reclaim) {
        let is_unknown = |job: &SkippedJob| job.skipped.reason == SkipReason::Unknown;
        let mut unknown = document.skipped.iter().flatten().filter(is_unknown);
        let Some(first) = unknown.next() else { return };
        let skipped = count(1 + unknown.count() as u64, "unknown claim was", "unknown claims were");
        let (id, why) = (&first.job.id, &first.skipped.detail);
        self.context.ui.note(&format!("{skipped} skipped, job {id} for one: {why}. `jobdoctor stale` lists them"));
    }

    /// Prints a few plain lines; a plan that was refused is an error.
    fn print_paragraph(&self, done: &Reclaimed) -> Result<(), CliError> {
        let (ui, document, host) = (&self.context.ui, &done.document, host());
        if let Some(why) = &document.refused {
            let message = format!("{}: refused: {why}; nothing was written", place(document, host.as_deref()));
            let error = CliError::new(Exit::Refused, inert(&message));
            let can_override = document.brake.pulled && document.brake.overridden_by.is_some();
            ui.error(&match can_override {
                true => {
                    error.hint(format!("if they are dead all the same: {}", self.closing.next.apply_exactly(document)))
                }
                false => error,
            });
            return Ok(());
        }
        let lines = paragraph(document, host.as_deref(), done.is_recorded, &self.closing);
        // A line break in database text must not forge a line of the paragraph.
        ui.report(|out| lines.iter().try_for_each(|line| writeln!(out, "{}", inert(&masked(line)))))
    }
}
