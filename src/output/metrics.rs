//! The gauges of one run: how it ended, the jobs in flight it found, and the outcomes of its actions.

use crate::model::Action;
use crate::output::format::{Family, Sample};
use crate::output::{Measured, MeasuredQueue};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Queues with series of their own. Of more queues, those with stuck or unknown jobs come first; the rest share one series.
const MOST_QUEUES: usize = 200;
/// The queue label of that series.
const OTHER: &str = "other";
/// The most characters of a queue's or a state's name.
const LONGEST_NAME: usize = 200;

/// Jobs by queue, action and outcome.
pub type OutcomeCounts = BTreeMap<(Option<String>, Action, &'static str), u64>;

/// One run of a command, for monitoring.
pub struct RunMetrics<'a> {
    /// The command.
    pub command: &'static str,
    /// The target's name.
    pub target: &'a str,
    /// When the run ended by this host's clock, in seconds since 1970.
    pub ended_at: f64,
    /// How long the run took.
    pub took: Duration,
    /// Its exit code.
    pub exit_code: u8,
    /// When the last earlier run with exit code 0 ended, in seconds since 1970.
    pub last_success_at: Option<f64>,
    /// The jobs in flight before the run acted; `None` if it did not get that far.
    pub measured: Option<&'a Measured>,
    /// The gauges of an earlier run, if this run left the queue to another sweep.
    pub found_before: Option<&'a [Family]>,
    /// The outcomes; `None` for a command that never acts.
    pub outcomes: Option<&'a OutcomeCounts>,
}

/// The name of the gauge that outlives a run that failed.
pub const LAST_SUCCESS: &str = "jobdoctor_last_success_timestamp_seconds";

/// The gauges of the jobs in flight, with their help texts.
pub const FOUND: [(&str, &str); 4] = [
    ("jobdoctor_in_flight_jobs", "Jobs in flight."),
    ("jobdoctor_stuck_jobs", "Jobs in flight that are stuck, by the first reason, before the run acted on them."),
    ("jobdoctor_unknown_jobs", "Jobs in flight that cannot be judged."),
    ("jobdoctor_oldest_silence_seconds", "The longest silence of a stuck job, 0 if none is stuck."),
];

/// The gauge of the outcomes.
pub const RECLAIMED: (&str, &str) =
    ("jobdoctor_reclaimed_jobs", "Jobs that the last run acted on, by action and outcome.");

/// The gauges of a run, always in the same order.
pub fn metrics(run: &RunMetrics<'_>) -> Vec<Family> {
    let last_success = if run.exit_code == 0 { Some(run.ended_at) } else { run.last_success_at };
    let has_read = run.measured.is_some() || run.found_before.is_some();
    let mut families = vec![
        run.one("jobdoctor_up", "1 if the last run could read the queue.", Some(has_read.into())),
        run.one("jobdoctor_exit_code", "The exit code of the last run.", Some(run.exit_code.into())),
        run.one(
            "jobdoctor_last_run_timestamp_seconds",
            "When the last run ended, by its host's clock.",
            Some(run.ended_at),
        ),
        run.one(LAST_SUCCESS, "When the last run with exit code 0 ended, by its host's clock.", last_success),
        run.one("jobdoctor_run_duration_seconds", "How long the last run took.", Some(run.took.as_secs_f64())),
    ];
    if let (None, Some(found)) = (run.measured, run.found_before) {
        families.extend_from_slice(found);
        return families;
    }
    let names = run.measured.map(Names::of).unwrap_or_default();
    families.extend(run.measured.iter().flat_map(|measured| run.found(measured, &names)));
    families.extend(run.outcomes.map(|outcomes| run.reclaimed(outcomes, &names)));
    families
}

