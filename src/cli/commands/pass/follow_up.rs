//! `--verify`: watches what becomes of the requeued jobs after the run.

use super::Pass;
use crate::cli::error::exit_of;
use crate::cli::exit::Exit;
use crate::cli::settings::READING;
use crate::ops::{self, Plan, Reclaimed, RequeuedJobs};
use crate::output::Verified;
use crate::output::format::Format;
use crate::policy::Policy;
use std::time::Duration;

/// The jobs still to be watched, if any.
pub(super) struct FollowUp<'a> {
    pass: &'a Pass<'a>,
    policy: Policy,
    watch: Option<(RequeuedJobs, Duration)>,
    /// The exit code of what the watch found.
    pub(super) exit: Exit,
}

impl<'a> FollowUp<'a> {
    /// Prepares `--verify`, before the plan is used up.
    pub(super) fn of(pass: &'a Pass<'a>, plan: &Plan, policy: &Policy) -> FollowUp<'a> {
        let watch = pass.options.act.verify.map(|time| (RequeuedJobs::of(plan), time));
        // A restart sweep says who was dead before it. Workers that claim a job now are judged by the queue's own
        // evidence.
        let policy = Policy { restart: None, ..policy.clone() };
        FollowUp { pass, policy, watch, exit: Exit::Done }
    }

    /// Watches now if the report has a field for the result; any other report is printed first.
    pub(super) fn run_before_report(&mut self, format: Format, done: &mut Reclaimed) {
        if matches!(format, Format::Json | Format::Jsonl) {
            self.run(done);
        }
    }

    /// Watches the jobs, once; does nothing without `--verify`, or if nothing was applied.
    pub(super) fn run(&mut self, done: &mut Reclaimed) {
        let Some((watch, time)) = self.watch.take().filter(|_| done.document.head.applied) else { return };
        let Pass { context, settings, options, store, .. } = self.pass;
        // Given several servers, read the writable one: replicas may lag.
        let limits = || settings.limits(options.name, READING, &context.interrupt, true);
        let mut redraw = |verified: &Verified| context.ui.redraw(&format!("watching: {}", verified.sentence()));
        let verified =
            ops::follow(store.as_ref(), &limits, &watch, &done.document.steps, &self.policy, time, &mut redraw);
        context.ui.redraw("");
        match verified {
            Ok(verified) => {
                if verified.watched > 0 {
                    context.ui.note(&verified.sentence());
                }
                if let Some(warning) = verified.warning() {
                    context.ui.warn(&warning);
                    self.exit = Exit::Partial;
                }
                done.document.head.verified = Some(verified);
            }
            Err(error) => {
                context.ui.warn(&format!("the requeued jobs could not be watched to the end: {error}"));
                // The run is applied, so "try again" would be wrong.
                self.exit = Some(exit_of(error.kind)).filter(|exit| *exit != Exit::TryAgain).unwrap_or(Exit::Partial);
            }
        }
    }
}
