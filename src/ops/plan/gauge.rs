//! What the brake goes by, measured in the look that the plan rests on.

use crate::model::Claim;
use crate::ops::OpsError;
use crate::ops::selection::Selection;
use crate::ops::session::Look;
use crate::ops::stale::findings_among;
use crate::policy::{FREE, Gauge, Judgement, Policy, RestartScope, Up};
use crate::spec::{Liveness, SilentAfter};
use std::collections::BTreeSet;
use std::time::Duration;

/// A worker that renews a lease is given this long to be heard once the server is up, where nothing else is known of it.
const LEASE: Duration = Duration::from_secs(300);

/// See the module.
#[derive(Debug, Clone, Default)]
pub(in crate::ops) struct Measured {
    /// The whole queue; `None` where the plan is too small to be judged.
    pub(in crate::ops) gauge: Option<Gauge>,
    /// The server's age, where that says anything.
    pub(in crate::ops) up: Option<Up>,
    /// True for a restart sweep of some owners.
    pub(in crate::ops) is_scoped: bool,
}

/// Measures. `gauge` has seen the suspects of the whole queue, unless only named jobs were read.
pub(super) fn measured(
    look: &mut Look,
    policy: &Policy,
    gauge: Option<Gauge>,
    steps: usize,
    sources: &BTreeSet<&'static str>,
) -> Result<Measured, OpsError> {
    let is_scoped = policy.restart.as_ref().is_some_and(|r| !matches!(r.scope, RestartScope::AllOwners));
    if is_scoped || steps as u64 <= FREE {
        return Ok(Measured { gauge: None, up: None, is_scoped });
    }
    let gauge = match gauge {
        Some(gauge) => gauge,
        None => suspects(look, policy)?,
    };
    let owners = look.reader.in_flight_by_owner(&look.spec)?.into_iter().collect();
    Ok(Measured { gauge: Some(gauge.with_owners(owners)), up: up(look, policy, sources)?, is_scoped })
}

fn suspects(look: &mut Look, policy: &Policy) -> Result<Gauge, OpsError> {
    let mut gauge = Gauge::default();
    let whole = &mut |claim: &Claim, judgement: &Judgement| gauge.note(claim, judgement);
    findings_among(look, &Selection::default(), policy, whole, &mut |_, _, _| Ok(()))?;
    Ok(gauge)
}

/// Where the steps rest on what workers write again and again, a server that was down has kept them from writing.
fn up(look: &mut Look, policy: &Policy, sources: &BTreeSet<&'static str>) -> Result<Option<Up>, OpsError> {
    let renewed = |source: &&Liveness| {
        matches!(source, Liveness::Lease { .. } | Liveness::Heartbeat { .. } | Liveness::Owner { .. })
    };
    let spec = &look.spec;
    if policy.restart.is_some() || !spec.liveness.iter().filter(renewed).any(|s| sources.contains(s.name())) {
        return Ok(None);
    }
    let spans = spec.liveness.iter().filter(renewed).filter_map(|source| match source.silent_after() {
        Some(SilentAfter::Span(span)) => Some(*span),
        _ => None,
    });
    let threshold = policy.older.or(spans.max()).unwrap_or(LEASE);
    let since = look.reader.up_since()?;
    Ok(since.map(|since| Up { time: look.reader.now().since(since), threshold }))
}
