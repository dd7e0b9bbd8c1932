//! The end of a run: what `--verify` watches, the exit code, and the commands to type next.

use super::PassCommand;
use crate::cli::args::PlanArgs;
use crate::cli::error::exit_of;
use crate::cli::next_command::shell_word;
use crate::cli::{CliError, Context, Exit, READING};
use crate::history::add_verified;
use crate::model::Verified;
use crate::ops::{Plan, PlanSource, Reclaimed, RequeuedJobs};
use crate::output::format::grouped;
use crate::output::{NextCommands, Outcomes, Reclaim, ReclaimHead};
use crate::policy::{Digest, Policy};
use crate::store::{StoreError, StoreErrorKind};
use std::path::PathBuf;
use std::time::Duration;

/// Ends a run. Where its report could not be printed, its exit counts all the same, and the error says what was done.
pub fn end(printed: Result<(), CliError>, exit: Exit, context: &Context, done: &Reclaimed) -> Result<Exit, CliError> {
    let Err(mut error) = printed else { return Ok(exit) };
    if let (Some(run), Some(outcomes)) = (&done.document.head.run_id, &done.document.summary.outcomes) {
        let (moved, of) = (grouped(outcomes.moved), grouped(outcomes.total()));
        error.message.push_str(&format!("; run {run} moved {moved} of {of} jobs"));
        error.hints.extend(done.is_recorded.then(|| context.on_same_queue(&["history", run], &[])));
    }
    Err(CliError { exit: error.exit.worse(exit), ..error })
}

pub(super) fn exit(done: &Reclaimed, source: &PlanSource) -> Exit {
    let document = &done.document;
    let exit = if document.head.refused.is_some() { Exit::Refused } else { Exit::Done };
    let Some(outcomes) = &document.summary.outcomes else {
        return if document.head.not_found.is_empty() { exit } else { exit.worse(Exit::Partial) };
    };
    let mut named = match source {
        PlanSource::Selection(_) => 0,
        // They name their jobs, so those that are skipped are still as they were.
        PlanSource::Saved(..) | PlanSource::Run(..) => document.summary.skipped,
    };
    named += document.head.undoes.as_ref().and_then(|undoes| undoes.unrecorded).unwrap_or(0);
    if source.is_by_name() {
        named += outcomes.changed + outcomes.gone + document.head.not_found.len() as u64;
    }
    exit.worse(exit_after(outcomes, named, done.stop.as_ref()))
}

/// The exit code of steps. `named` jobs are still as they were, besides those that the outcomes count as such.
fn exit_after(outcomes: &Outcomes, named: u64, stop: Option<&StoreError>) -> Exit {
    let mut exit = if outcomes.unknown > 0 { Exit::Unknown } else { Exit::Done };
    if outcomes.locked + outcomes.refused + outcomes.not_tried + named > 0 {
        exit = exit.worse(Exit::Partial);
    }
    match stop {
        // The codes of these errors promise that nothing was written, but the run had already begun to write.
        Some(stop) if matches!(exit_of(stop.kind), Exit::TryAgain) => exit.worse(Exit::Partial),
        Some(stop) if matches!(stop.kind, StoreErrorKind::RowData | StoreErrorKind::Refused) => {
            exit.worse(Exit::Partial)
        }
        Some(stop) => exit.worse(exit_of(stop.kind)),
        None => exit,
    }
}

/// Options that select jobs and actions; a saved plan holds its own.
const SELECTING: [&str; 14] = [
    "from-file",
    "host",
    "id",
    "interrupted",
    "kind",
    "limit",
    "older",
    "owner",
    "queue",
    "rule",
    "save-plan",
    "since",
    "state",
    "to",
];

fn plan_file(document: &Reclaim) -> PathBuf {
    format!("plan-{}.json", document.head.digest.get(..8).unwrap_or_default()).into()
}

