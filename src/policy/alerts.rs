//! The ranges of a monitoring plugin, and how bad a measured value is.

use std::fmt;
use strum::IntoStaticStr;

/// The state that a monitoring plugin reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum State {
    #[default]
    Ok,
    Warning,
    /// Needs action now.
    Critical,
    Unknown,
}

impl State {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What can be measured of a queue and compared with a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Measure {
    /// How many claims are stuck.
    Stuck,
    /// The longest silence of a stuck claim, in seconds.
    Silence,
    /// How many of a hundred claims are stuck.
    Share,
    /// How many claims cannot be judged.
    Unknown,
    /// How many jobs are due.
    Due,
    /// How long the oldest due job waits, in seconds.
    OldestDue,
}

impl Measure {
    pub const ALL: [Measure; 6] =
        [Measure::Stuck, Measure::Silence, Measure::Share, Measure::Unknown, Measure::Due, Measure::OldestDue];

    /// The name used in JSON, in performance data and before a range.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// From when on something is worth a warning, and when it is critical.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alerts {
    pub warning: Vec<(Measure, Range)>,
    pub critical: Vec<(Measure, Range)>,
}

impl Alerts {
    /// The range of a measure in that list; of several the last.
    pub fn range(list: &[(Measure, Range)], measure: Measure) -> Option<Range> {
        list.iter().rev().find(|(of, _)| *of == measure).map(|(_, range)| *range)
    }

    /// The range that a value breaks, the critical one first.
    pub fn broken(&self, measure: Measure, value: f64) -> Option<Range> {
        let ranges = [&self.critical, &self.warning].map(|list| Alerts::range(list, measure));
        ranges.into_iter().flatten().find(|range| range.alerts(value))
    }

    /// The state of a value. An unknown value is a warning if the measure has a range: it must not pass for a good one.
    pub fn state_at(&self, measure: Measure, value: Option<f64>) -> State {
        let [warning, critical] = [&self.warning, &self.critical].map(|list| Alerts::range(list, measure));
        match value {
            Some(value) if critical.is_some_and(|range| range.alerts(value)) => State::Critical,
            Some(value) if warning.is_some_and(|range| range.alerts(value)) => State::Warning,
            None if critical.or(warning).is_some() => State::Warning,
            Some(_) | None => State::Ok,
        }
    }
}

/// A range as the Monitoring Plugins Development Guidelines write it, `[@][start:][end]`: what lies outside of it is an
/// alert; with `@`, what lies inside. Both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    start: f64,
    end: f64,
    inside: bool,
}

impl Range {
    /// Reads one; `number` reads what stands at its ends.
    pub fn parse(text: &str, number: impl Fn(&str) -> Result<f64, String>) -> Result<Range, String> {
        let (inside, ends) = text.strip_prefix('@').map_or((false, text), |ends| (true, ends));
        let (start, end) = match ends.split_once(':') {
            None => (0.0, number(ends)?),
            Some((start, end)) => {
                let start = match start {
                    "~" => f64::NEG_INFINITY,
                    "" => 0.0,
                    start => number(start)?,
                };
                (start, if end.is_empty() { f64::INFINITY } else { number(end)? })
            }
        };
        if start > end {
            return Err(format!("it ends before it begins: {start} is greater than {end}"));
        }
        Ok(Range { start, end, inside })
    }

    /// Why a value is an alert, if it is: `above 10`, each end written by `number`.
    pub fn broken(&self, value: f64, number: impl Fn(f64) -> String) -> Option<String> {
        match value {
            _ if !self.alerts(value) => None,
            _ if self.inside => Some(format!("within {self}")),
            _ if value < self.start => Some(format!("below {}", number(self.start))),
            _ => Some(format!("above {}", number(self.end))),
        }
    }

    pub fn alerts(&self, value: f64) -> bool {
        (self.start..=self.end).contains(&value) == self.inside
    }
}

impl fmt::Display for Range {
    /// The form of the guidelines, in base units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.inside {
            f.write_str("@")?;
        }
        match (self.start, self.end) {
            (f64::NEG_INFINITY, f64::INFINITY) => f.write_str("~:"),
            (f64::NEG_INFINITY, end) => write!(f, "~:{end}"),
            (start, f64::INFINITY) => write!(f, "{start}:"),
            (0.0, end) => write!(f, "{end}"),
            (start, end) => write!(f, "{start}:{end}"),
        }
    }
}
