use super::columns::{self, Columns, column, right};
use super::document::{Document, List};
use super::format::{Cell, Format, Screen, Times, Tone, bar, grouped, level};
use super::{Filter, Target};
use crate::model::{Timestamp, age};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;
use std::time::Duration;

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
    /// Jobs that a worker could take now, of 10,000 that are read at most.
    pub due: Option<u64>,
    /// How long the oldest of them waits.
    pub oldest_due_seconds: Option<f64>,
    /// Jobs that ended well in the last five minutes; null where no index leads to them.
    pub done_5m: Option<u64>,
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
        .add(column("queue", 0, Some(12)), "queue", |queue| match &queue.queue {
            Some(name) => name.as_str().into(),
            None => Cell::new("(no queue)", Tone::Warn),
        })
        .add(right("waiting", 2), "waiting", move |queue| count(queue.counts.waiting))
        .add(right("in flight", 0), "in_flight", |queue| grouped(queue.counts.in_flight).into())
        .add(right("stuck", 0), "stuck", move |queue| bad(queue.counts.stuck, Tone::Bad))
        .add(right("unknown", 3), "unknown", move |queue| bad(queue.counts.unknown, Tone::Warn))
        .add(right("done", 4), "done", move |queue| count(queue.counts.done))
        .add(right("failed", 4), "failed", move |queue| count(queue.counts.failed))
        .add(right("cancelled", 6), "cancelled", move |queue| count(queue.counts.cancelled))
        // A column without a number in it is the first that a narrow table drops.
        .add(right("other", 5), "other", move |queue| count(queue.counts.other.filter(|rows| *rows > 0)))
        .add(right("oldest due", 1), "due oldest_due_seconds", |queue| {
            columns::duration(queue.counts.oldest_due_seconds)
        })
        .add(right("done 5m", 3), "done_5m", move |queue| count(queue.counts.done_5m))
        .add(right("oldest claim", 1), "oldest_in_flight_seconds", |queue| {
            columns::duration(queue.counts.oldest_in_flight_seconds)
        })
        .add(right("longest stuck", 1), "oldest_stuck_seconds", move |queue| {
            let silence = columns::duration(queue.counts.oldest_stuck_seconds);
            match (queue.counts.oldest_stuck_seconds, longest) {
                (Some(seconds), Some(longest)) => format!("{} {}", silence.text, bar(seconds, longest, CELLS)).into(),
                _ => silence,
            }
        })
}

/// `jobdoctor.stats-runtimes/v1`: the run times of jobs that ended well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatsRuntimes {
    /// All but the counts and the kinds.
    #[serde(flatten)]
    pub head: StatsRuntimesHead,
    /// All kinds together.
    pub summary: StatsRuntimesSummary,
    /// The kinds, the one with the longest p99 first.
    pub kinds: Vec<KindRuntimes>,
}

/// The head of a [`StatsRuntimes`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatsRuntimesHead {
    /// `jobdoctor.stats-runtimes/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for, and the thresholds that `would_hit` counts by.
    pub filter: Filter,
    /// `kind`, or `queue` where the table has no kinds: what the entries of `kinds` stand for.
    pub by: String,
    /// Jobs that ended at that time or later.
    #[schemars(with = "String")]
    pub since_at: Timestamp,
    /// `store_time` minus that.
    pub since_seconds: f64,
    /// Caveats about these numbers, as sentences; without numbers, the reason.
    pub findings: Vec<String>,
}

/// The counts of a [`StatsRuntimes`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StatsRuntimesSummary {
    /// Kinds, or queues.
    pub kinds: u64,
    /// Jobs whose run time is known.
    pub jobs: u64,
    /// Jobs without a usable run time: a time is missing, unreadable or implausible, or the end is before the
    /// beginning.
    pub unusable: u64,
    /// Jobs of kinds that were left out.
    pub left_out: u64,
    /// Jobs that ran for longer than the threshold of their queue and kind; null where no threshold was given.
    pub would_hit: Option<u64>,
}

/// The run times of one kind. Percentiles are nearest ranks, accurate to 1 %; `max_seconds` is exact.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct KindRuntimes {
    /// The kind; null where it is not known, or where `by` is `queue`.
    pub kind: Option<String>,
    /// The queue, where `by` is `queue`; otherwise null.
    pub queue: Option<String>,
    /// Jobs whose run time is known.
    pub jobs: u64,
    /// Jobs without a usable run time.
    pub unusable: u64,
    /// Half of the jobs ran no longer than this.
    pub p50_seconds: Option<f64>,
    /// 95 of a hundred ran no longer than this.
    pub p95_seconds: Option<f64>,
    /// 99 of a hundred ran no longer than this.
    pub p99_seconds: Option<f64>,
    /// The longest.
    pub max_seconds: Option<f64>,
    /// Jobs that ran for longer than the threshold of their queue and kind; null where no threshold was given.
    pub would_hit: Option<u64>,
    /// The histogram; every kind has the same buckets.
    pub buckets: Vec<RuntimeBucket>,
}

/// A bucket of run times.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuntimeBucket {
    /// Longer than the bucket before it, and no longer than this; null for the last, which has no end.
    pub up_to_seconds: Option<f64>,
    /// How many jobs.
    pub jobs: u64,
}

