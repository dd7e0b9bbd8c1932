//! `--verify`: what becomes of the jobs after the run.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::{CliError, exit_of};
use crate::cli::exit::Exit;
use crate::cli::settings::{READING, Settings};
use crate::model::age;
use crate::ops::{self, Plan, Reclaimed, Watch};
use crate::output::Verified;
use crate::output::format::{Format, grouped};
use crate::policy::Policy;
use crate::store::Store;
use std::time::Duration;

/// What is still to be watched, if anything.
pub(super) struct Following<'a> {
    name: &'static str,
    settings: &'a Settings,
    store: &'a dyn Store,
    policy: Policy,
    watch: Option<(Watch, Duration)>,
    /// How it ended.
    pub(super) exit: Exit,
}

impl<'s> Reclaiming<'s> {
    /// Prepares it, before the plan is used up.
    pub(super) fn following<'a>(
        &'a self,
        store: &'a dyn Store,
        plan: &Plan,
        policy: &Policy,
    ) -> Result<Following<'a>, CliError> {
        let watch = match self.act.verify.verify {
            Some(time) => Some((Watch::of(plan)?, time)),
            None => None,
        };
        // Who takes a job now is judged by the queue's own signs: a restart sweep says only who was dead before it.
        let policy = Policy { restart: None, ..policy.clone() };
        Ok(Following { name: self.name, settings: &self.settings, store, policy, watch, exit: Exit::Done })
    }

    /// Whether the report has a place for it. One that has none is printed before: nobody should wait for it.
    pub(super) fn tells_what_followed(&self) -> bool {
        matches!(self.format, Format::Json | Format::Jsonl)
    }
}

impl Following<'_> {
    /// Watches, once; does nothing if that was not asked, or if nothing was applied.
    pub(super) fn run(&mut self, context: &Context, done: &mut Reclaimed) {
        let Some((watch, time)) = self.watch.take().filter(|_| done.document.applied) else { return };
        // Of several servers the one that was written to; the others may be behind.
        let limits = || self.settings.limits(self.name, READING, &context.interrupt, true);
        let mut told = |verified: &Verified| context.ui.redraw(&format!("watching: {}", in_words(verified)));
        let steps = &done.document.steps;
        let followed = ops::follow(self.store, &limits, &watch, steps, &self.policy, time, &mut told);
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
