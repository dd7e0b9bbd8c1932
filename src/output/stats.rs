use super::columns::{self, Columns};
use super::document::{Document, List};
use super::format::{Cell, Format, Screen, Times, Tone, bar, grouped};
use super::{Filter, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.stats/v1`: the jobs by queue and state, and the ages of the oldest.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stats {
    /// All but the counts and the queues.
    #[serde(flatten)]
    pub head: StatsHead,
    /// All queues together.
    pub summary: StatsSummary,
    /// The queues, by name.
    pub queues: Vec<QueueStats>,
}

/// The head of a [`Stats`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatsHead {
    /// `jobdoctor.stats/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// Caveats about these numbers, as sentences.
    pub findings: Vec<String>,
}

/// The counts of a [`Stats`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StatsSummary {
    /// Queues; jobs whose queue is not known count as one.
    pub queues: u64,
    /// The jobs of all of them.
    #[serde(flatten)]
    pub counts: JobCounts,
}

/// One queue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QueueStats {
    /// Its name; null for jobs whose queue is not known.
    pub queue: Option<String>,
    /// Its jobs.
    #[serde(flatten)]
    pub counts: JobCounts,
    /// Its jobs by state, in the queue's own words.
    pub states: Vec<StateCount>,
}

/// How many jobs there are of each sort, and how old the oldest are. What the tables do not show is null.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct JobCounts {
    /// Jobs that are not claimed yet.
    pub waiting: Option<u64>,
    /// Claims.
    pub in_flight: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that cannot be judged.
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

/// Cells of a bar: with an age it is no wider than the title of its column.
const CELLS: usize = 5;

impl Document for Stats {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, _: Format, _: Times) -> Vec<List<'_>> {
        vec![List::of("queue", &self.queues, queues(&self.queues))]
    }

    fn below(&self, screen: &Screen) -> String {
        screen.findings(&self.head.findings)
    }
}

impl Stats {
    pub fn titles() -> Vec<&'static str> {
        queues(&[]).titles()
    }
}

fn queues<'a>(list: &[QueueStats]) -> Columns<'a, QueueStats> {
    let count = |jobs: Option<u64>| columns::text(jobs.map(grouped).as_deref());
    let bad = |jobs: u64, tone: Tone| Cell::new(grouped(jobs), if jobs > 0 { tone } else { Tone::Plain });
    // Bars compare with the longest silence of all queues; one queue has nothing to compare with.
    let silences = || list.iter().filter_map(|queue| queue.counts.oldest_stuck_seconds);
    let longest = silences().reduce(f64::max).filter(|_| list.len() > 1);
    Columns::<QueueStats>::new()
        .add(columns::column("queue", 0, Some(12)), "queue", |queue| match &queue.queue {
            Some(name) => name.as_str().into(),
            None => Cell::new("(no queue)", Tone::Warn),
        })
        .add(columns::right("waiting", 2), "waiting", move |queue| count(queue.counts.waiting))
        .add(columns::right("in flight", 0), "in_flight", |queue| grouped(queue.counts.in_flight).into())
        .add(columns::right("stuck", 0), "stuck", move |queue| bad(queue.counts.stuck, Tone::Bad))
        .add(columns::right("unknown", 3), "unknown", move |queue| bad(queue.counts.unknown, Tone::Warn))
        .add(columns::right("done", 4), "done", move |queue| count(queue.counts.done))
        .add(columns::right("failed", 4), "failed", move |queue| count(queue.counts.failed))
        .add(columns::right("cancelled", 6), "cancelled", move |queue| count(queue.counts.cancelled))
        // A column without a number in it is the first that a narrow table drops.
        .add(columns::right("other", 5), "other", move |queue| count(queue.counts.other.filter(|rows| *rows > 0)))
        .add(columns::right("oldest claim", 1), "oldest_in_flight_seconds", |queue| {
            columns::duration(queue.counts.oldest_in_flight_seconds)
        })
        .add(columns::right("longest stuck", 1), "oldest_stuck_seconds", move |queue| {
            let silence = columns::duration(queue.counts.oldest_stuck_seconds);
            match (queue.counts.oldest_stuck_seconds, longest) {
                (Some(seconds), Some(longest)) => format!("{} {}", silence.text, bar(seconds, longest, CELLS)).into(),
                _ => silence,
            }
        })
}
