//! How long finished jobs ran, by kind.

use crate::model::{Clocks, FUTURE_TOLERANCE, Reading, Timestamp, age};
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::ops::{OpsError, thresholds};
use crate::output::{KindRuntimes, Request, RuntimeBucket, StatsRuntimes, StatsRuntimesHead, StatsRuntimesSummary};
use crate::policy::Policy;
use crate::preset::{EARLIEST_MICROS, Finished, Jobs, Liveness};
use crate::store::{FinishedRun, WantedRuns};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most kinds that are kept apart: a table may have one kind for each job, and memory must stay small.
const MOST_KINDS: usize = 1000;
/// How long to search for the last finished job of any queue and kind.
const SHORT: Duration = Duration::from_secs(2);

/// How long jobs of each kind ran that succeeded within `since`, and how many of them the policy's thresholds would
/// have hit. If the table has no kinds, they are grouped by queue.
pub fn runtimes(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    since: Duration,
) -> Result<StatsRuntimes, OpsError> {
    let jobs = &snapshot.jobs;
    let runs = match &jobs.finished {
        Finished::Kept(runs) => runs.as_ref(),
        Finished::Untold(why) => {
            return Err(OpsError::unsupported(jobs, &Request::RunTimes(why.to_string())));
        }
    };
    selection.globs_fit(jobs)?;
    thresholds::fit(jobs, policy)?;
    let now = snapshot.reader.now();
    let since_at = now.minus(since);
    let by_kind = jobs.claim.kind.is_some();
    let mut kinds = Kinds::default();
    snapshot.reader.finished(jobs, runs, &WantedRuns::Since(since_at), &mut |run| {
        let is_asked = selection.queues.admits(run.queue.as_deref()) && selection.kinds.admits(run.kind.as_deref());
        // Coarse encodings blur the window's bound. An end that is no instant may lie in it.
        if is_asked && run.ended.at().is_none_or(|ended| !since_at.is_after(ended, Clocks::One)) {
            kinds.add(&run, by_kind, policy, now);
        }
    })?;
    let mut findings = kinds.findings(jobs);
    if kinds.is_empty() {
        let mut latest = None;
        // An error only costs a detail of a sentence.
        let newest = WantedRuns::Newest(1, SHORT);
        let _ = snapshot.reader.finished(jobs, runs, &newest, &mut |run| latest = run.ended.at());
        findings.push(nothing(latest, selection, since));
    }
    let Kinds { by_name, total, .. } = kinds;
    let mut kinds: Vec<KindRuntimes> = by_name.into_iter().map(|(name, kind)| kind.finish(name, by_kind)).collect();
    // The slowest first: a threshold hits them.
    kinds.sort_by(|a, b| b.p99_seconds.unwrap_or(-1.0).total_cmp(&a.p99_seconds.unwrap_or(-1.0)));
    let head = StatsRuntimesHead {
        schema: "jobdoctor.stats-runtimes/v1",
        store_time: now,
        target: snapshot.target.clone(),
        filter: selection.filter(policy),
        by: if by_kind { "kind" } else { "queue" }.to_owned(),
        since_at,
        since_seconds: since.as_secs_f64(),
        findings,
    };
    let summary = StatsRuntimesSummary { kinds: kinds.len() as u64, ..total };
    Ok(StatsRuntimes { head, summary, kinds })
}

fn nothing(latest: Option<Timestamp>, selection: &Selection, since: Duration) -> String {
    let is_all = selection.queues.patterns().is_empty() && selection.kinds.patterns().is_empty();
    let of_those = if is_all { "no job" } else { "no selected job" };
    let window = format!("{of_those} ended well within the last {}", age(since));
    match latest {
        Some(latest) => format!("{window}; the last one of all ended at {latest}"),
        None => format!("{window}; the table holds no finished job whose end is known, or none was found in time"),
    }
}

#[derive(Default)]
struct Kinds {
    by_name: BTreeMap<Option<String>, Kind>,
    total: StatsRuntimesSummary,
}

impl Kinds {
    fn is_empty(&self) -> bool {
        self.total.jobs + self.total.unusable + self.total.left_out == 0
    }

