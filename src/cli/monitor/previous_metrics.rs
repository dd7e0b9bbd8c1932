//! The metrics of the previous run, read from the textfile that this run is about to replace.

use crate::output::format::{Family, Sample};
use crate::output::metrics::{FOUND, LAST_SUCCESS, RECLAIMED};

/// Every label of our samples.
const LABELS: [&str; 7] = ["target", "command", "queue", "state", "reason", "action", "outcome"];

/// The metrics that outlive a run. The file may have been edited, so a line that jobdoctor would not write is ignored.
#[derive(Debug, Default, PartialEq)]
pub struct PreviousMetrics {
    /// The target of the previous run.
    pub target: Option<String>,
    /// The end of the last run of the same command with exit code 0, in seconds since 1970.
    pub last_success_at: Option<f64>,
    /// The jobs that the last run of the same command found in flight; its counts of reclaimed jobs are 0.
    pub found: Vec<Family>,
}

impl PreviousMetrics {
    /// Reads the text of a textfile.
    pub(super) fn read(text: &str, command: &str) -> PreviousMetrics {
        let (target, last_success_at) = last_success(text, command);
        let Some(own) = target.clone().map(|target| [("target", target), ("command", command.to_owned())]) else {
            return PreviousMetrics::default();
        };
        let family = |(name, help): (&'static str, &'static str)| {
            let samples = text.lines().filter_map(|line| sample(line.strip_prefix(name)?));
            Family { name, help, samples: samples.filter(|sample| sample.labels.starts_with(&own)).collect() }
        };
        let mut reclaimed = family(RECLAIMED);
        reclaimed.samples.iter_mut().for_each(|sample| sample.value = 0.0);
        let found = FOUND.into_iter().map(family).chain([reclaimed]).collect();
        PreviousMetrics { target, last_success_at, found }
    }
}

fn last_success(text: &str, command: &str) -> (Option<String>, Option<f64>) {
    let sample = text.lines().find_map(|line| line.strip_prefix(LAST_SUCCESS)?.strip_prefix("{target=\""));
    let Some((target, rest)) = sample.and_then(label) else { return (None, None) };
    let at = rest.strip_prefix(&format!(",command=\"{command}\"}} ")).and_then(|at| at.parse().ok());
    // An instant lies between the years 2000 and 2100.
    (Some(target), at.filter(|at: &f64| (946_684_800.0..4_102_444_800.0).contains(at)))
}

/// A sample, from the text that follows its name.
fn sample(text: &str) -> Option<Sample> {
    let (mut labels, mut rest) = (Vec::new(), text.strip_prefix('{')?);
    loop {
        let (name, after) = rest.split_once("=\"")?;
        let name = LABELS.into_iter().find(|known| *known == name)?;
        let (value, after) = label(after)?;
        labels.push((name, value));
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => {
                let value = after.strip_prefix("} ")?.parse().ok().filter(|value: &f64| value.is_finite())?;
                return Some(Sample { labels, value });
            }
        }
    }
}

/// The value of a label, up to its closing quote, and the text that follows.
fn label(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# HELP jobdoctor_up x\n\
        jobdoctor_last_success_timestamp_seconds{target=\"a\\\"\\\\\\n}\",command=\"sweep\"} 1795168800.25\n\
        jobdoctor_unknown_jobs{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"} 7\",state=\"RUNNING\"} 3\n\
        jobdoctor_reclaimed_jobs{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"mail\",action=\"requeue\",outcome=\"moved\"} 3\n";

    fn target() -> Option<String> {
        Some("a\"\\\n}".to_owned())
    }

    #[test]
    fn an_instant_is_read_strictly() {
        let read = |text: &str, command| {
            let previous = PreviousMetrics::read(text, command);
            (previous.target, previous.last_success_at)
        };
        assert_eq!(read(GOOD, "sweep"), (target(), Some(1_795_168_800.25)));
        for bad in ["NaN", "inf", "1e300", "0", "-1", "1795168800 1795168800", "soon", ""] {
            let text = GOOD.replace("1795168800.25", bad);
            assert_eq!(read(&text, "sweep"), (target(), None), "{bad}");
        }
        assert_eq!(read(GOOD, "stats").1, None, "another command's success is not ours");
        let name = LAST_SUCCESS;
        for none in [
            String::new(),
            format!("{name} 1795168800\n"),
            format!("{name}{{target=\"a"),
            format!("{name}{{target=\"a\\"),
        ] {
            assert_eq!(PreviousMetrics::read(&none, "sweep"), PreviousMetrics::default(), "{none}");
        }
    }

    #[test]
    fn found_jobs_are_kept_and_reclaimed_jobs_are_zero() {
        let filled = |text: &str, command| -> Vec<(&str, Vec<Sample>)> {
            let found = PreviousMetrics::read(text, command).found;
            found.into_iter().map(|family| (family.name, family.samples)).filter(|(_, s)| !s.is_empty()).collect()
        };
        let found = filled(GOOD, "sweep");
        let names: Vec<_> = found.iter().map(|(name, samples)| (*name, samples.len(), samples[0].value)).collect();
        assert_eq!(names, [("jobdoctor_unknown_jobs", 1, 3.0), ("jobdoctor_reclaimed_jobs", 1, 0.0)]);
        assert_eq!(found[0].1[0].labels[2..], [("queue", "} 7".to_owned()), ("state", "RUNNING".to_owned())]);
        assert!(filled(GOOD, "stats").is_empty(), "another command's");
        for bad in ["} NaN\n", "} 3 4\n", ",x=\"1\"} 3\n", "\n"] {
            let text = GOOD.replace("} 3\n", bad);
            assert!(filled(&text, "sweep").is_empty(), "{bad}");
        }
    }
}