impl PassCommand<'_> {
    /// The command lines that go on from a run; `plan` says where its plan is saved and if its jobs were piped in.
    pub(super) fn next_commands(&self, plan: &PlanArgs, document: &Reclaim) -> NextCommands {
        let run_id = document.head.run_id.as_deref().unwrap_or_default();
        NextCommands {
            apply_exactly: self.apply_exactly(plan, document),
            save_first: self.save_first(plan, document),
            explain: self.context.next_command(self.options.name, &[]),
            history: self.context.on_same_queue(&["history", run_id], &[]),
            undo: self.context.on_same_queue(&["undo", run_id], &[]),
        }
    }

    fn apply_exactly(&self, plan: &PlanArgs, document: &Reclaim) -> String {
        let flag = document.head.brake.overridden_by.as_deref().filter(|_| document.head.brake.pulled);
        let piped = plan.is_piped().then(|| plan_file(document));
        let path = plan.save_plan.as_ref().or(piped.as_ref()).map(|path| shell_word(&path.display().to_string()));
        let digest = document.head.digest.get(..Digest::SHORT).unwrap_or(&document.head.digest);
        let (dropped, chosen): (&[&str], Vec<&str>) = match (&path, &self.source) {
            (Some(path), _) => (&SELECTING, vec!["--plan", path]),
            (None, PlanSource::Saved(..)) => (&[], Vec::new()),
            (None, PlanSource::Selection(_)) => (&[], vec!["--expect", digest]),
            (None, PlanSource::Run(..)) => (&["by"], vec!["--expect", digest]),
        };
        let words: Vec<&str> = chosen.into_iter().chain(["--apply"]).chain(flag).collect();
        self.context.next_command_without(self.options.name, dropped, &words)
    }

    fn save_first(&self, plan: &PlanArgs, document: &Reclaim) -> Option<String> {
        let path = plan_file(document).display().to_string();
        // These come with --apply.
        let dropped = ["verify", "fast"];
        let save = || self.context.next_command_without(self.options.name, &dropped, &["--save-plan", &path]);
        (plan.is_piped() && plan.save_plan.is_none()).then(save)
    }
}

/// The jobs still to be watched, if any.
pub(super) struct FollowUp<'a> {
    pass: &'a PassCommand<'a>,
    watch: Option<(RequeuedJobs, Duration)>,
    /// The exit code of what the watch found.
    pub(super) exit: Exit,
}

impl<'a> FollowUp<'a> {
    /// Prepares `--verify`, before the plan is used up.
    pub(super) fn of(pass: &'a PassCommand<'a>, plan: &Plan, policy: &Policy) -> FollowUp<'a> {
        let watch = pass.options.act.verify.map(|time| (RequeuedJobs::of(plan, policy), time));
        FollowUp { pass, watch, exit: Exit::Done }
    }

    /// Adds the result to the journal of the run. That it could not be is no matter of the run.
    fn record(&self, verified: &Verified, document: &Reclaim) {
        let ReclaimHead { run_id: Some(run_id), journal: Some(_), .. } = &document.head else { return };
        let journals = self.pass.context.environment.journals();
        let added = journals.map_or(Ok(()), |journals| add_verified(&journals, run_id, verified));
        if let Err(error) = added {
            self.pass.context.ui.warn(&format!("the result of --verify is not recorded: {error}"));
        }
    }

    /// Watches the jobs, once; does nothing without `--verify`, or if nothing was applied.
    pub(super) fn run(&mut self, done: &mut Reclaimed) {
        let Some((watch, time)) = self.watch.take().filter(|_| done.document.head.applied) else { return };
        let PassCommand { context, settings, options, store, .. } = self.pass;
        // Given several servers, read the writable one: replicas may lag.
        let limits = || settings.limits(options.name, READING, &context.interrupt, true);
        let mut redraw = |verified: &Verified| context.ui.redraw(&format!("watching: {}", verified.sentence()));
        let watch = watch.moved(&done.document.steps.items);
        let verified = watch.follow(store.as_ref(), &limits, time, &mut redraw);
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
                self.record(&verified, &done.document);
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