    fn add(&mut self, run: &FinishedRun, by_kind: bool, policy: &Policy, now: Timestamp) {
        let name = if by_kind { &run.kind } else { &run.queue };
        if self.by_name.len() >= MOST_KINDS && !self.by_name.contains_key(name) {
            self.total.left_out += 1;
            return;
        }
        let kind = match self.by_name.get_mut(name) {
            Some(kind) => kind,
            None => self.by_name.entry(name.clone()).or_default(),
        };
        let Some(span) = run_time(run, now) else {
            kind.unusable += 1;
            self.total.unusable += 1;
            return;
        };
        kind.spread.add(span);
        self.total.jobs += 1;
        if let Some(older) = policy.older_for(run.queue.as_deref(), run.kind.as_deref()) {
            let hit = u64::from(span > older.span);
            *kind.would_hit.get_or_insert(0) += hit;
            *self.total.would_hit.get_or_insert(0) += hit;
        }
    }

    fn findings(&self, spec: &Jobs) -> Vec<String> {
        let mut findings = Vec::new();
        if self.total.unusable > 0 {
            let jobs = self.total.unusable;
            findings.push(format!("finished jobs whose times give no run time, counted as unusable: {jobs}"));
        }
        if self.total.left_out > 0 {
            let jobs = self.total.left_out;
            findings.push(format!("finished jobs of other kinds, beyond the first {MOST_KINDS} found: {jobs}"));
        }
        let best = spec.liveness.first().filter(|source| !matches!(source, Liveness::Age { .. }));
        if let (Some(best), Some(1..)) = (best, self.total.would_hit) {
            findings.push(format!(
                "jobdoctor judges a claim here by its {} first: a job that shows life may run for longer than the \
                 threshold",
                best.name()
            ));
        }
        findings
    }
}

#[derive(Default)]
struct Kind {
    spread: Spread,
    unusable: u64,
    would_hit: Option<u64>,
}

impl Kind {
    fn finish(self, name: Option<String>, by_kind: bool) -> KindRuntimes {
        let (kind, queue) = if by_kind { (name, None) } else { (None, name) };
        let percentile = |of_hundred| self.spread.percentile(of_hundred).map(|span| span.as_secs_f64());
        KindRuntimes {
            kind,
            queue,
            jobs: self.spread.count(),
            unusable: self.unusable,
            p50_seconds: percentile(50),
            p95_seconds: percentile(95),
            p99_seconds: percentile(99),
            max_seconds: self.spread.longest().map(|span| span.as_secs_f64()),
            would_hit: self.would_hit,
            buckets: self.spread.buckets().map(|(up_to_seconds, jobs)| RuntimeBucket { up_to_seconds, jobs }).collect(),
        }
    }
}

/// No job runs for longer than ten years.
const LONGEST: Duration = Duration::from_secs(315_576_000);

/// How long a run took; `None` if an instant is missing, unreadable or implausible, or the end comes before the
/// beginning.
pub fn run_time(run: &FinishedRun, now: Timestamp) -> Option<Duration> {
    let (Reading::At(started), Reading::At(ended)) = (&run.started, &run.ended) else { return None };
    let is_plausible = started.micros() >= EARLIEST_MICROS
        && !started.is_after(*ended, Clocks::One)
        && !ended.is_after(now.plus(FUTURE_TOLERANCE), Clocks::One);
    Some(ended.since(*started)).filter(|span| is_plausible && *span <= LONGEST)
}

/// The distribution of run times: each counts in a bucket that is 2 % wide, so a percentile is exact to 1 %. The
/// longest is exact.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    fine: BTreeMap<u32, u64>,
    /// One more than [`EDGES`], for what is beyond the last.
    coarse: [u64; EDGES.len() + 1],
    count: u64,
    longest: Duration,
}

/// The upper edges of the buckets that documents show, in seconds.
pub const EDGES: [f64; 17] =
    [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0, 86_400.0];

/// How much larger each bucket is than the one before it.
const GROWTH: f64 = 1.02;

impl Spread {
    pub fn add(&mut self, run: Duration) {
        *self.fine.entry(bucket(run)).or_default() += 1;
        let seconds = run.as_secs_f64();
        let edge = EDGES.iter().position(|edge| seconds <= *edge).unwrap_or(EDGES.len());
        if let Some(count) = self.coarse.get_mut(edge) {
            *count += 1;
        }
        self.count += 1;
        self.longest = self.longest.max(run);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest; `None` without runs.
    pub fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }

