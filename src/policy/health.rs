use super::Range;

/// How a monitoring plugin sees the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// All is well.
    Ok,
    /// Somebody should look.
    Warning,
    /// Somebody must look.
    Critical,
    /// Nobody knows.
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
    /// How many claims nobody can judge.
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
    /// The ranges of each measure that a warning needs.
    pub warning: Vec<(Measure, Range)>,
    /// The same for critical.
    pub critical: Vec<(Measure, Range)>,
}

impl Alerts {
    /// The range of a measure in that list; of several the last.
    pub fn range(list: &[(Measure, Range)], measure: Measure) -> Option<Range> {
        list.iter().rev().find(|(of, _)| *of == measure).map(|(_, range)| *range)
    }

    /// Which range it is outside of that makes it what it comes to, if it is.
    pub fn broken(&self, measure: Measure, value: f64) -> Option<Range> {
        let ranges = [&self.critical, &self.warning].map(|list| Alerts::range(list, measure));
        ranges.into_iter().flatten().find(|range| range.alerts(value))
    }

    /// What a value comes to. One that nobody knows is worth a warning where a range asks for it: it must not pass for a good
    /// one.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        Range::parse(text, |number| number.parse().map_err(|_| String::new())).unwrap()
    }

    #[test]
    fn critical_beats_warning_and_the_last_range_counts() {
        let alerts = Alerts {
            warning: vec![(Measure::Stuck, range("0")), (Measure::Silence, range("60"))],
            critical: vec![(Measure::Stuck, range("1")), (Measure::Stuck, range("10"))],
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
