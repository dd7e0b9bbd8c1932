//! What a sweep did that nobody watched, as a paragraph of plain lines that can be read in a mail.

use super::Reclaiming;
use super::gentle::when;
use super::said::{not_moved, refusals};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::record::host;
use crate::cli::secret::masked;
use crate::ops::Reclaimed;
use crate::output::format::{count, grouped, inert};
use crate::output::{Outcomes, Reclaim};
use std::collections::BTreeMap;

impl Reclaiming<'_> {
    /// True if a person is told in a paragraph: nobody watches, and no format was asked for.
    pub(super) fn is_brief(&self, context: &Context) -> bool {
        let may_be = self.unattended.as_ref().is_some_and(|said| said.is_brief);
        may_be && self.act.apply && !context.ui.is_watched()
    }

    /// Tells it: what was refused is an error.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(super) fn tell_briefly(&self, context: &Context, done: &Reclaimed) -> Result<(), CliError> {
        let document = &done.document;
        if let Some(why) = &document.refused {
            let message = format!("{}: refused: {why}; nothing was written", place(document));
            let lift = document.brake.lift.as_ref().filter(|_| document.brake.pulled);
            let lift = lift.map(|lift| context.next_command(self.name, &["--apply", lift]));
            let error = CliError::new(Exit::Refused, inert(&message));
            context.ui.error(&match lift {
                Some(lift) => error.hint(format!("if they are dead all the same: {lift}")),
                None => error,
            });
            return Ok(());
        }
        let Some(outcomes) = &document.summary.outcomes else { return Ok(()) };
        let lines = self.lines(context, done, outcomes);
        // What a line quotes has no line breaks of its own: it could pass for another one.
        context.ui.report(|out| lines.iter().try_for_each(|line| writeln!(out, "{}", inert(&masked(line)))))
    }

    /// Of a run that is silent otherwise: jobs may be stuck, and all were skipped.
    pub(super) fn say_skipped(&self, context: &Context, document: &Reclaim) {
        let outcomes = document.summary.outcomes.as_ref();
        outcomes.and_then(left_behind).iter().for_each(|line| context.ui.detail(line));
        if let Some(skipped) = skipped(document) {
            let why = context.next_command(self.name, &[]);
            context.ui.detail(&format!("{skipped} To see why: {why}"));
        }
    }

    fn lines(&self, context: &Context, done: &Reclaimed, outcomes: &Outcomes) -> Vec<String> {
        let document = &done.document;
        let summary = &document.summary;
        let mut lines = vec![format!("{}:", place(document))];
        let actions = tally(document.steps.iter().flatten().filter_map(|step| {
            step.outcome.as_deref().is_some_and(|outcome| outcome == "moved").then_some(step.job.action?)
        }));
        let jobs = count(summary.planned, "stuck job", "stuck jobs");
        lines.push(match outcomes.moved {
            0 => format!("moved none of {jobs}."),
            moved => format!("moved {} of {jobs}: {}.", grouped(moved), listed(&actions)),
        });
        lines.extend(left_behind(outcomes));
        lines.extend(refusals(document));
        if outcomes.unknown > 0 {
            let words =
                "The answer to a commit was lost: look at the jobs of unknown outcome before doing anything else.";
            lines.push(words.to_owned());
        }
        lines.extend(done.stop.as_ref().map(|stop| format!("Stopped early: {stop}.")));
        lines.extend(skipped(document));
        if summary.beyond_limit > 0 {
            lines.push(format!("{} beyond --limit.", count(summary.beyond_limit, "more job", "more jobs")));
        }
        lines.extend(when(document).filter(|_| outcomes.moved > 0).map(|when| format!("{}.", capital(&when))));
        lines.extend(self.churn(document).map(|churn| format!("{}.", capital(&churn))));
        lines.extend(done.after.iter().map(|warning| format!("{}.", capital(warning))));
        if let Some(run) = document.run_id.as_ref().filter(|_| done.is_recorded) {
            lines.push(format!("This was run {run}. More: {}", context.on_same_queue(&["history", run], &[])));
            if document.undoable && outcomes.moved > 0 {
                lines.push(format!("To look at taking it back: {}", context.on_same_queue(&["undo", run], &[])));
            }
        }
        lines
    }
}

/// How many jobs were to be moved and were not, by what became of them.
fn left_behind(outcomes: &Outcomes) -> Option<String> {
    let others = not_moved(outcomes);
    (!others.is_empty()).then(|| format!("Not moved: {}.", listed(&others)))
}

/// How many jobs were looked at and skipped, by reason.
fn skipped(document: &Reclaim) -> Option<String> {
    let skipped = tally(document.skipped.iter().flatten().map(|skipped| skipped.skipped.reason));
    (!skipped.is_empty()).then(|| format!("Skipped: {}.", listed(&skipped)))
}

/// Which sweep, of which queue, from where.
fn place(document: &Reclaim) -> String {
    let target = &document.target;
    let name = target.name.as_ref().map_or_else(String::new, |name| format!("target {name}, "));
    let host = host().map_or_else(String::new, |host| format!(" on {host}"));
    format!(
        "sweep{host} of {name}{} {}, table {}, preset {}",
        target.engine, target.database, target.table, target.preset
    )
}

fn tally(words: impl Iterator<Item = String>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(word, n)| (std::cmp::Reverse(*n), word.clone()));
    counts
}

fn listed(counts: &[(String, u64)]) -> String {
    counts.iter().map(|(word, n)| format!("{} {word}", grouped(*n))).collect::<Vec<_>>().join(", ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
