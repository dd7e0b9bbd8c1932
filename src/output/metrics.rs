//! The metrics of one run: how it ended, what it found in flight, and the outcomes of its actions with those of earlier runs.

use super::{Diagnosis, Waiting};
use crate::model::Action;
use crate::output::format::{Family, Sample};
use crate::policy::State;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Queues with series of their own. Of more queues, those with stuck, unknown or due jobs come first; the rest share one
/// series.
const MOST_QUEUES: usize = 200;
const OTHER: &str = "other";
/// The most characters of a queue's or a state's name.
const LONGEST_NAME: usize = 200;

pub type OutcomeCounts = BTreeMap<(Option<String>, Action, &'static str), u64>;

/// Jobs that runs of one command acted on, by queue, action and outcome: how many, and since when they are counted, in
/// seconds since 1970.
pub type Totals = BTreeMap<[String; 3], (f64, f64)>;

pub struct RunMetrics<'a> {
    pub command: &'static str,
    pub target: &'a str,
    /// When the run ended by this host's clock, in seconds since 1970.
    pub ended_at: f64,
    pub took: Duration,
    pub exit_code: u8,
    /// When the last earlier run with exit code 0 ended, in seconds since 1970.
    pub last_success_at: Option<f64>,
    /// The jobs in flight before the run acted; `None` if it did not get that far.
    pub measured: Option<&'a Measured>,
    /// True if this run read the queue and left it to another sweep.
    pub yielded: bool,
    /// The outcomes; `None` for a command that never acts.
    pub outcomes: Option<&'a OutcomeCounts>,
    /// The outcomes of earlier runs.
    pub totals: Totals,
}

/// The name of the gauge that outlives a run that failed.
pub const LAST_SUCCESS: &str = "jobdoctor_last_success_timestamp_seconds";

/// The gauges of the jobs in flight, with their help texts.
pub const FOUND: [(&str, &str); 7] = [
    ("jobdoctor_in_flight_jobs", "Jobs in flight."),
    ("jobdoctor_stuck_jobs", "Jobs in flight that are stuck, by the first reason, before the run acted on them."),
    ("jobdoctor_unknown_jobs", "Jobs in flight that cannot be judged."),
    ("jobdoctor_oldest_silence_seconds", "The longest silence of a stuck job, 0 if none is stuck."),
    ("jobdoctor_due_jobs", "Jobs that a worker could take now, of 10,000 that are read at most."),
    ("jobdoctor_oldest_due_seconds", "How long the oldest due job waits, 0 if none is due."),
    ("jobdoctor_owners", "Owners that hold jobs in flight, by status."),
];

/// The counter that goes on from one file to the next, and the gauge that says since when each of its series counts.
pub const RECLAIMED: [&str; 2] = ["jobdoctor_reclaimed_jobs_total", "jobdoctor_reclaimed_jobs_created"];

