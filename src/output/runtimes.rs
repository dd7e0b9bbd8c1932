use super::document::{Document, ROWS, csv_of, head, line};
use super::format::bars::level;
use super::format::{Cell, Format, Screen, Table, Tone, grouped, inert};
use super::{Filter, Target, columns};
use crate::model::{Timestamp, age};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::ops::Range;
use std::time::Duration;

/// `jobdoctor.stats-runtimes/v1`: how long jobs ran that have ended well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatsRuntimes {
    /// `jobdoctor.stats-runtimes/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for, and the thresholds that `would_hit` counts by.
    pub filter: Filter,
    /// `kind`, or `queue` where the table tells no kinds: what is told apart in `kinds`.
    pub by: String,
    /// Jobs that ended at that time or later.
    #[schemars(with = "String")]
    pub since_at: Timestamp,
    /// `store_time` minus that.
    pub since_seconds: f64,
    /// All kinds together.
    pub summary: StatsRuntimesSummary,
    /// What there is to know about these numbers, as sentences; where there are none, why.
    pub findings: Vec<String>,
    /// The kinds, the one with the longest p99 first.
    pub kinds: Vec<KindRuntimes>,
}

/// The counts of a [`StatsRuntimes`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StatsRuntimesSummary {
    /// Kinds, or queues.
    pub kinds: u64,
    /// Jobs whose run time is known.
    pub jobs: u64,
    /// Jobs whose times do not tell one: missing, unreadable, implausible, or ended before begun.
    pub unusable: u64,
    /// Jobs of further kinds, which were left out.
    pub left_out: u64,
    /// Jobs that ran for longer than the threshold of their queue and kind; null where no threshold was given.
    pub would_hit: Option<u64>,
}

/// The run times of one kind. Percentiles are nearest ranks, told to within 1 %; `max_seconds` is exact.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KindRuntimes {
    /// The kind; null where it is not known, or where queues are told apart.
    pub kind: Option<String>,
    /// The queue, where queues are told apart; otherwise null.
    pub queue: Option<String>,
    /// Jobs whose run time is known.
    pub jobs: u64,
    /// Jobs whose times do not tell one.
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
    /// How they are spread: the same buckets for every kind.
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
    /// The columns of `csv`, in order; the same names as in JSON.
    pub const COLUMNS: [&'static str; 9] =
        ["kind", "queue", "jobs", "unusable", "p50_seconds", "p95_seconds", "p99_seconds", "max_seconds", "would_hit"];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        let seconds = |seconds: Option<f64>| seconds.map(|seconds| seconds.to_string()).unwrap_or_default();
        vec![
            self.kind.clone().unwrap_or_default(),
            self.queue.clone().unwrap_or_default(),
            self.jobs.to_string(),
            self.unusable.to_string(),
            seconds(self.p50_seconds),
            seconds(self.p95_seconds),
            seconds(self.p99_seconds),
            seconds(self.max_seconds),
            self.would_hit.map(|hit| hit.to_string()).unwrap_or_default(),
        ]
    }
}

impl Document for StatsRuntimes {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let span = filled(&self.kinds);
        let columns = vec![
            columns::column(if self.by == "kind" { "kind" } else { "queue" }, 0, Some(12)),
            columns::right("jobs", 0),
            columns::right("p50", 2),
            columns::right("p95", 3),
            columns::right("p99", 0),
            columns::right("max", 1),
            columns::right("would hit", 0),
            columns::right("unusable", 5),
            columns::column("spread", 4, None),
        ];
        let mut table = Table { columns, rows: Vec::new() };
        table.rows.extend(self.kinds.iter().take(rows).map(|kind| row(kind, span.clone())));
        let mut text = if self.kinds.is_empty() { String::new() } else { table.render(screen) };
        if let Some(edges) = edges(&self.kinds, span) {
            text.push_str(&format!("spread: {edges}\n"));
        }
        for finding in &self.findings {
            text.push_str(&format!("! {}\n", inert(finding)));
        }
        Ok(text)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv_of(&KindRuntimes::COLUMNS, self.kinds.iter().map(Ok), |kind| kind.values(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = self.kinds.iter().filter_map(|kind| kind.kind.as_ref().or(kind.queue.as_ref()));
        names.into_iter().try_for_each(|name| writeln!(out, "{name}"))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("filter", serde_json::to_value(&self.filter)?),
            ("by", self.by.clone().into()),
            ("since_at", serde_json::to_value(self.since_at)?),
            ("since_seconds", self.since_seconds.into()),
            ("findings", serde_json::to_value(&self.findings)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.kinds.iter().try_for_each(|kind| line(out, "kind", kind))?;
        line(out, "summary", &self.summary)
    }
}

fn row(kind: &KindRuntimes, span: Range<usize>) -> Vec<Cell> {
    let name = kind.kind.as_deref().or(kind.queue.as_deref());
    let time = |seconds: Option<f64>| columns::text(seconds.map(run_time).as_deref());
    let rare = |n: u64| columns::text(Some(n).filter(|n| *n > 0).map(grouped).as_deref());
    let hit = match kind.would_hit {
        Some(hit) => Cell::new(grouped(hit), if hit > 0 { Tone::Warn } else { Tone::Plain }),
        None => columns::text(None),
    };
    vec![
        name.map_or_else(|| Cell::new("(not named)", Tone::Warn), Cell::from),
        grouped(kind.jobs).into(),
        time(kind.p50_seconds),
        time(kind.p95_seconds),
        time(kind.p99_seconds),
        time(kind.max_seconds),
        hit,
        rare(kind.unusable),
        bars(kind, span).into(),
    ]
}

/// The buckets from the first to the last that has a job of any kind.
fn filled(kinds: &[KindRuntimes]) -> Range<usize> {
    let has = |at: usize| kinds.iter().any(|kind| kind.buckets.get(at).is_some_and(|bucket| bucket.jobs > 0));
    let places = kinds.first().map_or(0, |kind| kind.buckets.len());
    let first = (0..places).find(|at| has(*at)).unwrap_or(0);
    first..(0..places).rev().find(|at| has(*at)).map_or(first, |last| last + 1)
}

/// One sign a bucket, as high as its part of the fullest one.
fn bars(kind: &KindRuntimes, span: Range<usize>) -> String {
    let counts: Vec<u64> = kind.buckets.get(span).unwrap_or_default().iter().map(|bucket| bucket.jobs).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().map(|count| level(*count, most)).collect()
}

/// What the signs stand for.
fn edges(kinds: &[KindRuntimes], span: Range<usize>) -> Option<String> {
    let buckets = kinds.first()?.buckets.get(span)?;
    let edges: Vec<String> =
        buckets.iter().map(|bucket| bucket.up_to_seconds.map_or_else(|| "longer".to_owned(), run_time)).collect();
    Some(format!("up to {}", edges.join(", "))).filter(|_| !edges.is_empty())
}

/// A run time in words: below ten seconds it is told more finely than an age.
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
        KindRuntimes {
            kind: None,
            queue: None,
            jobs: 0,
            unusable: 0,
            p50_seconds: None,
            p95_seconds: None,
            p99_seconds: None,
            max_seconds: None,
            would_hit: None,
            buckets: jobs.iter().enumerate().map(bucket).collect(),
        }
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
