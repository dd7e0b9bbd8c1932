//! `--verify`: what becomes of the jobs after the run.

use super::run::Run;
use crate::cli::error::{CliError, exit_of};
use crate::cli::exit::Exit;
use crate::cli::settings::READING;
use crate::model::age;
use crate::ops::{self, Plan, Reclaimed, RequeuedJobs};
use crate::output::Verified;
use crate::output::format::{Format, grouped};
use crate::policy::Policy;
use std::time::Duration;

/// What is still to be watched, if anything.
pub(in crate::cli::commands) struct FollowUp<'a> {
    run: &'a Run<'a>,
    policy: Policy,
    watch: Option<(RequeuedJobs, Duration)>,
    /// The exit code of what was seen.
    pub(in crate::cli::commands) exit: Exit,
}

impl<'a> FollowUp<'a> {
    pub(super) fn of(run: &'a Run<'a>, plan: &Plan, policy: &Policy) -> Result<FollowUp<'a>, CliError> {
        let watch = match run.options.act.verify {
            Some(time) => Some((RequeuedJobs::of(plan)?, time)),
            None => None,
        };
        // Workers that take a job now are judged by the queue's own signs: a restart sweep says only who was dead before it.
        let policy = Policy { restart: None, ..policy.clone() };
        Ok(FollowUp { run, policy, watch, exit: Exit::Done })
    }

    /// Watches before a report that has a place for the result; any other report is printed first, because it need not wait.
    pub(in crate::cli::commands) fn run_before_report(&mut self, format: Format, done: &mut Reclaimed) {
        if matches!(format, Format::Json | Format::Jsonl) {
            self.run(done);
        }
    }

    /// Watches, once; does nothing if that was not asked for, or if nothing was applied.
    pub(in crate::cli::commands) fn run(&mut self, done: &mut Reclaimed) {
        let Some((watch, time)) = self.watch.take().filter(|_| done.document.applied) else { return };
        let Run { context, settings, options, store, .. } = self.run;
        // Of several servers the one that was written to; the others may be behind.
        let limits = || settings.limits(options.name, READING, &context.interrupt, true);
        let mut told = |verified: &Verified| context.ui.redraw(&format!("watching: {}", in_words(verified)));
        let followed =
            ops::follow(store.as_ref(), &limits, &watch, &done.document.steps, &self.policy, time, &mut told);
        context.ui.redraw("");
        match followed {
            Ok(verified) => {
                if verified.watched > 0 {
                    context.ui.note(&in_words(&verified));
                }
                if verified.stuck_again > 0 {
                    context.ui.warn(&stuck_again(&verified));
                    self.exit = Exit::Partial;
                }
                done.document.verified = Some(verified);
            }
            Err(error) => {
                context.ui.warn(&format!("the moved jobs could not be watched to the end: {error}"));
                // What was asked to be written was written, so "try again" would be wrong.
                self.exit = Some(exit_of(error.kind)).filter(|exit| *exit != Exit::TryAgain).unwrap_or(Exit::Partial);
            }
        }
    }
}

fn in_words(verified: &Verified) -> String {
    let parts = [
        (verified.finished, "finished"),
        (verified.picked_up, "picked up"),
        (verified.waiting, "still waiting"),
        (verified.not_in_flight, "not in flight, waiting or ended"),
        (verified.gone, "gone: finished or deleted"),
        (verified.failed, "failed"),
        (verified.stuck_again, "stuck again"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(*n)));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let waited = age(Duration::try_from_secs_f64(verified.waited_seconds).unwrap_or_default());
    format!("of {} requeued, after {waited}: {parts}", grouped(verified.watched))
}

fn stuck_again(verified: &Verified) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<&str> = verified.stuck_again_ids.iter().take(SHOWN).map(String::as_str).collect();
    let more = verified.stuck_again.saturating_sub(shown.len() as u64);
    let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
    format!("stuck again: {}{more}; their workers died once more, look at what they do", shown.join(", "))
}
