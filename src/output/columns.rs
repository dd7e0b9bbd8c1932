//! Tables of items, and the columns that lists of jobs have in common.

use super::findings::Wording;
use crate::model::{Action, Outcome, Timestamp, age};
use crate::output::Job;
use crate::output::format::{Align, Cell, Column, Cut, Table, Times, Tone, count, or_dash};
use crate::policy::{Proves, VerdictKind};
use std::time::Duration;

/// The columns of a list: what tables, csv, `--sort` and `-o name` know of its items.
pub struct Columns<'a, T>(Vec<ColumnOf<'a, T>>);

struct ColumnOf<'a, T> {
    layout: Column,
    /// Names of JSON fields with spaces between; `rule=/reasons/0/rule` is named `rule` and lies inside a field.
    fields: &'static str,
    is_shown: bool,
    cell: Box<dyn Fn(&T) -> Cell + 'a>,
}

impl<'a, T> Columns<'a, T> {
    /// No columns: a list that is neither a table nor in csv.
    pub fn new() -> Self {
        Columns(Vec::new())
    }

    /// Adds a column with the JSON fields that stand for it in csv and the cell that an item has in it.
    pub fn add(self, layout: Column, fields: &'static str, cell: impl Fn(&T) -> Cell + 'a) -> Self {
        self.add_if(true, layout, fields, cell)
    }

    /// Adds a column that tables show only then; csv has its fields in any case.
    pub fn add_if(
        mut self,
        is_shown: bool,
        layout: Column,
        fields: &'static str,
        cell: impl Fn(&T) -> Cell + 'a,
    ) -> Self {
        self.0.push(ColumnOf { layout, fields, is_shown, cell: Box::new(cell) });
        self
    }

    pub fn only_csv(self, fields: &'static str) -> Self {
        self.add_if(false, column("", 0, None), fields, |_| Cell::default())
    }

    fn shown(&self) -> impl Iterator<Item = &ColumnOf<'a, T>> {
        self.0.iter().filter(|column| column.is_shown)
    }

    pub fn fields(&self) -> Vec<&'static str> {
        self.0.iter().flat_map(|column| column.fields.split_whitespace()).collect()
    }

    /// The field that names an item: the first one of the first column that is shown.
    pub fn name(&self) -> &'static str {
        self.shown().next().and_then(|column| column.fields.split(' ').next()).unwrap_or_default()
    }

    pub fn titles(&self) -> Vec<&'static str> {
        self.shown().map(|column| column.layout.title).collect()
    }

    pub fn table<'i>(&self, items: impl Iterator<Item = &'i T>) -> Table
    where
        T: 'i,
    {
        let columns = self.shown().map(|column| column.layout.clone()).collect();
        Table { columns, rows: items.map(|item| self.row(item)).collect(), are_examples: false }
    }

    pub fn row(&self, item: &T) -> Vec<Cell> {
        self.shown().map(|column| (column.cell)(item)).collect()
    }
}

/// A left-aligned column for texts, of importance 0 (never dropped) to 9 (dropped first).
pub fn column(title: &'static str, importance: u8, shrinks_to: Option<usize>) -> Column {
    Column { title, align: Align::Left, importance, shrinks_to, cut: Cut::End }
}

/// A column for names of owners, hosts, kinds and queues, which are cut in the middle.
pub fn names(title: &'static str, importance: u8, shrinks_to: usize) -> Column {
    Column { cut: Cut::Middle, ..column(title, importance, Some(shrinks_to)) }
}

/// A right-aligned column for numbers and ages.
pub fn right(title: &'static str, importance: u8) -> Column {
    Column { title, align: Align::Right, importance, shrinks_to: None, cut: Cut::End }
}

pub fn text(value: Option<&str>) -> Cell {
    match or_dash(value) {
        "-" => Cell::new("-", Tone::Dim),
        text => text.into(),
    }
}

pub fn time(time: Option<Timestamp>, now: Timestamp, times: Times) -> Cell {
    Cell { rank: time.map(Timestamp::micros), ..text(time.map(|time| times.show(time, now)).as_deref()) }
}

pub fn duration(seconds: Option<f64>) -> Cell {
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Cell { rank: duration.map(rank), ..text(duration.map(age).as_deref()) }
}

pub fn silent(times: Times, importance: u8) -> Column {
    match times {
        Times::Mixed | Times::Relative => right("silent", importance),
        Times::Local | Times::Utc => column("last seen", importance, None),
    }
}

/// For how long there was no sign of life, or when the last one was.
pub fn silence(seconds: Option<f64>, last_seen_at: Option<Timestamp>, times: Times, tone: Tone) -> Cell {
    let Some(silence) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
        return Cell::new("?", tone);
    };
    let text = match (times, last_seen_at) {
        (Times::Local | Times::Utc, Some(at)) => times.show(at, at),
        _ => age(silence),
    };
    Cell::new(text, tone).ranked(rank(silence))
}

pub fn job_silence(job: &Job, times: Times) -> Cell {
    let tone = match job.verdict {
        Some(VerdictKind::Stuck) => how_bad(job.silence_seconds),
        Some(VerdictKind::Unknown) => Tone::Warn,
        Some(VerdictKind::Healthy) | None => Tone::Plain,
    };
    silence(job.silence_seconds, job.last_seen_at, times, tone)
}

/// The tone of a silence: for how long a user waits.
pub fn how_bad(seconds: Option<f64>) -> Tone {
    match seconds {
        Some(3600.0..) => Tone::Bad,
        Some(600.0..) => Tone::Amiss,
        _ => Tone::Plain,
    }
}

/// The line above jobs that no cause explains.
pub fn alone(jobs: u64) -> Cell {
    Cell::new(format!("{} without a common cause", count(jobs, "stuck job", "stuck jobs")), Tone::Dim)
}

/// Spans are ordered by their microseconds.
fn rank(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

pub fn attempts(attempts: Option<i64>, max: Option<i64>) -> String {
    match (attempts, max) {
        (None, _) => "-".to_owned(),
        (Some(attempts), None) => attempts.to_string(),
        (Some(attempts), Some(max)) => format!("{attempts}/{max}"),
    }
}

/// Why, in the tone of what it proves, and without the silence that stands in a column of its own.
pub fn reasons(job: &Job, now: Timestamp, times: Times) -> Cell {
    let silence = job.silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let wording = Wording { times: Some((now, times)), is_short: true, silence };
    let death = job.reasons.iter().any(|reason| reason.proves == Some(Proves::Death));
    Cell::new(
        wording.findings(job.reasons.iter().map(|reason| &reason.finding), "; "),
        if death { Tone::Plain } else { Tone::Warn },
    )
}

pub fn action(action: Option<Action>) -> Cell {
    match action {
        Some(Action::Requeue) => Cell::new("requeue", Tone::Plain),
        Some(other) => Cell::new(other.name(), Tone::Warn),
        None => Cell::new("skip", Tone::Dim),
    }
}

/// How a step ended. A race that was lost is no fault.
pub fn outcome(outcome: Option<Outcome>) -> Cell {
    let Some(outcome) = outcome else { return Cell::new("-", Tone::Dim) };
    let tone = match outcome {
        Outcome::Moved => Tone::Plain,
        Outcome::Changed | Outcome::Gone => Tone::Dim,
        Outcome::Locked | Outcome::NotTried => Tone::Warn,
        Outcome::Refused | Outcome::Unknown => Tone::Bad,
    };
    Cell::new(outcome.name(), tone)
}
