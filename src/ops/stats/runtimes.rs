use super::run_time::run_time;
use super::spread::Spread;
use crate::model::{Clocks, Timestamp, age};
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::ops::{OpsError, thresholds};
use crate::output::{KindRuntimes, RuntimeBucket, StatsRuntimes, StatsRuntimesSummary};
use crate::policy::Policy;
use crate::preset::{Finished, Liveness, QueueSpec, Runs};
use crate::store::{FinishedRun, WantedRuns};
use std::collections::BTreeMap;
use std::time::Duration;

/// Kinds that are told apart; a table may have a kind of its own for each job, and memory must stay small.
const MOST_KINDS: usize = 1000;
/// How long the question may take whether there is any finished job at all.
const SHORT: Duration = Duration::from_secs(2);

/// How long jobs of each kind ran that ended well within `since`, and how many of them the thresholds of that policy would have
/// hit. Where the table tells no kinds, queues stand for them.
///
/// # Errors
/// When the tables do not keep run times, the selection makes no sense for this queue, or the store cannot be read.
pub fn runtimes(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    since: Duration,
) -> Result<StatsRuntimes, OpsError> {
    let spec = &snapshot.spec;
    let runs = match &spec.finished {
        Finished::Kept(runs) => runs.as_ref(),
        Finished::Untold(why) => {
            return Err(OpsError::usage(
                format!("--runtimes: {why}"),
                "run times are told only by tables that keep, of a job that has ended well, when it began and ended",
            ));
        }
    };
    selection.globs_fit(spec)?;
    thresholds::fit(spec, policy)?;
    let now = snapshot.reader.now();
    let since_at = now.minus(since);
    let by_kind = spec.claim.kind.is_some();
    let mut kinds = Kinds::default();
    snapshot.reader.finished(spec, runs, &WantedRuns::Since(since_at), &mut |run| {
        let is_asked = selection.queues.admits(run.queue.as_deref()) && selection.kinds.admits(run.kind.as_deref());
        // The window's bound is coarse in coarse encodings. An end that is no instant may lie in it.
        if is_asked && run.ended.at().is_none_or(|ended| !since_at.is_after(ended, Clocks::One)) {
            kinds.add(&run, by_kind, policy, now);
        }
    })?;
    let mut findings = kinds.findings(spec);
    if kinds.is_empty() {
        let latest = latest(snapshot.reader.as_mut(), spec, runs);
        findings.push(nothing(latest, selection, since));
    }
    let Kinds { by_name, total, .. } = kinds;
    let mut kinds: Vec<KindRuntimes> = by_name.into_iter().map(|(name, kind)| kind.finish(name, by_kind)).collect();
    // The slowest first: they are who a threshold hits.
    kinds.sort_by(|a, b| b.p99_seconds.unwrap_or(-1.0).total_cmp(&a.p99_seconds.unwrap_or(-1.0)));
    Ok(StatsRuntimes {
        schema: "jobdoctor.stats-runtimes/v1",
        store_time: now,
        target: snapshot.target.clone(),
        filter: selection.filter(policy),
        by: if by_kind { "kind" } else { "queue" }.to_owned(),
        since_at,
        since_seconds: since.as_secs_f64(),
        summary: StatsRuntimesSummary { kinds: kinds.len() as u64, ..total },
        findings,
        kinds,
    })
}

/// When the last finished job ended, of whatever queue and kind: `None` if there is none, or none found in a short time.
fn latest(reader: &mut dyn crate::store::Reader, spec: &QueueSpec, runs: &Runs) -> Option<Timestamp> {
    let mut latest = None;
    // It only makes a sentence better.
    let _ = reader.finished(spec, runs, &WantedRuns::Newest(1, SHORT), &mut |run| latest = run.ended.at());
    latest
}

/// Why there is nothing to show.
fn nothing(latest: Option<Timestamp>, selection: &Selection, since: Duration) -> String {
    let of_those = if selection.queues.patterns().is_empty() && selection.kinds.patterns().is_empty() {
        "no job"
    } else {
        "no job of those asked for"
    };
    let window = format!("{of_those} has ended well within the last {}", age(since));
    match latest {
        Some(latest) => format!("{window}; the last of all jobs to do so ended at {latest}"),
        None => format!("{window}; the table holds no finished job whose end is known, or none was found in time"),
    }
}

/// What is counted, by kind.
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

    fn findings(&self, spec: &QueueSpec) -> Vec<String> {
        let mut findings = Vec::new();
        if self.total.unusable > 0 {
            findings.push(format!(
                "finished jobs whose times do not tell a run time, which are counted as unusable: {}",
                self.total.unusable
            ));
        }
        if self.total.left_out > 0 {
            findings.push(format!(
                "finished jobs of further kinds, beyond the first {MOST_KINDS} that were met: {}",
                self.total.left_out
            ));
        }
        let best = spec.liveness.first().filter(|source| !matches!(source, Liveness::Age { .. }));
        if let (Some(best), Some(1..)) = (best, self.total.would_hit) {
            findings.push(format!(
                "a claim here is judged by its {} first: a job that shows life may run for longer than the threshold",
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
