//! Groups stuck jobs by the fault that explains them, so that a person reads one line a fault. A guess: no action rests
//! on it.

mod concluded;
mod find;
mod holder;
mod inconsistency;

use super::finding::Finding;
use super::plan::PlannedActions;
use super::verdict::{Judgement, Rule, Verdict};
use crate::model::{Claim, Owner};
use crate::preset::{Jobs, Liveness};
pub use concluded::{Diagnosis, DiagnosisKind, Doubt, Grouped};
pub(super) use find::{of_jobs, queues};
pub(super) use holder::Tally;
use holder::{Holder, named};
pub use inconsistency::{Inconsistencies, Inconsistency};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most owners, and the most hosts, that are kept apart: those of a large fleet, in bounded memory.
const HOLDERS: usize = 10_000;
/// The most pairs of kind and queue that are kept apart, over all owners and hosts.
const PARTS: usize = 100_000;
/// A job that was lost so often before is lost again and again.
const AGAIN: i64 = 2;
/// So many such jobs are named; of more, the jobs are not what they have in common.
const NAMED: usize = 10;
/// The most causes of unknown claims that are told apart.
const UNJUDGED: usize = 1_000;

/// Takes in findings one by one, then how much each owner holds, and concludes what happened. It keeps counts, not
/// jobs, in bounded memory.
pub struct Diagnoses<'s> {
    jobs: &'s Jobs,
    owners: BTreeMap<String, Holder>,
    hosts: BTreeMap<String, Holder>,
    /// Claims that name no owner; all claims of a queue without owners.
    without_owner: Holder,
    no_claim_time: Tally,
    /// Jobs in trouble of a queue that shows no life, by kind.
    late: BTreeMap<Option<String>, Tally>,
    /// The first jobs that were lost again and again, and how many there are.
    again: Vec<(String, Option<String>, i64)>,
    lost_again: Tally,
    unjudged: BTreeMap<u64, Unjudged>,
    listed: u64,
    room: usize,
    /// There were too many owners or hosts to keep apart.
    overflowed: bool,
    /// Some owner holds no stuck or unknown claim.
    others: bool,
}

/// Unknown claims that lack the same.
struct Unjudged {
    what: DiagnosisKind,
    /// The host or else the owner whose clock it is.
    host: Option<String>,
    owner: Option<String>,
    /// Of the first of them by its id, whatever order the database reads in.
    finding: (String, Finding),
    tally: Tally,
}

/// Where a finding was counted, by which its diagnosis is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counted {
    /// It has nothing in common with others.
    #[default]
    Alone,
    /// With its owner and host.
    Held,
    /// With its owner and host, and among those that were lost again and again.
    Again,
    WithoutOwner,
    Missing,
    Restarted,
    Late,
    /// Among the unknown claims that lack the same, by its hash.
    Unjudged(u64),
}

