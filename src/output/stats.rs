use super::document::{Document, ROWS, csv_of, head, line};
use super::format::bars::bar;
use super::format::{Cell, Format, Screen, Table, Tone, grouped};
use super::{Filter, Target, columns};
use crate::model::{Timestamp, age};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

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

/// Cells of a bar: together with an age it is no wider than the title of its column.
const CELLS: usize = 5;

impl Document for Stats {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let columns = vec![
            columns::column("queue", 0, Some(12)),
            columns::right("waiting", 2),
            columns::right("in flight", 0),
            columns::right("stuck", 0),
            columns::right("unknown", 3),
            columns::right("done", 4),
            columns::right("failed", 4),
            columns::right("cancelled", 6),
            columns::right("other", 5),
            columns::right("oldest claim", 1),
            columns::right("longest stuck", 1),
        ];
        let longest = longest(&self.queues);
        let rows = self.queues.iter().take(rows).map(|queue| row(queue, longest)).collect();
        let table = Table { columns, rows };
        let mut text = if self.queues.is_empty() { String::new() } else { table.render(screen) };
        for finding in &self.findings {
            text.push_str(&format!("! {}\n", crate::output::format::inert(finding)));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(&QueueStats::COLUMNS, self.queues.iter().map(Ok), |queue| queue.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.queues.iter().filter_map(|queue| queue.queue.as_ref()).try_for_each(|queue| writeln!(out, "{queue}"))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more =
            [("filter", serde_json::to_value(&self.filter)?), ("findings", serde_json::to_value(&self.findings)?)];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.queues.iter().try_for_each(|queue| line(out, "queue", queue))?;
        line(out, "summary", &self.summary)
    }
}

/// What bars are compared with: the longest silence of all; `None` where there is nothing to compare.
fn longest(queues: &[QueueStats]) -> Option<f64> {
    queues.iter().filter_map(|queue| queue.oldest_stuck_seconds).reduce(f64::max).filter(|_| queues.len() > 1)
}

fn row(queue: &QueueStats, longest: Option<f64>) -> Vec<Cell> {
    let count = |count: Option<u64>| columns::text(count.map(grouped).as_deref());
    let bad = |n: u64, tone: Tone| Cell::new(grouped(n), if n > 0 { tone } else { Tone::Plain });
    let span = |seconds: Option<f64>| {
        let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        columns::text(span.map(age).as_deref())
    };
    let compared = |seconds: Option<f64>| match (seconds, longest) {
        (Some(silence), Some(longest)) => format!("{} {}", span(seconds).text, bar(silence, longest, CELLS)).into(),
        _ => span(seconds),
    };
    // A column without a number in it says nothing; the table drops it first.
    let rare = |rows: Option<u64>| count(rows.filter(|rows| *rows > 0));
    vec![
        queue.queue.as_deref().map_or_else(|| Cell::new("(no queue)", Tone::Warn), Cell::from),
        count(queue.waiting),
        bad(queue.in_flight, Tone::Plain),
        bad(queue.stuck, Tone::Bad),
        bad(queue.unknown, Tone::Warn),
        count(queue.done),
        count(queue.failed),
        count(queue.cancelled),
        rare(queue.other),
        span(queue.oldest_in_flight_seconds),
        compared(queue.oldest_stuck_seconds),
    ]
}
