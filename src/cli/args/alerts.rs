//! Options that set the thresholds of the monitoring plugin.

use crate::model::parse_duration;
use crate::policy::{Alerts, Measure, Range};
use clap::Args;

/// Ranges that raise an alert.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "When to raise an alert")]
pub struct AlertArgs {
    /// Warn if a value is outside its range: RANGE for the number of stuck claims, or any of stuck=RANGE, silence=RANGE
    /// (longest silence of a stuck claim, in seconds or as 10m), share=RANGE (percentage of claims that are stuck) and
    /// unknown=RANGE (claims that cannot be judged), with commas in between or repeated. RANGE is [@][START:]END: 10 is
    /// 0 to 10, 10: is 10 or more, ~:10 is 10 or less, @ inverts it [default: 0,unknown=0; unknown=0 also stays with
    /// other ranges]
    #[arg(short, long, value_name = "RANGES", value_parser = parse_ranges, allow_hyphen_values = true)]
    warning: Vec<Ranges>,
    /// Report critical if a value is outside its range, written as for --warning
    #[arg(short, long, value_name = "RANGES", value_parser = parse_ranges, allow_hyphen_values = true)]
    critical: Vec<Ranges>,
}

/// Ranges, each with what it is of.
#[derive(Debug, Clone, PartialEq)]
struct Ranges(Vec<(Measure, Range)>);

impl AlertArgs {
    /// The ranges. Unless a warning range says otherwise, no claim may be stuck and none unknown.
    pub fn alerts(&self) -> Result<Alerts, String> {
        let all = |ranges: &[Ranges]| ranges.iter().flat_map(|ranges| ranges.0.clone()).collect::<Vec<_>>();
        let mut alerts = Alerts { warning: all(&self.warning), critical: all(&self.critical) };
        let mut is_said = [false; 2];
        alerts.warning.iter().for_each(|(measure, _)| is_said[usize::from(*measure == Measure::Unknown)] = true);
        for (text, is_said) in ["stuck=0", "unknown=0"].into_iter().zip(is_said) {
            if !is_said {
                alerts.warning.extend(parse_ranges(text)?.0);
            }
        }
        Ok(alerts)
    }
}

fn parse_ranges(text: &str) -> Result<Ranges, String> {
    text.split(',').map(|part| one(part.trim())).collect::<Result<_, _>>().map(Ranges)
}

fn one(text: &str) -> Result<(Measure, Range), String> {
    let (name, range) = text.split_once('=').unwrap_or((Measure::Stuck.name(), text));
    let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name).ok_or_else(|| {
        let known = Measure::ALL.map(Measure::name).join(", ");
        format!("`{}` is not measured: {known} are", name.escape_debug())
    })?;
    let range = Range::parse(range, |text| match measure {
        Measure::Stuck | Measure::Unknown => number(text),
        Measure::Silence => number(text).or_else(|_| duration(text)),
        Measure::Share => number(text.strip_suffix('%').unwrap_or(text)),
    });
    Ok((measure, range.map_err(|why| format!("{name}: {why}"))?))
}

/// Digits with a sign and a point, and none of the other things that a float may be.
fn number(text: &str) -> Result<f64, String> {
    let is_plain = text.len() <= 20 && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'));
    text.parse().ok().filter(|_| is_plain).ok_or_else(|| {
        format!("`{}` is not a number: write a range as in 10, 10:, ~:10, 10:20 or @10:20", text.escape_debug())
    })
}

fn duration(text: &str) -> Result<f64, String> {
    if text.is_empty() {
        return number(text);
    }
    parse_duration(text).map(|duration| duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<Vec<String>, String> {
        let ranges = parse_ranges(text)?.0;
        Ok(ranges.iter().map(|(measure, range)| format!("{}={range}", measure.name())).collect())
    }

    #[test]
    fn what_can_be_written() {
        for (text, ranges) in [
            ("0", "stuck=0"),
            ("~:10", "stuck=~:10"),
            ("stuck=@10:20", "stuck=@10:20"),
            ("stuck=5, silence=10m,share=12.5%", "stuck=5 silence=600 share=12.5"),
            ("silence=600", "silence=600"),
            ("silence=5m:1h 30m", "silence=300:5400"),
            ("silence=@10m:", "silence=@600:"),
            ("share=-1:50", "share=-1:50"),
        ] {
            assert_eq!(shown(text).unwrap().join(" "), ranges, "{text}");
        }
    }

    #[test]
    fn what_cannot() {
        for text in [
            "",
            ",",
            "5,",
            "x",
            "1e3",
            "inf",
            "NaN",
            "10:5",
            "age=5",
            "silence=5M",
            "silence=",
            "stuck=5m",
            "share=5%%",
        ] {
            assert!(shown(text).is_err(), "{text}");
        }
        assert_eq!(shown("age=5"), Err("`age` is not measured: stuck, silence, share, unknown are".to_owned()));
        assert_eq!(shown("silence=5M"), Err("silence: 5 minutes is 5m; months are not allowed here".to_owned()));
    }

    #[test]
    fn without_a_range_no_claim_may_be_stuck() {
        let range = |list: &[_]| Alerts::range(list, Measure::Stuck).map(|range| range.to_string());
        let alerts = AlertArgs::default().alerts().unwrap();
        assert_eq!((range(&alerts.warning), range(&alerts.critical)), (Some("0".to_owned()), None));
        let warning = |text: &str| {
            let args = AlertArgs { warning: vec![parse_ranges(text).unwrap()], ..AlertArgs::default() };
            let alerts = args.alerts().unwrap().warning;
            [Measure::Stuck, Measure::Unknown].map(|of| Alerts::range(&alerts, of).map(|range| range.to_string()))
        };
        let own = |text: &str| Some(text.to_owned());
        assert_eq!(
            warning("unknown=3"),
            [own("0"), own("3")],
            "who allows some unknown ones does not allow stuck ones"
        );
        assert_eq!(warning("silence=1h"), [None, own("0")]);
    }
}