impl KindRuntimes {
    fn name(&self) -> Option<String> {
        self.kind.clone().or_else(|| self.queue.clone())
    }
}

impl Document for StatsRuntimes {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, _: Format, _: Times) -> Vec<List<'_>> {
        vec![List::of("kind", &self.kinds, kinds(Some(&self.head.by), filled(&self.kinds)))]
    }

    fn below(&self, screen: &Screen) -> String {
        let edges = edges(&self.kinds, filled(&self.kinds)).map(|edges| format!("spread: {edges}\n"));
        edges.unwrap_or_default() + &screen.findings(&self.head.findings)
    }
}

impl StatsRuntimes {
    /// The titles of its table, whether the table has kinds or queues.
    pub fn titles() -> Vec<&'static str> {
        kinds(None, 0..0).titles()
    }
}

/// The columns of kinds, or of queues; of both where it is not known which they are.
fn kinds<'a>(by: Option<&str>, span: Range<usize>) -> Columns<'a, KindRuntimes> {
    let time = |seconds: Option<f64>| columns::text(seconds.map(run_time).as_deref());
    let name = |kind: &KindRuntimes| kind.name().map_or_else(|| Cell::new("(not named)", Tone::Warn), Cell::from);
    Columns::<KindRuntimes>::new()
        .add_if(by != Some("queue"), column("kind", 0, Some(12)), "kind", name)
        .add_if(by != Some("kind"), column("queue", 0, Some(12)), "queue", name)
        .add(right("jobs", 0), "jobs", |kind| grouped(kind.jobs).into())
        .add(right("p50", 2), "p50_seconds", move |kind| time(kind.p50_seconds))
        .add(right("p95", 3), "p95_seconds", move |kind| time(kind.p95_seconds))
        .add(right("p99", 0), "p99_seconds", move |kind| time(kind.p99_seconds))
        .add(right("max", 1), "max_seconds", move |kind| time(kind.max_seconds))
        .add(right("would hit", 0), "would_hit", |kind| match kind.would_hit {
            Some(hit) => Cell::new(grouped(hit), if hit > 0 { Tone::Warn } else { Tone::Plain }),
            None => columns::text(None),
        })
        .add(right("unusable", 5), "unusable", |kind| {
            columns::text(Some(kind.unusable).filter(|jobs| *jobs > 0).map(grouped).as_deref())
        })
        .add(column("spread", 4, None), "", move |kind| bars(kind, span.clone()).into())
}

/// The buckets from the first to the last that has a job of any kind.
fn filled(kinds: &[KindRuntimes]) -> Range<usize> {
    let has = |at: usize| kinds.iter().any(|kind| kind.buckets.get(at).is_some_and(|bucket| bucket.jobs > 0));
    let places = kinds.first().map_or(0, |kind| kind.buckets.len());
    let first = (0..places).find(|at| has(*at)).unwrap_or(0);
    first..(0..places).rev().find(|at| has(*at)).map_or(first, |last| last + 1)
}

/// One sign for each bucket, as high as its part of the fullest one.
fn bars(kind: &KindRuntimes, span: Range<usize>) -> String {
    let counts: Vec<u64> = kind.buckets.get(span).unwrap_or_default().iter().map(|bucket| bucket.jobs).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().map(|count| level(*count, most)).collect()
}

/// The buckets of the signs, for the line below the table.
fn edges(kinds: &[KindRuntimes], span: Range<usize>) -> Option<String> {
    let buckets = kinds.first()?.buckets.get(span)?;
    let edges: Vec<String> =
        buckets.iter().map(|bucket| bucket.up_to_seconds.map_or_else(|| "longer".to_owned(), run_time)).collect();
    Some(format!("up to {}", edges.join(", "))).filter(|_| !edges.is_empty())
}

/// A run time in words; below ten seconds it is more precise than an age.
pub(super) fn run_time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0}ms", s * 1000.0),
        s if s < 10.0 => format!("{}s", (s * 10.0).round() / 10.0),
        s => age(Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::RuntimeBucket;

    fn kind(jobs: &[u64]) -> KindRuntimes {
        let bucket = |(n, jobs): (usize, &u64)| RuntimeBucket { up_to_seconds: Some(n as f64), jobs: *jobs };
        KindRuntimes { buckets: jobs.iter().enumerate().map(bucket).collect(), ..KindRuntimes::default() }
    }

    #[test]
    fn bars_are_as_high_as_their_part() {
        let kinds = [kind(&[0, 0, 1, 1000, 500, 0, 0]), kind(&[0, 0, 0, 0, 0, 3, 0])];
        let span = filled(&kinds);
        assert_eq!(span, 2..6);
        assert_eq!(bars(&kinds[0], span.clone()), "▁█▄·");
        assert_eq!(bars(&kinds[1], span), "···█");
        assert_eq!((filled(&[]), filled(&[kind(&[0, 0])])), (0..0, 0..0));
    }

    #[test]
    fn run_times_in_words() {
        let cases = [
            (0.0, "0ms"),
            (0.34, "340ms"),
            (1.0, "1s"),
            (1.26, "1.3s"),
            (1.99, "2s"),
            (12.6, "12s"),
            (7500.0, "2h 5m"),
        ];
        for (seconds, words) in cases {
            assert_eq!(run_time(seconds), words);
        }
    }
}
