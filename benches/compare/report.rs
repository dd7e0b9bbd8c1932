//! The one table that the harness prints.

use std::fmt::Write as _;
use std::io::{self, Write};

/// What is asked of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// Nothing: the row informs.
    None,
    /// At most so many times the figure by hand.
    Ratio(f64),
    /// At most so many times the figure by hand, and so much more.
    RatioPlus(f64, f64),
    /// At most so much.
    AtMost(f64),
}

/// A line of the table.
struct Row {
    what: String,
    unit: &'static str,
    by_hand: Option<f64>,
    ours: f64,
    goal: Goal,
}

/// The table as it grows.
#[derive(Default)]
pub struct Report {
    only: Option<String>,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    /// A table of the rows whose names contain that text.
    pub fn new(only: Option<String>) -> Report {
        Report { only, ..Report::default() }
    }

    /// True if a row of that name is asked for.
    pub fn wants(&self, what: &str) -> bool {
        self.only.as_deref().is_none_or(|only| what.contains(only))
    }

    /// Adds a time in milliseconds, beside the one by hand.
    pub fn time(&mut self, what: &str, by_hand: impl Into<Option<f64>>, ours: f64, goal: Goal) {
        self.add(what, "ms", by_hand.into(), ours, goal);
    }

    /// Adds a figure in any unit; the figure by hand is whatever ours is compared with.
    pub fn add(&mut self, what: &str, unit: &'static str, by_hand: Option<f64>, ours: f64, goal: Goal) {
        if self.wants(what) {
            self.rows.push(Row { what: what.to_owned(), unit, by_hand, ours, goal });
        }
    }

    /// Adds a sentence below the table.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Prints all of it.
    ///
    /// # Errors
    /// When stdout is closed.
    pub fn print(&self) -> io::Result<()> {
        let wide = self.rows.iter().map(|row| row.what.len()).max().unwrap_or(0).max(4);
        let line = |cells: [&str; 6]| {
            let [what, hand, ours, ratio, goal, met] = cells;
            format!("{what:<wide$}  {hand:>12}  {ours:>12}  {ratio:>6}  {goal:>16}  {met}\n")
        };
        let mut text = line(["WHAT", "BY HAND", "JOBDOCTOR", "RATIO", "GOAL", "MET"]);
        for row in &self.rows {
            let hand = row.by_hand.map_or_else(|| "-".to_owned(), |hand| figure(hand, row.unit));
            let ratio = row.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
            let met = row.met().map_or("", |met| if met { "yes" } else { "no" });
            text += &line([&row.what, &hand, &figure(row.ours, row.unit), &ratio, &row.goal_in_words(), met]);
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        io::stdout().write_all(text.as_bytes())
    }
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.by_hand.filter(|hand| *hand > 0.0).map(|hand| self.ours / hand)
    }

    /// Whether the goal is met; `None` without one.
    fn met(&self) -> Option<bool> {
        match self.goal {
            Goal::None => None,
            Goal::Ratio(most) => self.by_hand.map(|hand| self.ours <= most * hand),
            Goal::RatioPlus(most, more) => self.by_hand.map(|hand| self.ours <= most * hand + more),
            Goal::AtMost(most) => Some(self.ours <= most),
        }
    }

    fn goal_in_words(&self) -> String {
        match self.goal {
            Goal::None => "-".to_owned(),
            Goal::Ratio(most) => format!("{most} x"),
            Goal::RatioPlus(most, more) => format!("{most} x + {more} {}", self.unit),
            Goal::AtMost(most) => format!("{most} {}", self.unit),
        }
    }
}

fn figure(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value:.0}"),
        _ if value < 1.0 => format!("{value:.3} {unit}"),
        _ if value < 100.0 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// Says on stderr what is going on: building tables takes minutes.
pub fn progress(what: &str) {
    let _ = writeln!(io::stderr(), "{what}");
}
