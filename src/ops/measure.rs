//! Counts claims by queue, state and reason, for monitoring.

use super::OpsError;
use super::progress::{UnderWay, Work};
use super::scan::detail_for_listing;
use super::selection::Selection;
use super::session::Snapshot;
use crate::output::{Measured, MeasuredState};
use crate::policy::{Policy, Rule, Verdict, judge};
use crate::preset::{Liveness, QueueSpec};
use crate::store::Wanted;
use std::collections::BTreeMap;

/// Counts what is in flight by queue and state, and what is stuck by reason. Reads every claim of the queue: healthy
/// ones count too.
pub fn measure(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<Measured, OpsError> {
    selection.check(&snapshot.spec, policy)?;
    let now = snapshot.now();
    let spec = &snapshot.spec;
    let usual = MeasuredState {
        stuck: usual_rules(spec, policy).into_iter().map(|rule| (rule.name(), 0)).collect(),
        ..MeasuredState::default()
    };
    let mut measured = Measured { queues: BTreeMap::new() };
    let under_way = UnderWay::begin(&*snapshot.progress, Work::Reading);
    snapshot.reader.scan(spec, &Wanted::All, detail_for_listing(policy), &mut |claim| {
        under_way.one();
        if !selection.admits(&claim) {
            return;
        }
        let judgement = judge(spec, &claim, policy, now);
        let queue = measured.queues.entry(claim.queue).or_default();
        let state = queue.states.entry(claim.state).or_insert_with(|| usual.clone());
        state.in_flight += 1;
        match judgement.verdict {
            Verdict::Healthy => {}
            Verdict::Unknown(_) => state.unknown += 1,
            Verdict::Stuck(reasons) => {
                if let Some(reason) = reasons.first() {
                    *state.stuck.entry(reason.rule.name()).or_default() += 1;
                }
                let silence = judgement.silence.map(|silence| silence.as_secs_f64());
                queue.oldest_silence_seconds = queue.oldest_silence_seconds.into_iter().chain(silence).reduce(f64::max);
            }
        }
    })?;
    Ok(measured)
}

/// The rules that usually call a claim of this queue dead. Their counts are always present, zeros included: a graph
/// needs them.
fn usual_rules(spec: &QueueSpec, policy: &Policy) -> Vec<Rule> {
    if policy.restart.is_some() {
        return vec![if policy.list().is_some() { Rule::LiveOwnerList } else { Rule::Restart }];
    }
    let of_source = |source: &Liveness| match source {
        Liveness::Lease { .. } => Rule::LeaseExpired,
        Liveness::Heartbeat { .. } => Rule::HeartbeatSilent,
        Liveness::Owner { .. } => Rule::OwnerSilent,
        Liveness::Age { .. } => Rule::ClaimAge,
        Liveness::Lock { .. } => Rule::LockFree,
    };
    spec.liveness.iter().map(of_source).collect()
}
