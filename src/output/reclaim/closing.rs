//! The sentences that follow a plan, or what became of it.

use super::churn::{WarnAbove, churn};
use super::{ActionCount, Outcomes, Reclaim, SHOWN};
use crate::model::{Action, Outcome, age};
use crate::output::format::{count, first_few, grouped};
use crate::output::{Message, locked_by, no_such_job};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// When others changed a job that this run was to move.
pub(super) const MEANWHILE: &str = "meanwhile";

pub struct Closing<'a> {
    /// True if a program reads the report, which has the counts.
    pub is_machine: bool,
    /// True if a person watches the run.
    pub is_watched: bool,
    pub after: &'a [String],
    pub stop: Option<String>,
    pub warn_above: Option<&'a WarnAbove>,
    pub save_plan: Option<&'a Path>,
    pub next: NextCommands,
}

/// The command lines that a message proposes. Only the command line itself knows how its user named the queue.
pub struct NextCommands {
    /// Exactly this plan, with what overrides the brake if it is pulled.
    pub apply_exactly: String,
    /// What comes before that, if the jobs came from standard input, which is used up: the same list once more, to save
    /// the plan.
    pub save_first: Option<String>,
    /// The plan once more, as a table.
    pub explain: String,
    /// The record of the run.
    pub history: String,
    /// The plan that reverts the run.
    pub undo: String,
}

pub fn closing(document: &Reclaim, closing: &Closing<'_>) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut warn = |text: String| messages.push(Message::Warn(text));
    if !document.head.applied {
        document.head.warnings.iter().cloned().for_each(&mut warn);
    }
    closing.after.iter().cloned().for_each(&mut warn);
    if !document.head.not_found.is_empty() {
        warn(no_such_job(&document.head.target.table, &document.head.not_found));
    }
    messages.extend(brake(document, closing));
    if let Some(stop) = &closing.stop {
        messages.push(Message::Warn(format!("stopped early: {stop}")));
    }
    messages.extend(match &document.summary.outcomes {
        Some(outcomes) if document.head.rolled_back => rolled_back(document, outcomes, closing),
        Some(outcomes) => applied(document, outcomes, closing),
        None => planned(document, closing),
    });
    messages.extend(document.head.filter.older(document.summary.older).map(Message::Note));
    messages
}

/// What the brake would do to a plan that is not applied, what it did, and that it was overridden.
fn brake(document: &Reclaim, closing: &Closing<'_>) -> Vec<Message> {
    let brake = &document.head.brake;
    let why = brake.why.join("; ");
    let mut messages = Vec::new();
    match (&brake.overridden_by, &document.head.refused) {
        (Some(flag), None) if brake.pulled => {
            messages.push(Message::Warn(format!("the brake would refuse this: {why}; {flag} overrides it")));
        }
        (Some(flag), _) if !brake.pulled && !closing.is_machine => {
            messages.push(Message::Note(format!("{why}; {flag} overrides the brake")));
        }
        _ => {}
    }
    if let Some(why) = &document.head.refused {
        messages.push(Message::Warn(format!("refused: {why}; nothing was written")));
        if brake.overridden_by.is_some() && brake.pulled {
            messages.extend(next("if that is right all the same", closing));
        }
    }
    messages
}

fn planned(document: &Reclaim, closing: &Closing<'_>) -> Vec<Message> {
    let summary = &document.summary;
    let mut messages = Vec::new();
    if !closing.is_machine {
        let jobs = count(summary.planned, "job", "jobs");
        let (skipped, examined) = (grouped(summary.skipped), document.head.filter.examined(summary.in_flight));
        messages.push(Message::Note(match &document.head.undoes {
            Some(_) => format!("{jobs} to revert, {skipped} skipped; nothing was written"),
            None => {
                format!("{jobs} to move{}, {skipped} skipped, of {examined}; nothing was written", totals(document))
            }
        }));
    }
    messages.extend(churn(document, closing.warn_above).map(Message::Warn));
    if summary.planned > 0 && !closing.is_machine {
        messages.extend(when(document).map(Message::Note));
    }
    messages.extend(unlisted(document, closing));
    if document.beyond() > 0 {
        let more = count(document.beyond(), "more job", "more jobs");
        messages.push(Message::Note(match document.is_limited() {
            true => format!("{more} beyond --limit"),
            false => format!("{more} are in no plan yet: make another one once this is applied"),
        }));
    }
    if let Some(path) = closing.save_plan {
        messages.push(Message::Note(format!("the plan is in {}", path.display())));
    }
    if summary.planned > 0 && document.head.refused.is_none() && !closing.is_machine {
        let when = if document.head.undoes.is_some() { "to do it" } else { "to do exactly this" };
        messages.extend(next(when, closing));
    }
    messages
}

