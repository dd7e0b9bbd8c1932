//! What is likely to have happened: stuck jobs are grouped by the fault that explains them, so that a person reads one line
//! a fault. This is a guess for people; nothing is ever moved because of it.

mod find;
mod holder;
mod kind;
mod tally;
mod words;

pub use kind::{Diagnosis, DiagnosisKind};

use super::inconsistencies::Inconsistency;
use super::verdict::{Judgement, Rule, Verdict};
use crate::model::{Claim, Owner};
use crate::preset::QueueSpec;
use holder::Holder;
use std::collections::BTreeMap;
use tally::Tally;

/// Owners and hosts told apart, each: what one incident of a large fleet has, and no more memory than that.
const HOLDERS: usize = 10_000;
/// Kinds and queues told apart, over all owners and hosts.
const PARTS: usize = 100_000;

/// Takes findings in one by one, then who holds how much, and says what is likely to have happened. It keeps counts, not
/// jobs, and its memory has a bound.
pub struct Diagnoses<'s> {
    spec: &'s QueueSpec,
    owners: BTreeMap<String, Holder>,
    hosts: BTreeMap<String, Holder>,
    /// What names no owner, where the queue has owners; everything, where it has none.
    nobody: Holder,
    no_claim_time: Tally,
    /// Stuck jobs that are listed.
    listed: u64,
    room: usize,
    /// Some owner was one too many to be told apart.
    overflowed: bool,
    /// Somebody holds claims of which none is dead.
    others: bool,
}

/// The diagnoses, and how many stuck jobs are part of none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouped {
    /// Most jobs first.
    pub diagnoses: Vec<Diagnosis>,
    /// Stuck jobs that stand alone.
    pub alone: u64,
}

impl<'s> Diagnoses<'s> {
    /// Nothing yet.
    pub fn new(spec: &'s QueueSpec) -> Diagnoses<'s> {
        Diagnoses {
            spec,
            owners: BTreeMap::new(),
            hosts: BTreeMap::new(),
            nobody: Holder::default(),
            no_claim_time: Tally::default(),
            listed: 0,
            room: PARTS,
            overflowed: false,
            others: false,
        }
    }

    /// Takes in a claim that is stuck or unknown. One that is not listed counts for who is alive, and for nothing else.
    pub fn add(&mut self, claim: &Claim, judgement: &Judgement, is_listed: bool) {
        let spec = self.spec;
        let one = of(claim, judgement);
        let tells = |inconsistency: Inconsistency| inconsistency.is_shown_by(spec, claim, judgement);
        if is_listed && tells(Inconsistency::NoClaimTime) {
            self.no_claim_time.add(&one);
        }
        let is_stuck = matches!(judgement.verdict, Verdict::Stuck(_));
        let lists = is_listed && is_stuck;
        self.listed += u64::from(lists);
        let (kind, queue) = (claim.kind.as_deref(), claim.queue.as_deref());
        let Some(owner) = &claim.owner else {
            tell(&mut self.nobody, judgement);
            if lists {
                self.nobody.add(kind, queue, &one, &mut self.room);
            }
            return;
        };
        let (missing, restarted) = (tells(Inconsistency::OwnerMissing), tells(Inconsistency::OwnerRestarted));
        let mut take = |holder: &mut Holder| {
            tell(holder, judgement);
            match (lists, missing, restarted) {
                (false, _, _) => {}
                (true, true, _) => holder.missing.add(&one),
                (true, false, true) => holder.restarted.add(&one),
                (true, false, false) => holder.add(kind, queue, &one, &mut self.room),
            }
        };
        let is_new = !self.owners.contains_key(&owner.name);
        match known(&mut self.owners, &owner.name) {
            Some(holder) => {
                holder.host.clone_from(&owner.host);
                take(holder);
            }
            None => self.overflowed = true,
        }
        if let Some(host) = &owner.host {
            match known(&mut self.hosts, host) {
                Some(holder) => {
                    holder.owners += u64::from(is_new);
                    take(holder);
                }
                None => self.overflowed = true,
            }
        }
    }

    /// Takes in that this owner, or nobody, holds so many claims in flight: all of them, to be told after the findings. One
    /// owner may come in several parts.
    pub fn holds(&mut self, owner: Option<&Owner>, claims: u64) {
        let Some(owner) = owner else {
            self.nobody.claims += claims;
            return;
        };
        match self.owners.get_mut(&owner.name) {
            Some(holder) => holder.claims += claims,
            None => self.others = true,
        }
        if let Some(holder) = owner.host.as_ref().and_then(|host| self.hosts.get_mut(host)) {
            holder.claims += claims;
        }
    }
}

/// The holder of that name, a new one if there is room for it.
fn known<'h>(holders: &'h mut BTreeMap<String, Holder>, name: &str) -> Option<&'h mut Holder> {
    if !holders.contains_key(name) {
        if holders.len() >= HOLDERS {
            return None;
        }
        holders.insert(name.to_owned(), Holder::default());
    }
    holders.get_mut(name)
}

/// What a verdict says of whoever holds the claim.
fn tell(holder: &mut Holder, judgement: &Judgement) {
    match &judgement.verdict {
        Verdict::Healthy => {}
        Verdict::Unknown(_) => holder.unknown += 1,
        Verdict::Stuck(_) if judgement.verdict.is_death() => holder.dead += 1,
        Verdict::Stuck(_) => holder.troubled += 1,
    }
}

/// One job as a tally.
fn of(claim: &Claim, judgement: &Judgement) -> Tally {
    let by_age = match &judgement.verdict {
        Verdict::Stuck(reasons) => reasons.iter().all(|reason| reason.rule == Rule::ClaimAge),
        _ => false,
    };
    let claimed = claim.claimed_at.at();
    Tally {
        jobs: 1,
        oldest: judgement.last_seen_at,
        newest: judgement.last_seen_at,
        first_claim: claimed,
        last_claim: claimed,
        by_age: u64::from(by_age),
    }
}
