//! Tables of items, and the columns that lists of jobs have in common.

use crate::model::{Action, Timestamp, age};
use crate::output::Job;
use crate::output::format::{Align, Cell, Column, Table, Tone, or_dash};
use crate::policy::{Proves, VerdictKind};
use std::io;
use std::time::Duration;

/// A column, and the cell that an item has in it.
pub type CellOf<'a, T> = (Column, &'a dyn Fn(&T) -> Cell);

/// A table with a row for each item.
///
/// # Errors
/// When an item cannot be read from its temporary file.
pub fn table<T>(columns: &[CellOf<'_, T>], items: impl Iterator<Item = io::Result<T>>) -> io::Result<Table> {
    let row = |item: io::Result<T>| item.map(|item| columns.iter().map(|(_, cell)| cell(&item)).collect());
    Ok(Table {
        columns: columns.iter().map(|(column, _)| column.clone()).collect(),
        rows: items.map(row).collect::<io::Result<_>>()?,
    })
}

/// A left-aligned column for texts, of importance 0 (never dropped) to 9 (dropped first).
pub fn column(title: &'static str, importance: u8, shrinks_to: Option<usize>) -> Column {
    Column { title, align: Align::Left, importance, shrinks_to }
}

/// A right-aligned column for numbers and ages.
pub fn right(title: &'static str, importance: u8) -> Column {
    Column { title, align: Align::Right, importance, shrinks_to: None }
}

/// A text that may not be there.
pub fn text(value: Option<&str>) -> Cell {
    match or_dash(value) {
        "-" => Cell::new("-", Tone::Dim),
        text => text.into(),
    }
}

/// An instant that may not be known.
pub fn time(time: Option<Timestamp>) -> Cell {
    text(time.map(|time| time.to_string()).as_deref())
}

/// A duration that may not be known.
pub fn duration(seconds: Option<f64>) -> Cell {
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    text(duration.map(age).as_deref())
}

/// For how long there was no sign of life.
pub fn silence(job: &Job) -> Cell {
    let tone = match job.verdict {
        VerdictKind::Stuck => Tone::Bad,
        VerdictKind::Unknown => Tone::Warn,
        VerdictKind::Healthy => Tone::Plain,
    };
    match job.silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(silence) => Cell::new(age(silence), tone),
        None => Cell::new("?", tone),
    }
}

/// Attempts, of how many.
pub fn attempts(attempts: Option<i64>, max: Option<i64>) -> String {
    match (attempts, max) {
        (None, _) => "-".to_owned(),
        (Some(attempts), None) => attempts.to_string(),
        (Some(attempts), Some(max)) => format!("{attempts}/{max}"),
    }
}

/// Why, in the tone of what it proves.
pub fn reasons(job: &Job) -> Cell {
    let details: Vec<&str> = job.reasons.iter().map(|reason| reason.detail.as_str()).collect();
    let death = job.reasons.iter().any(|reason| reason.proves == Some(Proves::Death));
    Cell::new(details.join("; "), if death { Tone::Plain } else { Tone::Warn })
}

/// An action, in its tone.
pub fn action(action: Option<Action>) -> Cell {
    match action {
        Some(Action::Requeue) => Cell::new("requeue", Tone::Good),
        Some(other) => Cell::new(other.name(), Tone::Warn),
        None => Cell::new("skip", Tone::Dim),
    }
}