/// How many steps a list for people leaves out.
fn unlisted(document: &Reclaim, closing: &Closing<'_>) -> Option<Message> {
    let others = Some(document.unlisted()).filter(|others| *others > 0 && !closing.is_machine)?;
    Some(Message::Note(format!("{} not listed here; -o jsonl lists all", count(others, "more job", "more jobs"))))
}

/// The commands that execute the plan, after the words that say when to type them.
fn next(when: &str, closing: &Closing<'_>) -> Vec<Message> {
    let NextCommands { apply_exactly: apply, save_first, .. } = &closing.next;
    let lines = match save_first {
        Some(save) => vec![format!("{when}, pipe the list again into: {save}"), format!("and then: {apply}")],
        None => vec![format!("{when}: {apply}")],
    };
    lines.into_iter().map(Message::Hint).collect()
}

/// ` (68 requeue, 4 fail; 6 of them not in flight)`, as far as the plan has several actions and such jobs.
fn totals(document: &Reclaim) -> String {
    let summary = &document.summary;
    let may_fail = |action: Action| action == Action::Requeue && document.head.unique_key.is_empty();
    let one = |count: &ActionCount| {
        let or_fail = if may_fail(count.action) { " or fail where its key is taken" } else { "" };
        format!("{} {}{or_fail}", grouped(count.planned), count.action)
    };
    let actions: Vec<String> = summary.by_action.iter().map(one).collect();
    let are_told = actions.len() > 1 || summary.by_action.iter().any(|count| may_fail(count.action));
    let actions = Some(actions.join(", ")).filter(|_| are_told);
    let waiting = (summary.waiting > 0).then(|| format!("{} of them not in flight", grouped(summary.waiting)));
    let parts: Vec<String> = actions.into_iter().chain(waiting).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

/// What the database answered before it rolled the plan back.
fn rolled_back(document: &Reclaim, outcomes: &Outcomes, closing: &Closing<'_>) -> Vec<Message> {
    if document.summary.planned == 0 {
        return planned(document, closing);
    }
    let would = done(document, outcomes, |action| format!("would {action}"));
    let mut messages = vec![Message::Note(format!("{would}; the database rolled everything back"))];
    messages.extend(locked_by(&document.summary.locked_by).into_iter().map(Message::Warn));
    messages.extend(refusals(document).into_iter().map(Message::Warn));
    messages.extend(churn(document, closing.warn_above).map(Message::Warn));
    if outcomes.moved > 0 && !closing.is_machine {
        messages.push(Message::Hint(format!("to do exactly this: {}", closing.next.apply_exactly)));
    }
    messages
}

fn applied(document: &Reclaim, outcomes: &Outcomes, closing: &Closing<'_>) -> Vec<Message> {
    if document.summary.planned == 0 {
        let examined = document.head.filter.examined(document.summary.in_flight);
        return vec![Message::Note(match &document.head.undoes {
            Some(undoes) => format!("nothing to revert of run {}", undoes.run_id),
            None if document.summary.skipped > 0 => {
                format!("nothing to do, {} skipped, of {examined}", grouped(document.summary.skipped))
            }
            None => format!("nothing to do, of {examined}"),
        })];
    }
    let mut messages = Vec::new();
    messages.push(Message::Note(done(document, outcomes, |action| action.past().to_owned())));
    messages.extend(unlisted(document, closing));
    if outcomes.moved > 0 {
        messages.extend(when(document).map(Message::Note));
    }
    // Cron has the history.
    let is_undoable = document.head.undoable && document.head.run_id.is_some() && outcomes.moved > 0;
    if is_undoable && closing.is_watched {
        messages.push(Message::Hint(format!("to see what reverting this run would do: {}", closing.next.undo)));
    }
    messages.extend(locked_by(&document.summary.locked_by).into_iter().map(Message::Warn));
    messages.extend(refusals(document).into_iter().map(Message::Warn));
    messages.extend(churn(document, closing.warn_above).map(Message::Warn));
    messages.extend(lost_commit(outcomes).map(Message::Warn));
    messages
}

/// `requeued 3 jobs, failed 1 job, 2 locked by another session`, with that verb for an action.
fn done(document: &Reclaim, outcomes: &Outcomes, verb: impl Fn(Action) -> String) -> String {
    let mut parts: Vec<String> = match &document.head.undoes {
        Some(_) => vec![format!("reverted {}", count(outcomes.moved, "job", "jobs"))],
        None => moved_by_action(document)
            .map(|(action, jobs)| format!("{} {}", verb(action), count(jobs, "job", "jobs")))
            .collect(),
    };
    if parts.is_empty() {
        parts.push(if document.head.rolled_back { "would move no job" } else { "moved no job" }.to_owned());
    }
    if document.head.undoes.is_some() && document.summary.skipped > 0 {
        parts.push(format!("{} skipped", grouped(document.summary.skipped)));
    }
    parts.extend(not_moved(outcomes, MEANWHILE).iter().map(|(what, n)| format!("{} {what}", grouped(*n))));
    parts.join(", ")
}

/// How many jobs were moved by which action, the most frequent first.
pub(super) fn moved_by_action(document: &Reclaim) -> impl Iterator<Item = (Action, u64)> {
    let counts = document.summary.by_action.iter();
    counts.filter_map(|count| Some((count.action, count.moved.filter(|moved| *moved > 0)?)))
}

/// What became of the jobs that were not moved, as far as there are any; `when` says when others changed them.
pub(super) fn not_moved(outcomes: &Outcomes, when: &str) -> Vec<(String, u64)> {
    let others = [
        (outcomes.changed, format!("changed {when}")),
        (outcomes.gone, format!("gone {when}")),
        (outcomes.locked, "locked by another session".to_owned()),
        (outcomes.refused, "refused".to_owned()),
        (outcomes.not_tried, "not tried".to_owned()),
        (outcomes.unknown, "of unknown outcome".to_owned()),
    ];
    others.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| (what, n)).collect()
}

