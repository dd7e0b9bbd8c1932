//! One picture of a snapshot, no higher and no wider than the terminal.

use super::LastSnapshot;
use crate::model::age;
use crate::output::format::{Cell, Format, Screen, Tone, count, grouped};
use crate::output::marked;
use crate::output::{Job, Spool};
use std::io;
use std::time::Duration;

/// How many rows there may be of what is gone.
const GONE: usize = 5;
/// Rows that there are at least, however many lines the diagnoses take.
const FEWEST: usize = 5;

/// What a picture is made of besides the snapshot.
pub(super) struct Frame {
    /// Where it is drawn.
    pub screen: Screen,
    /// Lines there are.
    pub height: usize,
    /// The most rows that were asked for.
    pub rows: Option<usize>,
    /// All columns, or those that fit.
    pub format: Format,
    /// The pause between two snapshots.
    pub interval: Duration,
    /// True if there was a snapshot before.
    pub compares: bool,
}

/// Why there is no newer look.
pub(super) struct Failure {
    /// In words.
    pub message: String,
}

impl Frame {
    /// The picture's lines, without line breaks.
    pub(super) fn draw(&self, seen: &LastSnapshot, failure: Option<&Failure>) -> io::Result<Vec<String>> {
        let document = &seen.diff.document;
        let mut top = self.head(seen, failure);
        top.extend(lines(&crate::output::diagnoses(&document.diagnoses, &document.summary, &self.screen)));
        // The table has its header, and below it a line that says how many more there are.
        let fixed = 3;
        let room = self.height.saturating_sub(fixed + top.len());
        if room < FEWEST {
            top.truncate(self.height.saturating_sub(fixed + FEWEST).max(1));
        }
        let rows = self.height.saturating_sub(fixed + top.len()).min(self.rows.unwrap_or(usize::MAX));
        top.push(String::new());
        top.extend(self.table(seen, rows)?);
        top.truncate(self.height);
        Ok(top)
    }

    /// What was looked at, when, and whether this is still so.
    fn head(&self, seen: &LastSnapshot, failure: Option<&Failure>) -> Vec<String> {
        let document = &seen.diff.document;
        let summary = &document.summary;
        let unknown =
            if summary.unknown > 0 { format!(", {} unknown", grouped(summary.unknown)) } else { String::new() };
        let counts = format!(
            "{} stuck{unknown}, of {} in flight",
            count(summary.stuck, "job", "jobs"),
            grouped(summary.in_flight)
        );
        let mut text = String::new();
        let mut say = |words: String, tone: Tone| text.push_str(&self.screen.paragraph(&Cell::new(words, tone)));
        match failure {
            None => say(
                format!(
                    "{} at {}, every {}: {counts}",
                    document.target.database,
                    document.store_time,
                    age(self.interval)
                ),
                Tone::Strong,
            ),
            Some(failure) => {
                say(format!("CANNOT READ: {}", failure.message), Tone::Bad);
                let old = age(seen.at.elapsed());
                say(
                    format!(
                        "tried again every {}; this is how it was {old} ago, at {}: {counts}",
                        age(self.interval),
                        document.store_time
                    ),
                    Tone::Warn,
                );
            }
        }
        seen.warnings.iter().for_each(|warning| say(format!("warning: {warning}"), Tone::Warn));
        lines(&text)
    }

    /// What is gone, what is new, then the rest, in so many rows.
    fn table(&self, seen: &LastSnapshot, rows: usize) -> io::Result<Vec<String>> {
        let diff = &seen.diff;
        let mut shown: Vec<(&str, Job)> = Vec::new();
        for job in diff.gone.iter().take(GONE.min(rows)) {
            shown.push(("-", job?));
        }
        let (mut new, mut rest) = (Vec::new(), Vec::new());
        for job in diff.findings() {
            let job = job?;
            let is_new = self.compares && diff.is_new(&job);
            let list = if is_new { &mut new } else { &mut rest };
            if list.len() < rows {
                list.push((if is_new { "+" } else { "" }, job));
            }
        }
        shown.extend(new.into_iter().chain(rest));
        shown.truncate(rows);
        let total = diff.gone.len() + diff.document.jobs.len() + diff.document.unknown.len();
        if shown.is_empty() && total == 0 {
            return Ok(Vec::new());
        }
        let mut list = Spool::default();
        let mut marks = Vec::new();
        for (n, (mark, job)) in shown.iter().enumerate() {
            list.push(n as i64, Job::clone(job))?;
            marks.push(*mark);
        }
        let mut table = lines(&marked(&list, &marks, self.format)?.render(&self.screen));
        let more = total.saturating_sub(shown.len());
        if more > 0 {
            let more = Cell::new(format!("and {} more", grouped(more as u64)), Tone::Dim);
            table.extend(lines(&self.screen.paragraph(&more)));
        }
        Ok(table)
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
