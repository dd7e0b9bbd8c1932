//! Checks that the operator's thresholds fit a queue, and passes them to the pre-filter and to documents.

use super::OpsError;
use super::too_long;
use crate::model::Timestamp;
use crate::output::FilterThreshold;
use crate::policy::{Policy, Threshold};
use crate::preset::{QueueSpec, SpecError};
use crate::store::Cutoffs;

/// The pre-filter's cut-offs for that policy.
pub fn cutoffs(now: Timestamp, policy: &Policy) -> Cutoffs {
    Cutoffs {
        shortest_older: policy.thresholds.shortest_older(),
        // Both are about how long ago the claim was made.
        max_runtime: policy
            .thresholds
            .shortest_max_runtime()
            .into_iter()
            .chain(policy.too_long.shortest_in_flight())
            .min(),
        ..Cutoffs::at(now, policy.older)
    }
}

/// Refuses thresholds that could never apply to this queue: the operator relies on them.
pub(super) fn fit(spec: &QueueSpec, policy: &Policy) -> Result<(), OpsError> {
    let thresholds = &policy.thresholds;
    let misfit = |what: &str, why: String| {
        let document = format!("{what} of target {}", thresholds.target);
        Err(OpsError::Spec(SpecError::whole(&document, why)))
    };
    for (n, entry) in thresholds.entries.iter().enumerate() {
        let what = format!("threshold {}", n + 1);
        for (key, globs, is_known) in
            [("queue", &entry.queue, spec.claim.queue.is_some()), ("kind", &entry.kind, spec.claim.kind.is_some())]
        {
            if !globs.patterns().is_empty() && !is_known {
                let why = format!("preset {} has no {key} column, so this would match no job", spec.preset);
                return misfit(&what, why);
            }
        }
    }
    if thresholds.shortest_max_runtime().is_some() && spec.claim.claimed_at.is_none() {
        let why = format!("preset {} does not say when a job was claimed, so its run time is unknown", spec.preset);
        return misfit("max_runtime", why);
    }
    policy
        .too_long
        .entries
        .iter()
        .try_for_each(|entry| too_long::fits(spec, entry, &policy.too_long).map_err(OpsError::Spec))
}

/// The thresholds that apply, as documents repeat them.
pub(super) fn filter(policy: &Policy) -> Vec<FilterThreshold> {
    if policy.restart.is_some() {
        return Vec::new();
    }
    let thresholds = &policy.thresholds;
    let one = |(n, entry): (usize, &Threshold)| FilterThreshold {
        number: n as u64 + 1,
        queue: entry.queue.patterns().first().cloned(),
        kind: entry.kind.patterns().first().cloned(),
        older_seconds: entry.older.filter(|_| !thresholds.overruled).map(|older| older.as_secs_f64()),
        max_runtime_seconds: entry.max_runtime.map(|max| max.as_secs_f64()),
    };
    let entries = thresholds.entries.iter().enumerate().map(one);
    entries.filter(|entry| entry.older_seconds.is_some() || entry.max_runtime_seconds.is_some()).collect()
}