/// Which jobs were refused, by the constraint or by the database's words, with what is left to do; and which were
/// failed for it. The table may be too long to find them in.
pub(super) fn refusals(document: &Reclaim) -> Vec<String> {
    let mut by_cause: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for step in &document.steps.items {
        let Some((error, outcome)) = step.error.as_ref().zip(step.outcome) else { continue };
        let (what, left) = match outcome {
            Outcome::Refused if error.is_of_unique_key() && step.job.action == Some(Action::Requeue) => {
                ("refused", document.head.unique_key)
            }
            Outcome::Refused => ("refused", ""),
            Outcome::Moved => ("failed, because the requeue was refused", ""),
            _ => continue,
        };
        // The message says why a job was not failed instead.
        let name =
            error.constraint.as_ref().filter(|_| outcome == Outcome::Moved || !document.head.unique_key.is_empty());
        let cause = name.map_or(format!("{what} ({})", error.message), |name| format!("{what} by {name}"));
        by_cause.entry((cause, left)).or_default().push(step.job.id.clone());
    }
    let line = |((cause, left), ids): ((String, &str), Vec<String>)| {
        let left = if left.is_empty() { String::new() } else { format!("; {left}") };
        format!("{cause}: {}{left}", first_few(&ids, SHOWN, ids.len() as u64))
    };
    by_cause.into_iter().map(line).collect()
}

/// The warning where the answer to a commit was lost.
pub(super) fn lost_commit(outcomes: &Outcomes) -> Option<String> {
    (outcomes.unknown > 0).then(|| {
        "the answer to a commit was lost: check the jobs of unknown outcome before doing anything else".to_owned()
    })
}

/// When the jobs that were requeued may run; `None` if that is at once.
pub(super) fn when(document: &Reclaim) -> Option<String> {
    let span = |seconds: Option<f64>| seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).map(age);
    match (span(document.head.delay_seconds), span(document.head.jitter_seconds)) {
        (None, None) => None,
        (Some(delay), None) => Some(format!("requeued jobs may run {delay} later")),
        (None, Some(jitter)) => Some(format!("requeued jobs may run some time within {jitter}")),
        (Some(delay), Some(jitter)) => Some(format!("requeued jobs may run {delay} later, spread over {jitter}")),
    }
}
