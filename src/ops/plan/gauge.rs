//! Measures for the brake, in the snapshot that the plan rests on.

use super::steps::Part;
use super::thresholds_used::ThresholdsUsed;
use crate::ops::OpsError;
use crate::ops::interrupted::compared;
use crate::ops::selection::Selection;
use crate::ops::session::Snapshot;
use crate::ops::survey::{Survey, Surveyed};
use crate::policy::{FREE, Gauge, Measured, Policy, Up};
use crate::preset::{Liveness, SilentAfter};
use crate::store::Holders;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// The silence after which a worker that renews a lease counts as dead, without another threshold.
const LEASE: Duration = Duration::from_secs(300);

/// Measures for the brake. `counted` is what a scan of the whole queue came to, unless only named jobs were read.
pub(super) fn measured(
    snapshot: &mut Snapshot,
    part: &Part,
    counted: Option<(Gauge, &Holders)>,
    thresholds_used: &ThresholdsUsed,
) -> Result<Measured, OpsError> {
    let (policy, steps) = (&part.policy, part.total());
    if let Some(since) = policy.interrupted {
        let interrupted = Some(compared(snapshot, &snapshot.jobs.clone(), steps, since)?);
        return Ok(Measured { interrupted, ..Measured::default() });
    }
    let is_scoped = policy.restart.as_ref().is_some_and(|restart| restart.scope.is_of_certain_owners());
    if is_scoped || steps <= FREE {
        return Ok(Measured { is_scoped, ..Measured::default() });
    }
    let scanned;
    let (gauge, holders) = match counted {
        Some(counted) => counted,
        None => {
            let (gauge, holders) = suspects(snapshot, policy)?;
            scanned = holders;
            (gauge, &scanned)
        }
    };
    let mut owners: BTreeMap<Option<String>, u64> = BTreeMap::new();
    snapshot.each_holder(&snapshot.jobs.clone(), holders, &mut |owner, claims| {
        *owners.entry(owner.map(|owner| owner.name.clone())).or_default() += claims;
    })?;
    let gauge = Some(Gauge { in_flight: owners.values().sum(), owners, ..gauge });
    Ok(Measured { gauge, up: up(snapshot, policy, thresholds_used)?, ..Measured::default() })
}

fn suspects(snapshot: &mut Snapshot, policy: &Policy) -> Result<(Gauge, Holders), OpsError> {
    let (mut gauge, all, jobs) = (Gauge::default(), Selection::default(), snapshot.jobs.clone());
    all.check(&jobs, policy)?;
    let seen = Survey::of(&jobs, &all, policy).run(snapshot, &mut |Surveyed { claim, judgement, .. }| {
        gauge.note(claim, &judgement, policy);
        ControlFlow::Continue(())
    })?;
    Ok((gauge, seen.holders.unwrap_or_default()))
}

/// How long the server has been up, if the steps rest on what workers renew: while it was down they could not.
fn up(snapshot: &mut Snapshot, policy: &Policy, thresholds_used: &ThresholdsUsed) -> Result<Option<Up>, OpsError> {
    const RENEWED: [&str; 3] = ["lease", "heartbeat", "owner"];
    let is_renewed = |source: &&Liveness| RENEWED.contains(&source.name());
    if policy.restart.is_some() || !RENEWED.iter().any(|source| thresholds_used.has(source)) {
        return Ok(None);
    }
    let spans = snapshot.jobs.liveness.iter().filter(is_renewed).filter_map(|source| match source.silent_after() {
        Some(SilentAfter::Span(span)) => Some(*span),
        _ => None,
    });
    let threshold = thresholds_used.longest_silence(&RENEWED).or(policy.older).or(spans.max()).unwrap_or(LEASE);
    let since = snapshot.reader.server().and_then(|server| server.up_since);
    Ok(since.map(|since| Up { time: snapshot.reader.now().since(since), threshold }))
}
