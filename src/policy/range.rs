use std::fmt;

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
    /// In the guidelines' own form, whatever units it was written in.
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
}
