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
use crate::preset::Jobs;
pub use concluded::{Diagnosis, DiagnosisKind, Doubt, Flow, Grouped, Next, UnfamiliarStates};
pub(super) use find::{of_jobs, queues};
pub use holder::Group;
pub(super) use holder::Tally;
use holder::{Holder, Part, named};
pub use inconsistency::{Inconsistencies, Inconsistency};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most owners, and the most hosts, that are kept apart: those of a large fleet, in bounded memory.
const HOLDERS: usize = 10_000;
/// The most pairs of kind and queue, and groups of them, that are kept apart, over all owners and hosts.
const PARTS: usize = 200_000;
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
    late: BTreeMap<Option<String>, Part>,
    /// The first jobs that were lost again and again, and how many there are.
    again: Vec<(String, Option<String>, i64)>,
    lost_again: Part,
    unjudged: BTreeMap<Group, Unjudged>,
    listed: u64,
    room: usize,
    /// There were too many owners or hosts to keep apart.
    overflowed: bool,
    /// Some owner holds no stuck or unknown claim.
    others: bool,
}

/// Unknown claims that lack the same.
struct Unjudged {
    /// The host or else the owner whose clock it is.
    host: Option<String>,
    owner: Option<String>,
    /// Of the first of them by its id, whatever order the database reads in.
    finding: (String, Finding),
    tally: Tally,
}