/// The metrics of a run, always in the same order.
pub fn metrics(run: &RunMetrics<'_>) -> Vec<Family> {
    let last_success = if run.exit_code == 0 { Some(run.ended_at) } else { run.last_success_at };
    let has_read = run.measured.is_some() || run.yielded;
    let mut families = vec![
        Family {
            name: "jobdoctor_build_info",
            help: "1; the label says which version wrote the metrics.",
            samples: vec![run.sample(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0)],
        },
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
    let names = run.measured.map(Names::of).unwrap_or_default();
    families.extend(run.measured.iter().flat_map(|measured| run.found(measured, &names)));
    families.extend(run.outcomes.iter().flat_map(|outcomes| run.reclaimed(outcomes, &names)));
    families
}

impl RunMetrics<'_> {
    /// A sample with these labels after the run's own.
    fn sample(&self, labels: Vec<(&'static str, String)>, value: f64) -> Sample {
        let own = [("target", self.target.to_owned()), ("command", self.command.to_owned())];
        // Milliseconds: more digits would be noise.
        let rounded = Some((value * 1000.0).round() / 1000.0).filter(|rounded| rounded.is_finite());
        Sample { labels: own.into_iter().chain(labels).collect(), value: rounded.unwrap_or(value) }
    }

    fn one(&self, name: &'static str, help: &'static str, value: Option<f64>) -> Family {
        Family { name, help, samples: value.map(|value| self.sample(Vec::new(), value)).into_iter().collect() }
    }

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
        let by_status =
            |(status, n): (&&'static str, &u64)| self.sample(vec![("status", (*status).to_owned())], *n as f64);
        let by_queue = |(queue, seconds)| self.sample(vec![("queue", queue)], seconds);
        let (mut due, mut oldest) = (BTreeMap::new(), BTreeMap::new());
        // A queue without due jobs has 0, but none has where it is not known how many are due.
        let flows = measured.waiting.iter().filter(|waiting| waiting.due.is_some()).flat_map(|waiting| {
            let none = measured.queues.keys().map(|queue| (queue, 0, None));
            none.chain(waiting.queues.iter().map(|flow| (&flow.queue, flow.due, flow.oldest_due_seconds)))
        });
        for (queue, jobs, seconds) in flows {
            let queue = names.label(queue.as_deref());
            *due.entry(queue.clone()).or_insert(0.0) += jobs as f64;
            // No age of a due job is no age of 0.
            if let Some(seconds) = seconds.or((jobs == 0).then_some(0.0)) {
                let longest: &mut f64 = oldest.entry(queue).or_default();
                *longest = longest.max(seconds);
            }
        }
        let samples = [
            by_state(in_flight),
            stuck.into_iter().map(by_reason).collect(),
            by_state(unknown),
            silence.into_iter().map(by_queue).collect(),
            due.into_iter().map(by_queue).collect(),
            oldest.into_iter().map(by_queue).collect(),
            measured.owners.iter().map(by_status).collect(),
        ];
        FOUND.into_iter().zip(samples).map(|((name, help), samples)| Family { name, help, samples }).collect()
    }

    /// The outcomes of this run and of those before it. A queue without requeued or failed jobs has 0, because Prometheus
    /// sees no increase in the first value of a series.
    fn reclaimed(&self, outcomes: &OutcomeCounts, names: &Names) -> [Family; 2] {
        let mut totals = self.totals.clone();
        let queues = |totals: &Totals| -> BTreeSet<String> { totals.keys().map(|[queue, ..]| queue.clone()).collect() };
        if queues(&totals).len() + names.count() > MOST_QUEUES {
            totals.retain(|_, (jobs, _)| *jobs > 0.0);
        }
        let mut queues = queues(&totals);
        let found = self.measured.iter().flat_map(|measured| measured.queues.keys());
        let none = found.flat_map(|queue| [Action::Requeue, Action::Fail].map(|action| (queue, action, "moved", 0)));
        let acted = outcomes.iter().map(|((queue, action, outcome), jobs)| (queue, *action, *outcome, *jobs));
        let began = self.ended_at - self.took.as_secs_f64();
        for (queue, action, outcome, jobs) in acted.chain(none) {
            let mut queue = names.label(queue.as_deref());
            if queues.len() >= MOST_QUEUES && !queues.contains(&queue) {
                OTHER.clone_into(&mut queue);
            }
            queues.insert(queue.clone());
            totals.entry([queue, action.to_string(), outcome.to_owned()]).or_insert((0.0, began)).0 += jobs as f64;
        }
        let family = |name, help, value: fn((f64, f64)) -> f64| {
            let labels = |names: &[String; 3]| ["queue", "action", "outcome"].into_iter().zip(names.clone()).collect();
            let samples = totals.iter().map(|(names, total)| self.sample(labels(names), value(*total))).collect();
            Family { name, help, samples }
        };
        let [total, created] = RECLAIMED;
        [
            family(total, "Jobs that runs acted on, by action and outcome.", |(jobs, _)| jobs),
            family(created, "Since when each of these is counted, by the clock of the run's host.", |(_, since)| since),
        ]
    }
}

#[derive(Default)]
struct Names {
    all: usize,
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
        for flow in measured.waiting.iter().flat_map(|waiting| &waiting.queues) {
            *by_name.entry(short(flow.queue.as_deref().unwrap_or_default())).or_default() += flow.due;
        }
        let all = by_name.len();
        if all <= MOST_QUEUES {
            return Names { all, kept: None };
        }
        let mut ranked: Vec<(String, u64)> = by_name.into_iter().collect();
        // The sort is stable, so equal counts keep the order of names.
        ranked.sort_by_key(|(_, findings)| std::cmp::Reverse(*findings));
        Names { all, kept: Some(ranked.into_iter().take(MOST_QUEUES).map(|(name, _)| name).collect()) }
    }

    fn count(&self) -> usize {
        self.kept.as_ref().map_or(self.all, BTreeSet::len)
    }

    fn label(&self, queue: Option<&str>) -> String {
        let name = short(queue.unwrap_or_default());
        match &self.kept {
            Some(kept) if !kept.contains(&name) => OTHER.to_owned(),
            _ => name,
        }
    }
}

/// The name as it stands in a label: of two that differ in more, there is one. Prometheus takes a NUL for the end of the
/// text.
fn short(name: &str) -> String {
    name.chars().take(LONGEST_NAME).map(|c| if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The jobs in flight of one snapshot, counted for monitoring: for [`super::Health`] and for metrics.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The queues that have jobs in flight, by name.
    pub queues: BTreeMap<Option<String>, MeasuredQueue>,
    /// The owners of these jobs by status; empty where jobs name no owner.
    pub owners: BTreeMap<&'static str, u64>,
    pub waiting: Option<Waiting>,
    /// What the waiting side is worth by itself.
    pub state: State,
    pub diagnoses: Vec<Diagnosis>,
}

/// One queue; the key `None` stands for jobs whose queue is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredQueue {
    /// The states of its jobs in flight, in the queue's own words.
    pub states: BTreeMap<String, MeasuredState>,
    /// The longest silence of its stuck claims; `None` where none is stuck, or none of the stuck ones ever showed a
    /// sign of life.
    pub oldest_silence_seconds: Option<f64>,
    /// The age of its oldest claim; `None` where no time of a claim can be read.
    pub oldest_claim_seconds: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredState {
    pub in_flight: u64,
    pub unknown: u64,
    /// Stuck claims by their first reason. The usual reasons of this kind of queue are always present, if only with 0.
    pub stuck: BTreeMap<&'static str, u64>,
}

impl MeasuredQueue {
    pub fn in_flight(&self) -> u64 {
        self.states.values().map(|state| state.in_flight).sum()
    }

    pub fn unknown(&self) -> u64 {
        self.states.values().map(|state| state.unknown).sum()
    }

    pub fn stuck(&self) -> u64 {
        self.states.values().flat_map(|state| state.stuck.values()).sum()
    }
}

impl Measured {
    pub fn in_flight(&self) -> u64 {
        self.queues.values().map(MeasuredQueue::in_flight).sum()
    }

    pub fn unknown(&self) -> u64 {
        self.queues.values().map(MeasuredQueue::unknown).sum()
    }

    pub fn stuck(&self) -> u64 {
        self.queues.values().map(MeasuredQueue::stuck).sum()
    }

    pub fn oldest_silence_seconds(&self) -> Option<f64> {
        self.queues.values().filter_map(|queue| queue.oldest_silence_seconds).reduce(f64::max)
    }
}
