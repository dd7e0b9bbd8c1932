//! What is said on stderr about a plan, and about what became of it.

use super::Reclaiming;
use super::gentle::when;
use crate::cli::commands::selection::no_such_job;
use crate::cli::context::Context;
use crate::cli::next::shell_word;
use crate::ops::{Asked, Reclaimed};
use crate::output::format::{count, grouped};
use crate::output::{Outcomes, Reclaim};
use crate::policy::Digest;
use std::collections::BTreeMap;

/// Options that say which jobs, and what is done to them: a saved plan has all of that in it.
const SELECTING: [&str; 12] =
    ["from-file", "host", "id", "kind", "limit", "older", "owner", "queue", "rule", "save-plan", "state", "to"];

impl Reclaiming<'_> {
    pub(super) fn say(&self, context: &Context, done: &Reclaimed) {
        let ui = &context.ui;
        let document = &done.document;
        if !document.applied {
            document.warnings.iter().for_each(|warning| ui.warn(warning));
        }
        done.after.iter().for_each(|warning| ui.warn(warning));
        if !document.not_found.is_empty() {
            ui.warn(&no_such_job(&document.target.table, &document.not_found));
        }
        self.say_brake(context, document);
        if let Some(why) = &document.refused {
            ui.warn(&format!("refused: {why}; nothing was written"));
        }
        if let (true, Some(lift)) = (document.refused.is_some() && document.brake.pulled, &document.brake.lift) {
            ui.hint(&format!("if they are dead all the same: {}", context.next_command(self.name, &["--apply", lift])));
        }
        if let Some(stop) = &done.stop {
            ui.warn(&format!("stopped early: {stop}"));
        }
        match &document.summary.outcomes {
            Some(outcomes) => self.say_applied(context, document, outcomes),
            None => self.say_planned(context, document),
        }
    }

    /// What the brake would do, while nothing is applied; and that it was lifted, when something is.
    fn say_brake(&self, context: &Context, document: &Reclaim) {
        let brake = &document.brake;
        let why = brake.why.join("; ");
        match &brake.lift {
            Some(lift) if brake.pulled && document.refused.is_none() => {
                context.ui.warn(&format!("the brake would refuse this: {why}; {lift} lifts it"));
            }
            Some(lift) if !brake.pulled && !self.format.is_machine() => {
                context.ui.note(&format!("{why}; {lift} has lifted the brake"));
            }
            _ => {}
        }
    }

    fn say_planned(&self, context: &Context, document: &Reclaim) {
        let summary = &document.summary;
        if !self.format.is_machine() {
            let waiting = match summary.waiting {
                0 => String::new(),
                waiting => format!(" ({} of them waiting)", grouped(waiting)),
            };
            context.ui.note(&format!(
                "{} to move{waiting}, {} skipped, of {} in flight; nothing was written",
                count(summary.planned, "job", "jobs"),
                grouped(summary.skipped),
                grouped(summary.in_flight)
            ));
        }
        if let Some(churn) = self.churn(document) {
            context.ui.warn(&churn);
        }
        if let Some(when) = when(document).filter(|_| summary.planned > 0 && !self.format.is_machine()) {
            context.ui.note(&when);
        }
        if summary.beyond_limit > 0 {
            context.ui.note(&format!("{} beyond --limit", count(summary.beyond_limit, "more job", "more jobs")));
        }
        if let Some(path) = self.save_plan {
            context.ui.note(&format!("the plan is in {}", path.display()));
        }
        if summary.planned > 0 && document.refused.is_none() && !self.format.is_machine() {
            context.ui.hint(&format!("to do exactly this: {}", self.exact_command(context, document)));
        }
    }

    /// The command that carries out this plan and no other.
    fn exact_command(&self, context: &Context, document: &Reclaim) -> String {
        match (self.save_plan, &self.asked) {
            (Some(path), _) => {
                let path = shell_word(&path.display().to_string());
                context.next_command_without(self.name, &SELECTING, &["--plan", &path, "--apply"])
            }
            (None, Asked::Saved(..)) => context.next_command(self.name, &["--apply"]),
            (None, Asked::Selection(_)) => {
                let digest = document.digest.get(..Digest::SHORT).unwrap_or(&document.digest);
                context.next_command(self.name, &["--expect", digest, "--apply"])
            }
        }
    }

    fn say_applied(&self, context: &Context, document: &Reclaim, outcomes: &Outcomes) {
        let ui = &context.ui;
        if document.summary.planned == 0 {
            return ui.note(&format!("nothing to do, of {} in flight", grouped(document.summary.in_flight)));
        }
        let others: String = not_moved(outcomes).iter().map(|(what, n)| format!(", {} {what}", grouped(*n))).collect();
        ui.note(&match document.summary.waiting {
            0 => format!("recovered {}{others}", count(outcomes.moved, "orphaned job", "orphaned jobs")),
            _ => format!("moved {}{others}", count(outcomes.moved, "job", "jobs")),
        });
        if let Some(when) = when(document).filter(|_| outcomes.moved > 0) {
            ui.note(&when);
        }
        // Cron has the history.
        if let (Some(run), true) = (&document.run_id, document.undoable && outcomes.moved > 0 && ui.is_watched()) {
            ui.hint(&format!("to look at taking it back: {}", context.on_same_queue(&["undo", run], &[])));
        }
        if outcomes.refused > 0 {
            refusals(document).iter().for_each(|refusal| ui.warn(refusal));
        }
        if let Some(churn) = self.churn(document) {
            ui.warn(&churn);
        }
        if outcomes.unknown > 0 {
            ui.warn("the answer to a commit was lost: look at the jobs of unknown outcome before doing anything else");
        }
    }
}

/// What became of the jobs that were not moved, as far as there are any.
pub(super) fn not_moved(outcomes: &Outcomes) -> Vec<(String, u64)> {
    let others = [
        (outcomes.changed, "changed meanwhile"),
        (outcomes.gone, "gone meanwhile"),
        (outcomes.locked, "locked by another session"),
        (outcomes.refused, "refused"),
        (outcomes.not_tried, "not tried"),
        (outcomes.unknown, "of unknown outcome"),
    ];
    others.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| (what.to_owned(), n)).collect()
}

/// Which jobs were refused, by the constraint or by what was said: the table may be too long to find them in.
pub(super) fn refusals(document: &Reclaim) -> Vec<String> {
    const SHOWN: usize = 10;
    let mut by_cause: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in document.steps.iter().flatten() {
        let Some(error) = step.error else { continue };
        let cause =
            error.constraint.map_or(format!("refused ({})", error.message), |name| format!("refused by {name}"));
        by_cause.entry(cause).or_default().push(step.job.id);
    }
    let line = |(cause, ids): (String, Vec<String>)| {
        let more = ids.len().saturating_sub(SHOWN);
        let shown = ids.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        format!("{cause}: {shown}{more}")
    };
    by_cause.into_iter().map(line).collect()
}
