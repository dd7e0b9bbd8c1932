//! What is said on stderr about a plan, and about what became of it.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::ops::Reclaimed;
use crate::render::{count, grouped};
use crate::report::{Outcomes, Reclaim};
use std::collections::BTreeMap;

impl Reclaiming<'_> {
    pub(super) fn say(&self, context: &Context, done: &Reclaimed) {
        let ui = &context.ui;
        let document = &done.document;
        if !document.applied {
            document.warnings.iter().for_each(|warning| ui.warn(warning));
        }
        done.after.iter().for_each(|warning| ui.warn(warning));
        if !document.not_found.is_empty() {
            ui.warn(&format!("no such job in {}: {}", document.target.table, document.not_found.join(", ")));
        }
        if let Some(why) = &document.refused {
            ui.warn(&format!("refused: {why}; nothing was written"));
        }
        if let Some(stop) = &done.stop {
            ui.warn(&format!("stopped early: {stop}"));
        }
        match &document.summary.outcomes {
            Some(outcomes) => self.say_applied(context, document, outcomes),
            None => self.say_planned(context, document),
        }
    }

    fn say_planned(&self, context: &Context, document: &Reclaim) {
        let summary = &document.summary;
        if !self.format.is_machine() {
            context.ui.note(&format!(
                "{} to move, {} left alone, of {} in flight; nothing was written",
                count(summary.planned, "job", "jobs"),
                grouped(summary.held),
                grouped(summary.in_flight)
            ));
        }
        if summary.beyond_limit > 0 {
            context.ui.note(&format!("{} beyond --limit", count(summary.beyond_limit, "more job", "more jobs")));
        }
        if summary.planned > 0 && document.refused.is_none() && !self.format.is_machine() {
            context.ui.hint(&format!("to do it: {}", context.next_command(self.name, &["--apply"])));
        }
    }

    fn say_applied(&self, context: &Context, document: &Reclaim, outcomes: &Outcomes) {
        let ui = &context.ui;
        if document.summary.planned == 0 {
            return ui.note(&format!("nothing to do, of {} in flight", grouped(document.summary.in_flight)));
        }
        let others = [
            (outcomes.changed, "changed meanwhile"),
            (outcomes.gone, "gone meanwhile"),
            (outcomes.locked, "locked by another session"),
            (outcomes.refused, "refused by the database"),
            (outcomes.not_tried, "not tried"),
            (outcomes.unknown, "of unknown outcome"),
        ];
        let others: Vec<String> =
            others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {} {what}", grouped(*n))).collect();
        ui.note(&format!("recovered {}{}", count(outcomes.moved, "orphaned job", "orphaned jobs"), others.concat()));
        if outcomes.refused > 0 {
            refusals(document).iter().for_each(|refusal| ui.warn(refusal));
        }
        let above = self.settings.target.warn_above;
        if let Some(above) = above.filter(|above| outcomes.moved > *above) {
            ui.warn(&format!(
                "that is more than {above}: workers die often here (warn_above of target {})",
                document.target.name.as_deref().unwrap_or("(none)")
            ));
        }
        if outcomes.unknown > 0 {
            ui.warn("the answer to a commit was lost: look at the jobs of unknown outcome before doing anything else");
        }
    }
}

/// Which jobs the database refused, by what it said: the table may be too long to find them in.
fn refusals(document: &Reclaim) -> Vec<String> {
    const SHOWN: usize = 10;
    let mut by_cause: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in document.steps.iter().flatten() {
        let Some(error) = step.error else { continue };
        by_cause.entry(error.constraint.unwrap_or(error.message)).or_default().push(step.job.id);
    }
    let line = |(cause, ids): (String, Vec<String>)| {
        let more = ids.len().saturating_sub(SHOWN);
        let shown = ids.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        format!("refused by {cause}: {shown}{more}")
    };
    by_cause.into_iter().map(line).collect()
}
