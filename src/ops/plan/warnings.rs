//! What an operator should know before applying a plan.

use super::thresholds_used::ThresholdsUsed;
use crate::model::age;
use crate::output::{Spool, StepJob};
use crate::policy::{Policy, Proves};
use crate::preset::{Fencing, Liveness, QueueSpec, SilentAfter};
use std::collections::BTreeSet;
use std::io;

/// What an operator should know before applying the plan.
pub(super) fn warnings(
    spec: &QueueSpec,
    policy: &Policy,
    sources: &BTreeSet<&'static str>,
    thresholds_used: &ThresholdsUsed,
    troubled: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut named = BTreeSet::new();
    for source in &spec.liveness {
        let Some(SilentAfter::Span(own)) = source.silent_after() else { continue };
        for allowed in thresholds_used.silences(source.name()).filter(|allowed| allowed.span < *own) {
            // Each threshold once, against the best source that it falls short of.
            if named.insert(allowed) {
                let name = policy.names(&spec.preset, allowed, "older");
                warnings.push(format!("{name} is shorter than the {} of preset {}", age(*own), spec.preset));
            }
        }
    }
    let age_only = spec.liveness.iter().any(|source| matches!(source, Liveness::Age { .. })) && sources.contains("age");
    if age_only && policy.restart.is_none() {
        warnings.push("age only: nothing but the age of the claim tells these jobs from slow ones".to_owned());
    }
    if let Some(unlocked) = &spec.unlocked {
        warnings.push(format!(
            "{unlocked} shows life and cannot be locked: jobdoctor reads it again once a job is locked, but a sign of life that \
             is committed after that comes too late"
        ));
    }
    if troubled {
        warnings.push(format!("some of these jobs show {} only: their workers may still be running", Proves::Trouble));
    }
    // What the preset knows of it says more than the bare fact.
    let late = spec.cautions.iter().find(|(name, _)| name == "late").map(|(_, text)| text.as_str());
    warnings.extend(late.or(late_in_short(spec.fencing)).map(str::to_owned));
    warnings.extend(spec.cautions.iter().filter(|(name, _)| name != "late").map(|(_, text)| text.clone()));
    warnings
}

/// How many of the jobs were lost before: one that kills its workers will be lost again.
pub(super) fn lost_before(jobs: &Spool<StepJob>) -> io::Result<Option<String>> {
    let mut lost: u64 = 0;
    for step in jobs.iter() {
        lost += u64::from(step?.job.stalls.is_some_and(|stalls| stalls > 0));
    }
    Ok(match lost {
        0 => None,
        1 => Some("1 of these jobs was lost before".to_owned()),
        _ => Some(format!("{lost} of these jobs were lost before")),
    })
}

/// What a worker that comes back late does to the job; `None` if it does nothing.
fn late_in_short(fencing: Fencing) -> Option<&'static str> {
    match fencing {
        Fencing::Fenced => None,
        Fencing::ByState => Some("a worker that comes back late is stopped by the job's state alone"),
        Fencing::ById => Some("a worker that comes back late overwrites what happened meanwhile"),
        Fencing::Unknown => Some("it is not known what a worker that comes back late does to the job"),
    }
}