    /// The run time that `of_hundred` percent did not exceed (nearest rank); `None` without runs.
    pub fn percentile(&self, of_hundred: u64) -> Option<Duration> {
        let rank = self.count.saturating_mul(of_hundred).div_ceil(100).max(1);
        if rank >= self.count {
            return self.longest();
        }
        let mut seen = 0;
        for (bucket, count) in &self.fine {
            seen += count;
            if seen >= rank {
                return Some(middle(*bucket).min(self.longest));
            }
        }
        None
    }

    /// Counts by upper edge in seconds; the last has none.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<f64>, u64)> {
        let edges = EDGES.iter().copied().map(Some).chain([None]);
        edges.zip(self.coarse)
    }
}

/// Microseconds up to one share the first bucket.
fn bucket(run: Duration) -> u32 {
    let micros = run.as_micros() as f64;
    if micros < 1.0 { 0 } else { (micros.ln() / GROWTH.ln()).floor() as u32 + 1 }
}

/// The time in the middle of a bucket, by ratio.
fn middle(bucket: u32) -> Duration {
    match bucket.checked_sub(1) {
        None => Duration::ZERO,
        Some(n) => Duration::try_from_secs_f64(GROWTH.powf(f64::from(n) + 0.5) / 1e6).unwrap_or(Duration::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_tells_a_run_time_and_what_does_not() {
        const NOW: i64 = 1_795_168_800;
        let at = |seconds: i64| Reading::At(Timestamp::from_micros(seconds * 1_000_000).unwrap());
        let now = Timestamp::from_micros(NOW * 1_000_000).unwrap();
        let took = |started: Reading, ended: Reading| {
            run_time(&FinishedRun { queue: None, kind: None, started, ended }, now).map(|span| span.as_secs())
        };
        assert_eq!(took(at(NOW - 100), at(NOW - 40)), Some(60));
        assert_eq!(took(at(NOW), at(NOW)), Some(0));
        assert_eq!(took(at(NOW), at(NOW + 60)), Some(60), "clocks differ a little");
        assert_eq!(took(at(NOW), at(NOW + 61)), None, "it has not ended yet");
        assert_eq!(took(at(NOW), at(NOW - 1)), None, "ended before it began");
        assert_eq!(took(at(NOW / 1000), at(NOW)), None, "milliseconds taken for seconds");
        assert_eq!(took(Reading::Absent, at(NOW)), None);
        assert_eq!(took(at(NOW), Reading::Unfit { raw: "soon".to_owned(), why: String::new() }), None);
    }

    #[test]
    fn of_none_nothing_is_known() {
        let spread = Spread::default();
        assert_eq!((spread.percentile(50), spread.longest(), spread.count()), (None, None, 0));
        assert!(spread.buckets().all(|(_, count)| count == 0));
    }

    #[test]
    fn buckets_have_their_edges_inside() {
        let mut spread = Spread::default();
        [0, 1_000, 1_001, 60_000, 86_400_001].into_iter().map(Duration::from_millis).for_each(|run| spread.add(run));
        let filled: Vec<_> = spread.buckets().filter(|(_, count)| *count > 0).collect();
        let expected = [(Some(0.01), 1), (Some(1.0), 1), (Some(2.0), 1), (Some(60.0), 1), (None, 1)];
        assert_eq!(filled, expected);
        assert_eq!(spread.percentile(20), Some(Duration::ZERO));
        assert_eq!(spread.percentile(100), Some(Duration::from_millis(86_400_001)));
    }

    proptest! {
        #[test]
        fn percentiles_are_exact_to_one_percent(
            micros in proptest::collection::vec(prop_oneof![0_u64..5, 0..5_000_000_u64, 0..300_000_000_000_000_u64], 1..400),
            of_hundred in 1_u64..=100,
        ) {
            let mut spread = Spread::default();
            micros.iter().for_each(|micros| spread.add(Duration::from_micros(*micros)));
            let mut sorted = micros;
            sorted.sort_unstable();
            let rank = (sorted.len() as u64 * of_hundred).div_ceil(100).max(1) as usize;
            let (exact, told) = (sorted[rank - 1] as f64, spread.percentile(of_hundred).unwrap().as_secs_f64() * 1e6);
            // Tolerance: 1 %, or 1 us for shorter times.
            prop_assert!((told - exact).abs() <= exact * 0.01 + 1.0, "{told} for {exact}");
            prop_assert_eq!(spread.longest(), sorted.last().map(|micros| Duration::from_micros(*micros)));
            prop_assert_eq!(spread.buckets().map(|(_, count)| count).sum::<u64>(), sorted.len() as u64);
        }
    }
}
