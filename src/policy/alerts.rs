//! The ranges of a monitoring plugin, and how bad a measured value is.

use std::fmt;

/// The state that a monitoring plugin reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// All is well.
    Ok,
    /// Worth a warning.
    Warning,
    /// Needs action now.
    Critical,
    /// Not known.
    Unknown,
}

impl State {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Critical => "critical",
            State::Unknown => "unknown",
        }
    }
}

/// What can be measured of a queue and compared with a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// How many claims are stuck.
    Stuck,
    /// The longest silence of a stuck claim, in seconds.
    Silence,
    /// How many of a hundred claims are stuck.
    Share,
    /// How many claims cannot be judged.
    Unknown,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Measure; 4] = [Measure::Stuck, Measure::Silence, Measure::Share, Measure::Unknown];

    /// The name used in JSON, in performance data and before a range.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Stuck => "stuck",
            Measure::Silence => "silence",
            Measure::Share => "share",
            Measure::Unknown => "unknown",
        }
    }
}

/// From when on something is worth a warning, and when it is critical.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alerts {
    /// The ranges that make a measure worth a warning.
    pub warning: Vec<(Measure, Range)>,
    /// The ranges that make a measure critical.
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
    pub fn judge(&self, measure: Measure, value: Option<f64>) -> State {
        let [warning, critical] = [&self.warning, &self.critical].map(|list| Alerts::range(list, measure));
        match value {
            Some(value) if critical.is_some_and(|range| range.alerts(value)) => State::Critical,
            Some(value) if warning.is_some_and(|range| range.alerts(value)) => State::Warning,
            None if critical.or(warning).is_some() => State::Warning,
            Some(_) | None => State::Ok,
        }
    }
}

/// A range as the Monitoring Plugins Development Guidelines write it, `[@][start:][end]`: what lies outside of it is an alert;
/// with `@`, what lies inside. Both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    start: f64,
    end: f64,
    inside: bool,
}

impl Range {
    /// Reads one; `number` reads what stands at its ends.
    ///
    /// # Errors
    /// What is wrong with it, and how to write it.
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

    /// True if that value is an alert.
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
            (start, end) if start == f64::NEG_INFINITY => write!(f, "~:{}", Finite(end)),
            (start, end) if end == f64::INFINITY => write!(f, "{start}:"),
            (0.0, end) => write!(f, "{end}"),
            (start, end) => write!(f, "{start}:{end}"),
        }
    }
}

/// No end is written as nothing.
struct Finite(f64);

impl fmt::Display for Finite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_finite() { write!(f, "{}", self.0) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Result<Range, String> {
        Range::parse(text, |number| number.parse().map_err(|_| format!("`{number}` is no number")))
    }

    /// The guidelines' own table: each range, what alerts and what does not.
    #[test]
    fn the_table_of_the_guidelines() {
        let cases: [(&str, &[f64], &[f64]); 5] = [
            ("10", &[-1.0, -0.001, 10.001, 11.0], &[0.0, 5.0, 10.0]),
            ("10:", &[-1.0, 0.0, 9.999], &[10.0, 1e12]),
            ("~:10", &[10.001, 11.0], &[-1e12, 0.0, 10.0]),
            ("10:20", &[9.999, 20.001, 0.0], &[10.0, 15.0, 20.0]),
            ("@10:20", &[10.0, 15.0, 20.0], &[9.999, 20.001, 0.0]),
        ];
        for (text, alerts, not) in cases {
            let range = range(text).unwrap();
            assert_eq!(range.to_string(), text);
            alerts.iter().for_each(|value| assert!(range.alerts(*value), "{value} in {text}"));
            not.iter().for_each(|value| assert!(!range.alerts(*value), "{value} in {text}"));
        }
    }

    #[test]
    fn which_end_was_passed() {
        let broken = |text, value: f64| range(text).unwrap().broken(value, |end| format!("{end}s"));
        for (text, value, why) in [
            ("10", 11.0, "above 10s"),
            ("10:", 9.0, "below 10s"),
            ("5:10", 4.0, "below 5s"),
            ("@5:10", 7.0, "within @5:10"),
            ("@10:", 12.0, "within @10:"),
        ] {
            assert_eq!(broken(text, value).as_deref(), Some(why), "{text}");
        }
        assert_eq!(broken("10", 10.0), None);
    }

    #[test]
    fn other_forms() {
        for (text, canonical) in [
            ("0", "0"),
            (":10", "10"),
            ("0:10", "10"),
            ("-5:5", "-5:5"),
            ("~:", "~:"),
            ("@~:1.5", "@~:1.5"),
            ("7:7", "7:7"),
        ] {
            assert_eq!(range(text).unwrap().to_string(), canonical, "{text}");
        }
        assert!(range("0").unwrap().alerts(1.0) && !range("0").unwrap().alerts(0.0));
        for text in ["", "@", "x", "10:x", "20:10", "10:20:30", "10:~", "~", "@@1"] {
            assert!(range(text).is_err(), "{text}");
        }
        assert_eq!(range("20:10"), Err("it ends before it begins: 20 is greater than 10".to_owned()));
    }

    fn range_of(text: &str) -> Range {
        range(text).unwrap()
    }

    #[test]
    fn critical_beats_warning_and_the_last_range_counts() {
        let alerts = Alerts {
            warning: vec![(Measure::Stuck, range_of("0")), (Measure::Silence, range_of("60"))],
            critical: vec![(Measure::Stuck, range_of("1")), (Measure::Stuck, range_of("10"))],
        };
        let cases = [(0.0, State::Ok), (1.0, State::Warning), (10.0, State::Warning), (11.0, State::Critical)];
        for (stuck, state) in cases {
            assert_eq!(alerts.judge(Measure::Stuck, Some(stuck)), state, "{stuck}");
        }
        assert_eq!(alerts.judge(Measure::Silence, None), State::Warning);
        assert_eq!(alerts.judge(Measure::Share, None), State::Ok);
        assert_eq!(alerts.judge(Measure::Share, Some(100.0)), State::Ok);
    }
}
