//! What finished jobs say about the thresholds that a plan rests on.

use super::thresholds_used::ThresholdsUsed;
use crate::model::age;
use crate::ops::session::Snapshot;
use crate::ops::stats::run_time;
use crate::policy::{Policy, SetBy};
use crate::preset::Finished;
use crate::store::WantedRuns;
use std::collections::BTreeMap;
use std::time::Duration;

/// So many jobs that ended last are looked at, of all kinds together.
const SAMPLE: u32 = 10_000;
/// So long that may take. A table without an index on the end of runs may need longer; then there is no warning.
const PATIENCE: Duration = Duration::from_secs(1);
/// So many kinds are warned about by name.
const SHOWN: usize = 10;

/// Warns of steps that rest on how long a job runs, where more than one in a hundred finished jobs of its kind ran for longer
/// than that. A warning is all that it is: where the table does not tell, or does not tell in time, there is none.
pub(super) fn warnings(snapshot: &mut Snapshot, policy: &Policy, thresholds_used: &ThresholdsUsed) -> Vec<String> {
    let spec = &snapshot.spec;
    let by_kind = spec.claim.kind.is_some();
    let limits = thresholds_used.limits(by_kind);
    let Finished::Kept(runs) = &spec.finished else { return Vec::new() };
    if limits.is_empty() {
        return Vec::new();
    }
    let now = snapshot.reader.now();
    let mut spans: BTreeMap<Option<String>, Vec<Duration>> = BTreeMap::new();
    let read = snapshot.reader.finished(spec, runs, &WantedRuns::Newest(SAMPLE, PATIENCE), &mut |run| {
        let whose = if by_kind { &run.kind } else { &run.queue };
        if let (true, Some(span)) = (limits.contains_key(whose), run_time(&run, now)) {
            spans.entry(whose.clone()).or_default().push(span);
        }
    });
    if read.is_err() {
        return Vec::new();
    }
    let what = if by_kind { "kind" } else { "queue" };
    let mut warnings = Vec::new();
    for (whose, mut spans) in spans {
        spans.sort_unstable();
        let Some(p99) = spans.get((spans.len() * 99).div_ceil(100).saturating_sub(1)) else { continue };
        for (limit, allowed) in limits.get(&whose).into_iter().flatten() {
            if allowed.span < *p99 && allowed.set_by != SetBy::Row {
                let hit = spans.len() - spans.partition_point(|span| *span <= allowed.span);
                let whose =
                    whose.as_deref().map_or_else(|| format!("jobs without a {what}"), |name| format!("{what} {name}"));
                warnings.push(format!(
                    "{} is shorter than the p99 ({}) of {whose}: it would have hit {hit} of {} finished jobs",
                    policy.names(&spec.preset, *allowed, limit.key()),
                    age(*p99),
                    spans.len(),
                ));
            }
        }
    }
    let more = warnings.len().saturating_sub(SHOWN);
    if more > 0 {
        warnings.truncate(SHOWN);
        warnings.push(format!("the same holds for {more} more; `jobdoctor stats --runtimes` shows run times"));
    }
    warnings
}
