use super::lines::{Lines, head, line};
use super::{Filter, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

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

impl Lines for StatsRuntimes {
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
