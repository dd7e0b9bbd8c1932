//! Columns that every list of jobs shares.

use crate::model::{Action, age};
use crate::output::Job;
use crate::output::format::{Align, Cell, Column, Tone, or_dash};
use crate::policy::{Proves, VerdictKind};
use std::time::Duration;

/// Left-aligned columns in the order of importance 0 (never dropped) to 9 (dropped first).
pub fn column(title: &'static str, importance: u8, shrinks_to: Option<usize>) -> Column {
    Column { title, align: Align::Left, importance, shrinks_to }
}

/// The same for numbers and ages.
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