impl RunMetrics<'_> {
    /// A sample with these labels after the run's own.
    fn sample(&self, labels: Vec<(&'static str, String)>, value: f64) -> Sample {
        let own = [("target", self.target.to_owned()), ("command", self.command.to_owned())];
        // Milliseconds: more digits would be noise.
        Sample { labels: own.into_iter().chain(labels).collect(), value: (value * 1000.0).round() / 1000.0 }
    }

    fn one(&self, name: &'static str, help: &'static str, value: Option<f64>) -> Family {
        Family { name, help, samples: value.map(|value| self.sample(Vec::new(), value)).into_iter().collect() }
    }

    /// The jobs in flight before the run acted.
    fn found(&self, measured: &Measured, names: &Names) -> Vec<Family> {
        let mut in_flight: BTreeMap<(String, String), u64> = BTreeMap::new();
        let mut unknown = in_flight.clone();
        let mut stuck: BTreeMap<(String, String, &str), u64> = BTreeMap::new();
        let mut silence: BTreeMap<String, f64> = BTreeMap::new();
        for (queue, found) in &measured.queues {
            let queue = names.label(queue.as_deref());
            let longest = silence.entry(queue.clone()).or_default();
            *longest = longest.max(found.oldest_silence_seconds.unwrap_or_default());
            for (state, found) in &found.states {
                let key = (queue.clone(), short(state));
                *in_flight.entry(key.clone()).or_default() += found.in_flight;
                *unknown.entry(key.clone()).or_default() += found.unknown;
                for (reason, jobs) in &found.stuck {
                    *stuck.entry((key.0.clone(), key.1.clone(), reason)).or_default() += jobs;
                }
            }
        }
        let by_state = |counts: BTreeMap<(String, String), u64>| {
            let sample = |((queue, state), n)| self.sample(vec![("queue", queue), ("state", state)], n as f64);
            counts.into_iter().map(sample).collect()
        };
        let by_reason = |((queue, state, reason), n): ((String, String, &str), u64)| {
            self.sample(vec![("queue", queue), ("state", state), ("reason", reason.to_owned())], n as f64)
        };
        let by_queue = |(queue, seconds)| self.sample(vec![("queue", queue)], seconds);
        let samples = [
            by_state(in_flight),
            stuck.into_iter().map(by_reason).collect(),
            by_state(unknown),
            silence.into_iter().map(by_queue).collect(),
        ];
        FOUND.into_iter().zip(samples).map(|((name, help), samples)| Family { name, help, samples }).collect()
    }

    /// The outcomes. A queue without requeued jobs has 0, because Prometheus cannot graph a series that comes and goes.
    fn reclaimed(&self, outcomes: &OutcomeCounts, names: &Names) -> Family {
        let mut counts: BTreeMap<(String, Action, &str), u64> = BTreeMap::new();
        let found = self.measured.iter().flat_map(|measured| measured.queues.keys());
        counts.extend(found.map(|queue| ((names.label(queue.as_deref()), Action::Requeue, "moved"), 0)));
        for ((queue, action, outcome), jobs) in outcomes {
            *counts.entry((names.label(queue.as_deref()), *action, outcome)).or_default() += jobs;
        }
        let sample = |((queue, action, outcome), n): ((String, Action, &str), u64)| {
            let labels = vec![("queue", queue), ("action", action.to_string()), ("outcome", outcome.to_owned())];
            self.sample(labels, n as f64)
        };
        let (name, help) = RECLAIMED;
        Family { name, help, samples: counts.into_iter().map(sample).collect() }
    }
}

/// The queue labels.
#[derive(Default)]
struct Names {
    /// The queues that keep their name; `None` if all do.
    kept: Option<BTreeSet<String>>,
}

impl Names {
    fn of(measured: &Measured) -> Names {
        let findings = |queue: &MeasuredQueue| queue.stuck() + queue.unknown();
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for (queue, found) in &measured.queues {
            *by_name.entry(short(queue.as_deref().unwrap_or_default())).or_default() += findings(found);
        }
        if by_name.len() <= MOST_QUEUES {
            return Names { kept: None };
        }
        let mut ranked: Vec<(String, u64)> = by_name.into_iter().collect();
        // The sort is stable, so equal counts keep the order of names.
        ranked.sort_by_key(|(_, findings)| std::cmp::Reverse(*findings));
        Names { kept: Some(ranked.into_iter().take(MOST_QUEUES).map(|(name, _)| name).collect()) }
    }

    fn label(&self, queue: Option<&str>) -> String {
        let name = short(queue.unwrap_or_default());
        match &self.kept {
            Some(kept) if !kept.contains(&name) => OTHER.to_owned(),
            _ => name,
        }
    }
}

