//! A run in Markdown, to be pasted into a ticket or a channel.

use super::HistoryOne;
use super::format::{Times, first_few, grouped, inert};
use super::history::{NO_END, command, refused, who};
use crate::model::{Action, End, Outcome, Step, Target};
use std::fmt;

/// So many ids, and so many owners, are named.
const NAMED: usize = 20;

impl HistoryOne {
    /// A sentence and a list: what was done and why, what was not, and the command that shows how to revert it. Texts of the
    /// database and of people are code, in which nothing has a meaning to Markdown.
    pub fn markdown(&self, undo: &str) -> String {
        let (run, summary) = (&self.head.run, &self.summary);
        let moved = |of: Option<Action>| -> u64 {
            let counts = summary.by_action.iter().filter(|count| of.is_none_or(|action| count.action == action));
            counts.filter_map(|count| count.moved).sum()
        };
        let steps = || self.steps.items().iter().map(|shown| &shown.step);
        let unknown = steps().filter(|step| step.stage.outcome == Outcome::Unknown).count() as u64;
        let left = summary.steps.saturating_sub(moved(None));
        let done = Some(self.moved_by_action()).filter(|done| !done.is_empty());
        let part = |jobs: u64, what: &str| if jobs > 0 { format!("; {what} {}", grouped(jobs)) } else { String::new() };
        let not = part(left.saturating_sub(unknown), "not moved") + &part(unknown, "of unknown outcome");
        let mut lines =
            vec![format!("**jobdoctor {}**: {}{not}\n", command(run), done.as_deref().unwrap_or("moved no job"))];
        let mut line = |name: &str, text: String| lines.push(format!("- {name}: {text}"));
        let Target { engine, database, table, preset, .. } = &run.head.target;
        let [queue, table, preset] = [&format!("{engine} {database}"), table, preset].map(|text| code(text));
        line("queue", format!("{queue}, table {table}, preset {preset}"));
        let by = after(", by", who(run).as_deref().map(code));
        let reason = after(", because:", run.head.reason.as_deref().map(code));
        line("when", format!("{}{by}{reason}", Times::Utc.show(run.head.store_time, run.head.store_time)));
        for cause in &run.head.causes {
            let since = after(", since", cause.since_at.map(|at| Times::Utc.show(at, at)));
            line("cause", format!("{}{since}", code(&cause.text)));
        }
        if run.head.causes.is_empty() {
            let owners = summary.by_owner.iter().map(|(owner, jobs)| format!("{} {}", code(owner), grouped(*jobs)));
            line_of("held by", owners, summary.by_owner.len() as u64, &mut line);
        }
        let named = if run.head.undoes.is_some() { &[][..] } else { &[Action::Fail, Action::Cancel, Action::TimeOut] };
        for action in named.iter().copied() {
            let of_action = |step: &&Step<End>| step.stage.outcome == Outcome::Moved && step.action == action;
            let ids = steps().filter(of_action).map(|step| code(&step.id));
            line_of(action.past(), ids, moved(Some(action)), &mut line);
        }
        let others = steps().filter(|step| step.stage.outcome != Outcome::Moved).map(|step| {
            let outcome = step.stage.outcome.name().replace('_', " ");
            format!("{} ({outcome}{})", code(&step.id), after(" by", refused(step).map(|by| code(by))))
        });
        line_of(if unknown > 0 { "not moved, or unknown" } else { "not moved" }, others, left, &mut line);
        if run.complete == Some(false) {
            line("end", NO_END.to_owned());
        }
        run.stop.iter().for_each(|stop| line("stopped early", code(stop)));
        if let Some(jobs) = run.unrecorded.filter(|jobs| *jobs > 0) {
            line("not recorded", format!("{} of the moved jobs", grouped(jobs)));
        }
        run.verified.iter().for_each(|verified| line("afterwards", verified.sentence()));
        run.head.external_id.iter().for_each(|id| line("your id", code(id)));
        run.undone_by.iter().for_each(|by| line("reverted by run", code(by)));
        let is_undoable = run.undoable > 0 && run.undone_by.is_empty();
        let undo = after("; to see what reverting it would do:", is_undoable.then(|| code(undo)));
        line("run", format!("{}{undo}", code(&run.head.run_id)));
        lines.join("\n") + "\n"
    }
}

/// A word and what stands after it; nothing without that.
fn after(word: &str, what: Option<impl fmt::Display>) -> String {
    what.map_or_else(String::new, |what| format!("{word} {what}"))
}

/// A line with the first of these, and how many more there are; none where there are none.
fn line_of(name: &str, items: impl Iterator<Item = String>, of: u64, line: &mut dyn FnMut(&str, String)) {
    let shown: Vec<String> = items.take(NAMED).collect();
    if !shown.is_empty() {
        line(name, first_few(&shown, NAMED, of));
    }
}

/// A text as code, between more backticks in a row than it has.
fn code(text: &str) -> String {
    let text = inert(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}
