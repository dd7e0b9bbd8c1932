//! What a textfile said before this run: as far as it outlives a run, and read strictly.

use crate::output::format::{Family, Sample};
use crate::output::metrics::{FOUND, LAST_SUCCESS, RECLAIMED};

/// Every label that a sample of ours may have.
const LABELS: [&str; 7] = ["target", "command", "queue", "state", "reason", "action", "outcome"];

/// See the module. Anything that is not as this program writes it counts as not there.
#[derive(Debug, Default, PartialEq)]
pub struct PreviousMetrics {
    /// What its target was called.
    pub target: Option<String>,
    /// When the last run of the same command that ended with 0 did so, in seconds since 1970.
    pub last_success_at: Option<f64>,
    /// What the last run of the same command found that looked; that nothing was moved since.
    pub found: Vec<Family>,
}

impl PreviousMetrics {
    /// Reads the text of a file.
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
    // Between 2000 and 2100, or it is no instant.
    (Some(target), at.filter(|at: &f64| (946_684_800.0..4_102_444_800.0).contains(at)))
}

/// A sample, behind its name.
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

/// The value of a label, up to its closing quote, and what comes after it.
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
            let former = PreviousMetrics::read(text, command);
            (former.target, former.last_success_at)
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
    fn what_was_found_is_kept_and_what_was_moved_is_over() {
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
