use super::document::{Document, ROWS, csv_of, head, json_of, line};
use super::format::{Cell, Format, Page, Screen, Table, Tone, bar, grouped};
use super::{Filter, Target, columns};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.stats/v1`: the jobs by queue and state, and the ages of the oldest.
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
    /// Caveats about these numbers, as sentences.
    pub findings: Vec<String>,
    /// The queues, by name.
    pub queues: Vec<QueueStats>,
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

impl QueueStats {
    /// The columns of `csv`.
    pub(super) const COLUMNS: &'static str = "\
        queue waiting in_flight stuck unknown done failed cancelled other oldest_in_flight_seconds \
        oldest_stuck_seconds";
}

/// Cells of a bar: with an age it is no wider than the title of its column.
const CELLS: usize = 5;

impl Document for Stats {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let mut page = Page::default();
        if !self.queues.is_empty() {
            page.table("", &queues(&self.queues, rows)?, screen);
        }
        self.findings.iter().for_each(|finding| page.push(&screen.paragraph(&format!("! {finding}").into())));
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(QueueStats::COLUMNS, json_of(&self.queues), out)
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

impl Stats {
    /// The titles of its table.
    pub fn titles() -> Vec<&'static str> {
        queues(&[], 0).map(|table| table.titles()).unwrap_or_default()
    }
}

fn queues(list: &[QueueStats], rows: usize) -> io::Result<Table> {
    let count = |jobs: Option<u64>| columns::text(jobs.map(grouped).as_deref());
    let bad = |jobs: u64, tone: Tone| Cell::new(grouped(jobs), if jobs > 0 { tone } else { Tone::Plain });
    // Bars compare with the longest silence of all queues; one queue has nothing to compare with.
    let silences = || list.iter().filter_map(|queue| queue.counts.oldest_stuck_seconds);
    let longest = silences().reduce(f64::max).filter(|_| list.len() > 1);
    columns::table(
        &[
            (columns::column("queue", 0, Some(12)), &|queue: &&QueueStats| match &queue.queue {
                Some(name) => name.as_str().into(),
                None => Cell::new("(no queue)", Tone::Warn),
            }),
            (columns::right("waiting", 2), &|queue| count(queue.counts.waiting)),
            (columns::right("in flight", 0), &|queue| grouped(queue.counts.in_flight).into()),
            (columns::right("stuck", 0), &|queue| bad(queue.counts.stuck, Tone::Bad)),
            (columns::right("unknown", 3), &|queue| bad(queue.counts.unknown, Tone::Warn)),
            (columns::right("done", 4), &|queue| count(queue.counts.done)),
            (columns::right("failed", 4), &|queue| count(queue.counts.failed)),
            (columns::right("cancelled", 6), &|queue| count(queue.counts.cancelled)),
            // A column without a number in it is the first that a narrow table drops.
            (columns::right("other", 5), &|queue| count(queue.counts.other.filter(|rows| *rows > 0))),
            (columns::right("oldest claim", 1), &|queue| columns::duration(queue.counts.oldest_in_flight_seconds)),
            (columns::right("longest stuck", 1), &|queue| {
                let silence = columns::duration(queue.counts.oldest_stuck_seconds);
                match (queue.counts.oldest_stuck_seconds, longest) {
                    (Some(seconds), Some(longest)) => {
                        format!("{} {}", silence.text, bar(seconds, longest, CELLS)).into()
                    }
                    _ => silence,
                }
            }),
        ],
        list.iter().take(rows).map(Ok),
    )
}
