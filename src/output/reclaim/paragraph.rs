//! What an unattended sweep did, as plain lines for a mail.

use super::churn::churn;
use super::closing::{Closing, MEANWHILE, lost_commit, moved_by_action, not_moved, refusals, when};
use super::{Outcomes, Reclaim, Target};
use crate::output::diagnosis::MOST;
use crate::output::format::{count, grouped};
use crate::output::locked_by;

/// The lines; none for a dry run.
pub fn paragraph(document: &Reclaim, host: Option<&str>, is_recorded: bool, closing: &Closing<'_>) -> Vec<String> {
    let summary = &document.summary;
    let Some(outcomes) = &summary.outcomes else { return Vec::new() };
    let mut lines = vec![format!("{}:", place(document, host))];
    let moved: Vec<_> = moved_by_action(document).map(|(action, n)| (action.past().to_owned(), n)).collect();
    let jobs = count(summary.planned, "stuck job", "stuck jobs");
    lines.push(match outcomes.moved {
        0 => format!("moved none of {jobs}."),
        n => format!("moved {} of {jobs}: {}.", grouped(n), listed(&moved)),
    });
    let done = document.diagnoses.iter().take(MOST).filter_map(|cause| cause.done(true));
    lines.extend(done.map(|cell| format!("{}.", capital(&cell.text))));
    if summary.by_age > 0 {
        let jobs = count(summary.by_age, "job was", "jobs were");
        lines.push(format!("{jobs} only older than allowed (age only): a slow job looks so too."));
    }
    lines.extend(left_behind(outcomes));
    lines.extend(refusals(document));
    lines.extend(locked_by(&summary.locked_by).iter().map(|line| format!("{}.", capital(line))));
    lines.extend(lost_commit(outcomes).map(|text| format!("{}.", capital(&text))));
    lines.extend(closing.stop.as_ref().map(|stop| format!("Stopped early: {stop}.")));
    lines.extend(skipped_by_reason(document));
    if document.beyond() > 0 && document.is_limited() {
        lines.push(format!("{} beyond --limit.", count(document.beyond(), "more job", "more jobs")));
    }
    lines.extend(when(document).filter(|_| outcomes.moved > 0).map(|when| format!("{}.", capital(&when))));
    lines.extend(churn(document, closing.warn_above).map(|churn| format!("{}.", capital(&churn))));
    lines.extend(closing.after.iter().map(|warning| format!("{}.", capital(warning))));
    if let Some(run) = document.head.run_id.as_ref().filter(|_| is_recorded) {
        lines.push(format!("This was run {run}. More: {}", closing.next.history));
        if document.head.undoable && outcomes.moved > 0 {
            lines.push(format!("To see what reverting it would do: {}", closing.next.undo));
        }
    }
    lines
}

/// Which sweep, of which queue, from where.
pub fn place(document: &Reclaim, host: Option<&str>) -> String {
    let Target { engine, database, table, preset, name, .. } = &document.head.target;
    let name = name.as_ref().map_or_else(String::new, |name| format!("target {name}, "));
    let host = host.map_or_else(String::new, |host| format!(" on {host}"));
    format!("sweep{host} of {name}{engine} {database}, table {table}, preset {preset}")
}

/// How many jobs were planned for and not moved, by outcome.
pub fn left_behind(outcomes: &Outcomes) -> Option<String> {
    let others = not_moved(outcomes, MEANWHILE);
    (!others.is_empty()).then(|| format!("Not moved: {}.", listed(&others)))
}

/// How many jobs were examined and skipped, by reason.
pub fn skipped_by_reason(document: &Reclaim) -> Option<String> {
    let counts = document.summary.skipped_by_reason.iter();
    let mut counts: Vec<(String, u64)> = counts.map(|(reason, n)| (reason.to_string(), *n)).collect();
    counts.sort_by_key(|(reason, n)| (std::cmp::Reverse(*n), reason.clone()));
    (!counts.is_empty()).then(|| format!("Skipped: {}.", listed(&counts)))
}

fn listed(counts: &[(String, u64)]) -> String {
    counts.iter().map(|(word, n)| format!("{} {word}", grouped(*n))).collect::<Vec<_>>().join(", ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
