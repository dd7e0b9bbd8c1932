//! The metrics of the previous run, in the textfile that this run is about to replace.

use crate::output::metrics::{FOUND, LAST_SUCCESS, RECLAIMED};

/// The metrics that outlive a run.
#[derive(Debug, Default, PartialEq)]
pub struct PreviousMetrics {
    /// The target of the previous run.
    pub target: Option<String>,
    /// The end of the last run of the same command with exit code 0, in seconds since 1970.
    pub last_success_at: Option<f64>,
    /// The lines about the jobs that the last run of the same command found in flight; its counts of reclaimed jobs are
    /// 0.
    pub found: String,
}

impl PreviousMetrics {
    /// Reads the text of a textfile. It may have been edited, so lines that do not begin or end as jobdoctor writes
    /// them are ignored.
    pub(super) fn read(text: &str, command: &str) -> PreviousMetrics {
        let last = text.lines().find_map(|line| line.strip_prefix(LAST_SUCCESS)?.strip_prefix("{target=\""));
        // No target contains these characters, because a quote in it has a backslash before it.
        let Some((target, rest)) = last.and_then(|last| last.split_once("\",command=\"")) else {
            return PreviousMetrics::default();
        };
        let at = rest.strip_prefix(command).and_then(|rest| rest.strip_prefix("\"} ")?.parse().ok());
        let mut found = String::new();
        for (name, help) in FOUND.into_iter().chain([RECLAIMED]) {
            let own = format!("{name}{{target=\"{target}\",command=\"{command}\",");
            let lines = text.lines().filter(|line| line.starts_with(&own));
            let lines = lines.filter_map(|line| line.rsplit_once("\"} "));
            let lines = lines.filter(|(_, value)| value.parse().is_ok_and(f64::is_finite));
            let value = |value| if name == RECLAIMED.0 { "0" } else { value };
            let lines: String = lines.map(|(labels, was)| format!("{labels}\"}} {}\n", value(was))).collect();
            if !lines.is_empty() {
                found.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n{lines}"));
            }
        }
        let unescaped = |part: &str| part.replace("\\n", "\n").replace("\\\"", "\"");
        PreviousMetrics {
            target: Some(target.split("\\\\").map(unescaped).collect::<Vec<_>>().join("\\")),
            // An instant lies between the years 2000 and 2100.
            last_success_at: at.filter(|at| (946_684_800.0..4_102_444_800.0).contains(at)),
            found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# HELP jobdoctor_up x\n\
        jobdoctor_last_success_timestamp_seconds{target=\"a\\\"\\\\\\n}\",command=\"sweep\"} 1795168800.25\n\
        jobdoctor_unknown_jobs{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"} 7\",state=\"RUNNING\"} 3\n\
        jobdoctor_reclaimed_jobs{target=\"a\\\"\\\\\\n}\",command=\"sweep\",queue=\"mail\",action=\"requeue\",outcome=\"moved\"} 3\n";

    #[test]
    fn found_jobs_are_kept_and_reclaimed_jobs_are_zero() {
        let read = |text: &str, command| {
            let PreviousMetrics { target, last_success_at, found } = PreviousMetrics::read(text, command);
            assert_eq!(target.as_deref(), Some("a\"\\\n}"));
            let lines = found.lines().filter(|line| !line.starts_with('#'));
            (last_success_at, lines.map(str::to_owned).collect::<Vec<_>>())
        };
        let lines: Vec<&str> = GOOD.lines().skip(2).collect();
        let found = vec![lines[0].to_owned(), lines[1].replace("} 3", "} 0")];
        assert_eq!(read(GOOD, "sweep"), (Some(1_795_168_800.25), found));
        assert_eq!(read(GOOD, "stats"), (None, Vec::new()), "another command's");
        for bad in ["} NaN\n", "} 3 4\n", "\n", " 3\n"] {
            assert!(read(&GOOD.replace("} 3\n", bad), "sweep").1.is_empty(), "{bad}");
        }
    }
}
