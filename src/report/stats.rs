use super::lines::{Lines, head, line};
use super::{Filter, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.stats/v1`: how many jobs are in which queue and state, and how old the oldest are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stats {
    /// `jobdoctor.stats/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// All queues together.
    pub summary: StatsSummary,
    /// What there is to know about these numbers, as sentences.
    pub findings: Vec<String>,
    /// The queues, by name.
    pub queues: Vec<QueueStats>,
}

/// The counts of a [`Stats`]. What the tables do not tell is null.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StatsSummary {
    /// Queues; jobs whose queue is not known count as one.
    pub queues: u64,
    /// Jobs that are not claimed yet.
    pub waiting: Option<u64>,
    /// Claims.
    pub in_flight: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that nobody can judge.
    pub unknown: u64,
    /// Jobs that have ended well and are still in the table.
    pub done: Option<u64>,
    /// Jobs that have ended badly and are still in the table.
    pub failed: Option<u64>,
    /// Jobs that were cancelled and are still in the table.
    pub cancelled: Option<u64>,
    /// Rows in states that the preset does not have.
    pub other: Option<u64>,
    /// How long ago the oldest claim was made; null if there is none, or none whose time can be read.
    pub oldest_in_flight_seconds: Option<f64>,
    /// The longest silence of a stuck claim.
    pub oldest_stuck_seconds: Option<f64>,
}

/// One queue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QueueStats {
    /// Its name; null for jobs whose queue is not known.
    pub queue: Option<String>,
    /// Jobs that are not claimed yet.
    pub waiting: Option<u64>,
    /// Claims.
    pub in_flight: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that nobody can judge.
    pub unknown: u64,
    /// Jobs that have ended well and are still in the table.
    pub done: Option<u64>,
    /// Jobs that have ended badly and are still in the table.
    pub failed: Option<u64>,
    /// Jobs that were cancelled and are still in the table.
    pub cancelled: Option<u64>,
    /// Rows in states that the preset does not have.
    pub other: Option<u64>,
    /// How long ago its oldest claim was made.
    pub oldest_in_flight_seconds: Option<f64>,
    /// The longest silence of its stuck claims.
    pub oldest_stuck_seconds: Option<f64>,
    /// The same by state, in the queue's own words.
    pub states: Vec<StateCount>,
}

/// How many jobs are in a state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StateCount {
    /// The state, in the queue's own words.
    pub state: String,
    /// `waiting`, `in_flight`, `done`, `failed` or `cancelled`; null for a state that the preset does not have.
    pub meaning: Option<String>,
    /// How many.
    pub jobs: u64,
}

impl QueueStats {
    /// The columns of `csv`, in order; the same names as in JSON.
    pub const COLUMNS: [&'static str; 11] = [
        "queue",
        "waiting",
        "in_flight",
        "stuck",
        "unknown",
        "done",
        "failed",
        "cancelled",
        "other",
        "oldest_in_flight_seconds",
        "oldest_stuck_seconds",
    ];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        let seconds = |seconds: Option<f64>| seconds.map(|seconds| seconds.to_string()).unwrap_or_default();
        vec![
            self.queue.clone().unwrap_or_default(),
            count(self.waiting),
            self.in_flight.to_string(),
            self.stuck.to_string(),
            self.unknown.to_string(),
            count(self.done),
            count(self.failed),
            count(self.cancelled),
            count(self.other),
            seconds(self.oldest_in_flight_seconds),
            seconds(self.oldest_stuck_seconds),
        ]
    }
}

impl Lines for Stats {
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more =
            [("filter", serde_json::to_value(&self.filter)?), ("findings", serde_json::to_value(&self.findings)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.queues.iter().try_for_each(|queue| line(out, "queue", queue))?;
        line(out, "summary", &self.summary)
    }
}