impl<'s> Diagnoses<'s> {
    pub fn new(jobs: &'s Jobs) -> Diagnoses<'s> {
        Diagnoses {
            jobs,
            owners: BTreeMap::new(),
            hosts: BTreeMap::new(),
            without_owner: Holder::default(),
            no_claim_time: Tally::default(),
            late: BTreeMap::new(),
            again: Vec::new(),
            lost_again: Tally::default(),
            unjudged: BTreeMap::new(),
            listed: 0,
            room: PARTS,
            overflowed: false,
            others: false,
        }
    }

    /// Takes in a claim that is stuck or unknown, and says where it was counted. A claim that is not listed only counts
    /// toward whether its owner is alive. `would` is what a reclaim would do to it.
    pub fn add(&mut self, claim: &Claim, judgement: &Judgement, is_listed: bool, would: PlannedActions) -> Counted {
        let (jobs, one) = (self.jobs, Tally { would, ..of(claim, judgement) });
        let shows = |inconsistency: Inconsistency| inconsistency.is_shown_by(jobs, claim, judgement);
        if is_listed && shows(Inconsistency::NoClaimTime) {
            self.no_claim_time.add(&one);
        }
        let is_stuck = matches!(judgement.verdict, Verdict::Stuck(_));
        self.listed += u64::from(is_listed && is_stuck);
        let counted = match &judgement.verdict {
            _ if !is_listed => Counted::Alone,
            Verdict::Unknown(lacking) => self.unjudged(claim, lacking, &one),
            // Of a job that is too long in a state nothing else is known, where the queue shows no life.
            _ if !judgement.verdict.is_death() && jobs.liveness.is_empty() => Counted::Late,
            _ if claim.owner.is_none() => Counted::WithoutOwner,
            _ if jobs.are_interrupted() => Counted::Held,
            _ if shows(Inconsistency::OwnerMissing) => Counted::Missing,
            _ if shows(Inconsistency::OwnerRestarted) => Counted::Restarted,
            _ => self.held(claim, judgement, &one),
        };
        if counted == Counted::Late {
            self.late.entry(named(claim.kind.as_deref()).map(str::to_owned)).or_default().add(&one);
        }
        let Some(owner) = &claim.owner else {
            count(&mut self.without_owner, judgement);
            if counted == Counted::WithoutOwner {
                self.without_owner.add(claim, false, &one, &mut self.room);
            }
            return counted;
        };
        let mut take = |holder: &mut Holder| {
            count(holder, judgement);
            match counted {
                Counted::Missing => holder.missing.add(&one),
                Counted::Restarted => holder.restarted.add(&one),
                Counted::Held => holder.add(claim, false, &one, &mut self.room),
                Counted::Again => holder.add(claim, true, &one, &mut self.room),
                _ => {}
            }
        };
        let others = self.owners.len();
        match known(&mut self.owners, &owner.name) {
            Some(holder) => {
                holder.host.clone_from(&owner.host);
                take(holder);
            }
            None => self.overflowed = true,
        }
        let is_new = self.owners.len() > others;
        if let Some(host) = &owner.host {
            match known(&mut self.hosts, host) {
                Some(holder) => {
                    holder.owners += u64::from(is_new);
                    take(holder);
                }
                None => self.overflowed = true,
            }
        }
        counted
    }

    /// Counts a job that its owner holds, and names it if it was lost again and again.
    fn held(&mut self, claim: &Claim, judgement: &Judgement, one: &Tally) -> Counted {
        let Some(losses) = claim.stalls.filter(|losses| *losses >= AGAIN && judgement.verdict.is_death()) else {
            return Counted::Held;
        };
        self.lost_again.add(one);
        if self.again.len() < NAMED {
            self.again.push((claim.key.to_string(), named(claim.kind.as_deref()).map(str::to_owned), losses));
        }
        Counted::Again
    }

    /// Counts an unknown claim with those that lack the same.
    fn unjudged(&mut self, claim: &Claim, lacking: &[Finding], one: &Tally) -> Counted {
        let Some(finding) = lacking.first() else { return Counted::Alone };
        let what = match finding {
            finding if finding.is_of_zone() => DiagnosisKind::Zone,
            Finding::Ahead(..) => DiagnosisKind::Clock,
            _ => DiagnosisKind::Unjudged,
        };
        let owner = claim.owner.as_ref().filter(|_| what == DiagnosisKind::Clock);
        let host = owner.and_then(|owner| owner.host.as_ref());
        let owner = owner.filter(|_| host.is_none()).map(|owner| &owner.name);
        let mut hasher = DefaultHasher::new();
        (host, owner, std::mem::discriminant(finding)).hash(&mut hasher);
        let (hash, id) = (hasher.finish(), claim.key.to_string());
        if self.unjudged.len() >= UNJUDGED && !self.unjudged.contains_key(&hash) {
            return Counted::Alone;
        }
        let unjudged = self.unjudged.entry(hash).or_insert_with(|| {
            let (host, owner, finding) = (host.cloned(), owner.cloned(), (id.clone(), finding.clone()));
            Unjudged { what, host, owner, finding, tally: Tally::default() }
        });
        unjudged.tally.add(one);
        // Of clocks the one that is furthest ahead.
        let ahead = |finding: &Finding| if let Finding::Ahead(_, _, by, _) = finding { Some(*by) } else { None };
        if (Reverse(ahead(finding)), &id) < (Reverse(ahead(&unjudged.finding.1)), &unjudged.finding.0) {
            unjudged.finding = (id, finding.clone());
        }
        Counted::Unjudged(hash)
    }

    /// Takes in that this owner, or no owner, holds so many claims in flight, stuck or not. Call it after all findings;
    /// one owner may come in several parts.
    pub fn holds(&mut self, owner: Option<&Owner>, claims: u64) {
        let Some(owner) = owner else {
            self.without_owner.claims += claims;
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

fn count(holder: &mut Holder, judgement: &Judgement) {
    match &judgement.verdict {
        Verdict::Healthy => {}
        Verdict::Unknown(_) => holder.unknown += 1,
        Verdict::Stuck(_) if judgement.verdict.is_death() => holder.dead += 1,
        Verdict::Stuck(_) => holder.troubled += 1,
    }
    holder.has_signs |= judgement.liveness.is_some_and(|source| source != Liveness::AGE);
}

fn of(claim: &Claim, judgement: &Judgement) -> Tally {
    let by_age = match &judgement.verdict {
        Verdict::Stuck(reasons) => reasons.iter().all(|reason| reason.rule == Rule::ClaimAge),
        _ => false,
    };
    let claimed = claim.claimed_at.at();
    let mut hasher = DefaultHasher::new();
    if let Verdict::Stuck(reasons) = &judgement.verdict {
        reasons.iter().for_each(|reason| reason.rule.hash(&mut hasher));
    }
    Tally {
        rules: Some(hasher.finish()),
        are_mixed: false,
        jobs: 1,
        oldest: judgement.last_seen_at,
        newest: judgement.last_seen_at,
        first_claim: claimed,
        last_claim: claimed,
        by_age: u64::from(by_age),
        would: PlannedActions::default(),
    }
}