fn short(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::MeasuredState;
    use crate::output::format::prometheus;

    fn queue(in_flight: u64, stuck: u64) -> MeasuredQueue {
        let state = MeasuredState { in_flight, unknown: 0, stuck: BTreeMap::from([("lease_expired", stuck)]) };
        MeasuredQueue {
            states: BTreeMap::from([("RUNNING".to_owned(), state)]),
            oldest_silence_seconds: (stuck > 0).then_some(812.4),
        }
    }

    fn run<'a>(measured: Option<&'a Measured>, reclaimed: Option<&'a OutcomeCounts>, exit_code: u8) -> RunMetrics<'a> {
        RunMetrics {
            command: "sweep",
            target: "shop",
            ended_at: 1_795_168_800.123_4,
            took: Duration::from_millis(250),
            exit_code,
            last_success_at: Some(1_795_168_000.0),
            measured,
            found_before: None,
            outcomes: reclaimed,
        }
    }

    fn lines(run: &RunMetrics<'_>) -> Vec<String> {
        let text = prometheus(&metrics(run)).unwrap();
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.replace("target=\"shop\",command=\"sweep\"", "…"))
            .collect()
    }

    #[test]
    fn gauges_of_a_run() {
        let measured =
            Measured { queues: BTreeMap::from([(None, queue(1, 0)), (Some("mail".to_owned()), queue(3, 2))]) };
        let one = |action, outcome| ((Some("mail".to_owned()), action, outcome), 1);
        let reclaimed = OutcomeCounts::from([one(Action::Requeue, "moved"), one(Action::Fail, "locked")]);
        assert_eq!(
            lines(&run(Some(&measured), Some(&reclaimed), 0)),
            [
                "jobdoctor_up{…} 1",
                "jobdoctor_exit_code{…} 0",
                "jobdoctor_last_run_timestamp_seconds{…} 1795168800.123",
                "jobdoctor_last_success_timestamp_seconds{…} 1795168800.123",
                "jobdoctor_run_duration_seconds{…} 0.25",
                "jobdoctor_in_flight_jobs{…,queue=\"\",state=\"RUNNING\"} 1",
                "jobdoctor_in_flight_jobs{…,queue=\"mail\",state=\"RUNNING\"} 3",
                "jobdoctor_stuck_jobs{…,queue=\"\",state=\"RUNNING\",reason=\"lease_expired\"} 0",
                "jobdoctor_stuck_jobs{…,queue=\"mail\",state=\"RUNNING\",reason=\"lease_expired\"} 2",
                "jobdoctor_unknown_jobs{…,queue=\"\",state=\"RUNNING\"} 0",
                "jobdoctor_unknown_jobs{…,queue=\"mail\",state=\"RUNNING\"} 0",
                "jobdoctor_oldest_silence_seconds{…,queue=\"\"} 0",
                "jobdoctor_oldest_silence_seconds{…,queue=\"mail\"} 812.4",
                "jobdoctor_reclaimed_jobs{…,queue=\"\",action=\"requeue\",outcome=\"moved\"} 0",
                "jobdoctor_reclaimed_jobs{…,queue=\"mail\",action=\"requeue\",outcome=\"moved\"} 1",
                "jobdoctor_reclaimed_jobs{…,queue=\"mail\",action=\"fail\",outcome=\"locked\"} 1",
            ]
        );
    }

    #[test]
    fn a_run_that_could_not_read_keeps_the_last_success() {
        assert_eq!(
            lines(&run(None, None, 69)),
            [
                "jobdoctor_up{…} 0",
                "jobdoctor_exit_code{…} 69",
                "jobdoctor_last_run_timestamp_seconds{…} 1795168800.123",
                "jobdoctor_last_success_timestamp_seconds{…} 1795168000",
                "jobdoctor_run_duration_seconds{…} 0.25",
            ]
        );
    }

    #[test]
    fn a_run_that_yielded_keeps_the_found_jobs() {
        let measured = Measured { queues: BTreeMap::from([(Some("mail".to_owned()), queue(3, 2))]) };
        let found = metrics(&run(Some(&measured), None, 0)).split_off(5);
        let lines = lines(&RunMetrics { found_before: Some(&found), ..run(None, Some(&OutcomeCounts::new()), 75) });
        assert_eq!(lines[..2], ["jobdoctor_up{…} 1", "jobdoctor_exit_code{…} 75"]);
        assert_eq!(lines[3], "jobdoctor_last_success_timestamp_seconds{…} 1795168000", "that is none");
        assert_eq!(lines[6], "jobdoctor_stuck_jobs{…,queue=\"mail\",state=\"RUNNING\",reason=\"lease_expired\"} 2");
        assert_eq!(lines.len(), 9);
    }

    #[test]
    fn beyond_200_queues_those_with_findings_keep_their_names() {
        let mut queues: BTreeMap<_, _> = (0..300).map(|n| (Some(format!("q{n:03}")), queue(1, 0))).collect();
        queues.insert(Some("q299".to_owned()), queue(5, 2));
        queues.insert(Some("other".to_owned()), queue(1, 0));
        let measured = Measured { queues };
        let lines = lines(&run(Some(&measured), None, 0));
        let in_flight: Vec<&String> = lines.iter().filter(|line| line.contains("in_flight")).collect();
        assert_eq!(in_flight.len(), 200, "the rest is counted with the real one of that name");
        assert!(lines.contains(&"jobdoctor_in_flight_jobs{…,queue=\"q299\",state=\"RUNNING\"} 5".to_owned()));
        let total: u64 = in_flight.iter().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
        assert_eq!(total, 305, "none is lost");
    }

    #[test]
    fn names_that_are_cut_to_the_same_are_one() {
        let long = |end: &str| Some(format!("{}{end}", "x".repeat(LONGEST_NAME)));
        let measured = Measured { queues: BTreeMap::from([(long("a"), queue(1, 0)), (long("b"), queue(2, 0))]) };
        let lines = lines(&run(Some(&measured), None, 0));
        let found: Vec<&String> = lines.iter().filter(|line| line.contains("in_flight")).collect();
        assert!(found.len() == 1 && found[0].ends_with(" 3"), "{found:?}");
    }
}
