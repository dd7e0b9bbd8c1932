//! What an operator should know before applying a plan.

use crate::model::age;
use crate::policy::{Policy, Proves};
use crate::spec::{LateFinish, Liveness, QueueSpec, SilentAfter};
use std::collections::BTreeSet;

/// What an operator should know before applying the plan.
pub(super) fn warnings(
    spec: &QueueSpec,
    policy: &Policy,
    sources: &BTreeSet<&'static str>,
    troubled: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(older) = policy.older {
        let own = spec.liveness.iter().filter(|source| sources.contains(source.name())).find_map(|source| match source
            .silent_after()
        {
            Some(SilentAfter::Span(span)) => Some(*span),
            _ => None,
        });
        if let Some(own) = own.filter(|own| older < *own) {
            warnings.push(format!("--older {} is shorter than the {} of preset {}", age(older), age(own), spec.preset));
        }
    }
    let age_only = spec.liveness.iter().any(|source| matches!(source, Liveness::Age { .. })) && sources.contains("age");
    if age_only && policy.restart.is_none() {
        warnings.push("age only: nothing but the age of the claim tells these jobs from slow ones".to_owned());
    }
    if troubled {
        warnings.push(format!(
            "some of these jobs show {} only: their workers may still be running",
            Proves::Trouble.name()
        ));
    }
    // What the preset knows of it says more than the bare fact.
    let late = spec.cautions.iter().find(|(name, _)| name == "late").map(|(_, text)| text.as_str());
    warnings.extend(late.or(late_in_short(spec.late_finish)).map(str::to_owned));
    warnings.extend(spec.cautions.iter().filter(|(name, _)| name != "late").map(|(_, text)| text.clone()));
    warnings
}

/// What a worker that comes back late does to the job; `None` if it does nothing.
fn late_in_short(late_finish: LateFinish) -> Option<&'static str> {
    match late_finish {
        LateFinish::Fenced => None,
        LateFinish::ByState => Some("a worker that comes back late is stopped by the job's state alone"),
        LateFinish::ById => Some("a worker that comes back late overwrites what happened meanwhile"),
        LateFinish::Unknown => Some("it is not known what a worker that comes back late does to the job"),
    }
}