/// How a listed job is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Counted {
    /// With its owner and host.
    Held,
    /// With its owner and host, and among those that were lost again and again.
    Again,
    WithoutOwner,
    Missing,
    Restarted,
    Late,
    Unknown,
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
            lost_again: Part::default(),
            unjudged: BTreeMap::new(),
            listed: 0,
            room: PARTS,
            overflowed: false,
            others: false,
        }
    }

    /// Takes in a claim that is stuck or unknown, and returns its group, by which its diagnosis is found. A claim that is
    /// not listed has none: it only counts toward whether its owner is alive. `would` is what a reclaim would do to it.
    pub fn add(
        &mut self,
        claim: &Claim,
        judgement: &Judgement,
        is_listed: bool,
        would: PlannedActions,
    ) -> Option<Group> {
        let tally = Tally { would, ..of(claim, judgement) };
        if is_listed && Inconsistency::NoClaimTime.is_shown_by(self.jobs, claim, judgement) {
            self.no_claim_time.add(&tally);
        }
        self.listed += u64::from(is_listed && matches!(judgement.verdict, Verdict::Stuck(_)));
        let [owner, host] = self.count(claim, judgement);
        let counted = is_listed.then(|| self.counted(claim, judgement))?;
        let kind = named(claim.kind.as_deref());
        let (holder, of_kind) = match counted {
            Counted::Missing | Counted::Restarted => (None, None),
            // Beyond the owners that are kept apart, jobs are grouped by their host.
            Counted::Held | Counted::Again => (owner.or(host), kind),
            _ => (None, kind),
        };
        let group = Group::of((self.jobs.are_interrupted(), counted, holder, of_kind));
        let (kind, again, groups) = (kind.map(str::to_owned), counted == Counted::Again, BTreeSet::from([group]));
        let one = Part { kind, queue: claim.queue.clone(), again, groups, tally };
        match counted {
            Counted::Unknown => return self.unjudged(claim, judgement, &one.tally),
            Counted::Late => self.late.entry(one.kind.clone()).or_default().add(&one, &mut self.room),
            Counted::WithoutOwner => self.without_owner.add(&one, &mut self.room),
            Counted::Again => {
                self.lost_again.add(&one, &mut self.room);
                let losses = claim.stalls.filter(|_| self.again.len() < NAMED);
                self.again.extend(losses.map(|losses| (claim.key.to_string(), one.kind.clone(), losses)));
            }
            Counted::Held | Counted::Missing | Counted::Restarted => {}
        }
        let owner = owner.and_then(|name| self.owners.get_mut(name));
        for holder in owner.into_iter().chain(host.and_then(|name| self.hosts.get_mut(name))) {
            match counted {
                Counted::Missing => holder.missing.add(&one, &mut self.room),
                Counted::Restarted => holder.restarted.add(&one, &mut self.room),
                Counted::Held | Counted::Again => holder.add(&one, &mut self.room),
                _ => {}
            }
        }
        Some(group)
    }

    /// Counts a claim with its owner and its host, and returns the names of these, as far as there is room for them.
    fn count<'c>(&mut self, claim: &'c Claim, judgement: &Judgement) -> [Option<&'c str>; 2] {
        let Some(owner) = &claim.owner else {
            self.without_owner.count(judgement);
            return [None, None];
        };
        let others = self.owners.len();
        let known_owner = known(&mut self.owners, &owner.name).map(|holder| {
            holder.host.clone_from(&owner.host);
            holder.count(judgement);
            owner.name.as_str()
        });
        let is_new = self.owners.len() > others;
        let known_host = owner.host.as_ref().and_then(|host| {
            let holder = known(&mut self.hosts, host)?;
            holder.owners += u64::from(is_new);
            holder.count(judgement);
            Some(host.as_str())
        });
        self.overflowed |= known_owner.is_none() || known_host.is_some() != owner.host.is_some();
        [known_owner, known_host]
    }

    fn counted(&self, claim: &Claim, judgement: &Judgement) -> Counted {
        let shows = |inconsistency: Inconsistency| inconsistency.is_shown_by(self.jobs, claim, judgement);
        let is_death = judgement.verdict.is_death();
        match &judgement.verdict {
            Verdict::Unknown(_) => Counted::Unknown,
            // Of a job that is too long in a state nothing else is known, where the queue shows no life.
            _ if !is_death && self.jobs.liveness.is_empty() => Counted::Late,
            _ if claim.owner.is_none() => Counted::WithoutOwner,
            _ if self.jobs.are_interrupted() => Counted::Held,
            _ if shows(Inconsistency::OwnerMissing) => Counted::Missing,
            _ if shows(Inconsistency::OwnerRestarted) => Counted::Restarted,
            _ if is_death && claim.stalls.is_some_and(|losses| losses >= AGAIN) => Counted::Again,
            _ => Counted::Held,
        }
    }

    /// Counts an unknown claim with those that lack the same.
    fn unjudged(&mut self, claim: &Claim, judgement: &Judgement, one: &Tally) -> Option<Group> {
        let Verdict::Unknown(lacking) = &judgement.verdict else { return None };
        let finding = lacking.first()?;
        let owner = claim.owner.as_ref().filter(|_| matches!(DiagnosisKind::lacking(finding), DiagnosisKind::Clock(_)));
        let host = owner.and_then(|owner| owner.host.as_ref());
        let owner = owner.filter(|_| host.is_none()).map(|owner| &owner.name);
        let group = Group::of((host, owner, std::mem::discriminant(finding)));
        if self.unjudged.len() >= UNJUDGED && !self.unjudged.contains_key(&group) {
            return None;
        }
        let id = claim.key.to_string();
        let unjudged = self.unjudged.entry(group).or_insert_with(|| {
            let (host, owner, finding) = (host.cloned(), owner.cloned(), (id.clone(), finding.clone()));
            Unjudged { host, owner, finding, tally: Tally::default() }
        });
        unjudged.tally.add(one);
        // Of clocks the one that is furthest ahead.
        let ahead = |finding: &Finding| if let Finding::Ahead(_, _, by, _) = finding { Some(*by) } else { None };
        if (Reverse(ahead(finding)), &id) < (Reverse(ahead(&unjudged.finding.1)), &unjudged.finding.0) {
            unjudged.finding = (id, finding.clone());
        }
        Some(group)
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

fn of(claim: &Claim, judgement: &Judgement) -> Tally {
    let rules: Vec<Rule> = judgement.verdict.reasons().iter().map(|reason| reason.rule).collect();
    let by_age = !rules.is_empty() && rules.iter().all(|rule| *rule == Rule::ClaimAge);
    let claimed = claim.claimed_at.at();
    Tally {
        jobs: 1,
        oldest: judgement.last_seen_at,
        newest: judgement.last_seen_at,
        first_claim: claimed,
        last_claim: claimed,
        by_age: u64::from(by_age),
        rules: Some(Group::of(rules)),
        ..Tally::default()
    }
}
