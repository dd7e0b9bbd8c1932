//! Lists owners and what they hold.

use super::OpsError;
use super::selection::{Selection, caveats};
use super::session::Snapshot;
use super::survey::{Survey, Surveyed};
use crate::model::{Claim, Timestamp};
use crate::output::{OwnerEntry, Owners, OwnersHead, OwnersSummary};
use crate::policy::{Inconsistencies, Judgement, Policy, Verdict};
use crate::preset::Liveness;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Lists who holds what, who is dead and who is alive, and where the ownership data contradicts itself; counts also those
/// that are not listed. Claims that the selection leaves out still show whether their owner lives.
pub fn owners(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    is_listed: fn(&OwnerEntry) -> bool,
) -> Result<Owners, OpsError> {
    selection.check(&snapshot.jobs, policy)?;
    let now = snapshot.now();
    let (mut summary, mut in_flight) = (OwnersSummary::default(), 0);
    let mut entries: BTreeMap<Option<String>, (Life, OwnerEntry)> = BTreeMap::new();
    let mut inconsistencies = Inconsistencies::default();
    let jobs = snapshot.jobs.clone();
    let survey = Survey { with_healthy: true, ..Survey::of(&jobs, selection, policy) };
    survey.run(snapshot, &mut |Surveyed { claim, judgement, is_selected, .. }| {
        in_flight += 1;
        let owner = claim.owner.as_ref().map(|owner| owner.name.clone());
        let (life, entry) = entries.entry(owner).or_default();
        life.add(&judgement);
        if is_selected {
            summary.in_flight += 1;
            inconsistencies.note(&jobs, claim, &judgement);
            count(entry, claim, &judgement);
        }
        ControlFlow::Continue(())
    })?;
    let entries = entries.into_iter().filter(|(_, (_, entry))| entry.claims > 0);
    let finished = |(owner, (life, entry)): (Option<String>, (Life, OwnerEntry))| OwnerEntry {
        owner,
        status: life.status(),
        silence_seconds: entry.last_seen_at.map(|sign| now.since(sign).as_secs_f64()),
        ..entry
    };
    let mut owners: Vec<OwnerEntry> = entries.map(finished).collect();
    owners.sort_by_key(|owner| (owner.stuck == 0, owner.last_seen_at.map(Timestamp::micros)));
    for owner in &owners {
        summary.owners += 1;
        summary.dead += u64::from(owner.is_dead());
        summary.silent += u64::from(owner.is_silent());
        summary.late += u64::from(owner.status == "late");
        summary.stuck += owner.stuck;
        summary.unknown += owner.unknown;
    }
    owners.retain(is_listed);
    if let Some(limit) = selection.limit {
        owners.truncate(limit);
    }
    let warnings = caveats(snapshot, Some(selection).filter(|_| owners.is_empty()), summary.unknown > 0, in_flight)?;
    let head = OwnersHead {
        schema: "jobdoctor.owners/v1",
        store_time: now,
        target: snapshot.target.clone(),
        findings: inconsistencies.found().map(|(what, claims)| Owners::finding(what, claims)).collect(),
        warnings,
    };
    Ok(Owners { head, summary, owners })
}

/// What all claims of an owner say of its life, selected or not.
#[derive(Default)]
pub(super) struct Life {
    claims: u64,
    /// Claims that prove its death; other stuck ones are in trouble, and their worker shows life.
    dead: u64,
    /// Of these, by age alone.
    by_age: u64,
    unknown: u64,
    late: u64,
}

impl Life {
    pub(super) const STATUSES: [&str; 6] = ["alive", "late", "dead", "silent", "mixed", "unknown"];

    pub(super) fn add(&mut self, judgement: &Judgement) {
        let is_unknown = matches!(judgement.verdict, Verdict::Unknown(_));
        self.claims += 1;
        self.dead += u64::from(judgement.verdict.is_death());
        self.by_age += u64::from(judgement.verdict.is_death() && judgement.liveness == Some(<Liveness>::AGE));
        self.unknown += u64::from(is_unknown);
        self.late += u64::from(judgement.late && !is_unknown);
    }

    /// One claim that is not late shows that its owner is not.
    pub(super) fn status(&self) -> &'static str {
        match (self.dead, self.unknown) {
            (dead, _) if dead == self.claims && self.by_age == dead => "silent",
            (dead, _) if dead == self.claims => "dead",
            (0, unknown) if unknown == self.claims => "unknown",
            (0, unknown) if self.late + unknown == self.claims => "late",
            (0, _) => "alive",
            _ => "mixed",
        }
    }
}

/// Counts a claim for its owner.
fn count(entry: &mut OwnerEntry, claim: &Claim, judgement: &Judgement) {
    entry.host = claim.owner.as_ref().and_then(|owner| owner.host.clone());
    entry.claims += 1;
    entry.stuck += u64::from(matches!(judgement.verdict, Verdict::Stuck(_)));
    entry.unknown += u64::from(matches!(judgement.verdict, Verdict::Unknown(_)));
    entry.last_seen_at = Timestamp::newest(entry.last_seen_at, judgement.last_seen_at);
    entry.queues.extend(claim.queue.clone());
    entry.liveness = entry.liveness.or(judgement.liveness);
}
