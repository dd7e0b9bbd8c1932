//! Groups stuck jobs by the fault that explains them, so that a person reads one line a fault. A guess: no action rests
//! on it.

mod find;
mod holder;

use super::finding::Finding;
use super::plan::PlannedActions;
use super::verdict::{Judgement, Rule, Verdict};
use super::waiting::Flow;
use crate::model::{Claim, Owner, OwnerRow, Timestamp};
use crate::preset::{Liveness, QueueSpec};
pub(super) use find::{of_jobs, queues};
use holder::Holder;
pub(super) use holder::Tally;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
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
    spec: &'s QueueSpec,
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

/// What is likely to have happened to several jobs at once, or how their ownership data contradicts itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// `all_silent` (everything in flight went silent within minutes), `vanished` (hosts or owners of which every claim
    /// is dead, silent since the same minute), `one_by_one` (the same at different times, each with one job), `silent` (dead by age alone, or with claims that cannot be judged), `hangs` (stuck jobs of owners that
    /// hold healthy ones or show life); and inconsistencies: `no_owner`, `owner_missing`, `owner_restarted`,
    /// `no_claim_time`; `lost_again` (jobs that were lost twice before or more often). A stuck job is part of one
    /// diagnosis at most, but for `no_claim_time`. Of unknown claims: `clock` (one is ahead), `zone` (times may not be in
    /// UTC), `unjudged` (something else is missing). Of jobs that are due: `stands_still` (workers take none), `busy`
    /// (their workers hold healthy claims), `paused`, and `not_staged` (what makes scheduled jobs available does not).
    /// `interrupted`: jobs that their library failed because their worker died. And `locks`: a transaction that holds locks on the queue's tables for long.
    #[serde(rename = "diagnosis")]
    #[schemars(with = "String")]
    pub what: DiagnosisKind,
    /// The queue, if it is about due jobs of one.
    pub queue: Option<String>,
    /// Why due jobs wait: `no_worker`, `all_stuck`, `stands_still` (the tables do not show why), `paused` or `busy`.
    #[serde(rename = "why")]
    #[schemars(with = "Option<String>")]
    pub flow: Option<Flow>,
    /// Who moves scheduled jobs on.
    #[serde(skip)]
    pub by: Option<String>,
    /// The host, if it is about one.
    pub host: Option<String>,
    /// The owner, if it is about one.
    pub owner: Option<String>,
    /// The kind of work, if it is about one.
    pub kind: Option<String>,
    /// The jobs that it names: all that were lost again and again, the first that cannot be judged.
    pub ids: Vec<String>,
    /// When it began: the last sign of life of the first that went; of what hangs the first claim; of an inconsistency
    /// the oldest sign; of due jobs since when the oldest waits; of interrupted ones when the first failed.
    #[serde(rename = "since_at")]
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// When it was complete: the last sign of life of the last that went; of what hangs the last claim; of an
    /// inconsistency the newest; of due jobs when the last job was taken, as far as that shows.
    #[serde(rename = "until_at")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// The stuck jobs that it explains, whatever the limit; for `no_claim_time` also unknown ones; the unknown or the due
    /// jobs of the others.
    pub jobs: u64,
    /// What a reclaim would do to these jobs; null of due ones.
    pub would: Option<PlannedActions>,
    /// What a run did to them; null before it.
    pub done: Option<PlannedActions>,
    /// Their hosts; null where owners name none.
    pub hosts: Option<u64>,
    /// Their owners; null where there are none, or too many to count.
    pub owners: Option<u64>,
    /// The holders that are gone: hosts and owners, sorted by name.
    #[serde(skip)]
    pub names: Vec<String>,
    /// How many of these names are hosts.
    #[serde(skip)]
    pub named_hosts: usize,
    /// Jobs by queue, most first; empty where that is not counted.
    #[serde(skip)]
    pub queues: Vec<(Option<String>, u64)>,
    #[serde(skip)]
    pub doubt: Option<Doubt>,
    /// What unknown claims lack, as the first of them says it, and its hash.
    #[serde(skip)]
    pub(crate) lacks: Option<(u64, Finding)>,
    /// How often each of the named jobs was lost before.
    #[serde(skip)]
    pub losses: Vec<i64>,
    /// True if all of its jobs have the same rules.
    #[serde(skip)]
    pub alike: bool,
    /// All claims of a living owner, of which some hang; of the queues of due jobs.
    #[serde(skip)]
    pub claims: u64,
}

/// The kind of a [`Diagnosis`], which says what each means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosisKind {
    #[default]
    AllSilent,
    Vanished,
    OneByOne,
    Silent,
    Hangs,
    NoOwner,
    OwnerMissing,
    OwnerRestarted,
    NoClaimTime,
    LostAgain,
    Clock,
    Zone,
    Unjudged,
    StandsStill,
    Busy,
    Paused,
    NotStaged,
    Interrupted,
    Locks,
}

impl fmt::Display for DiagnosisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl DiagnosisKind {
    /// True if it is about jobs that are due, not about claims.
    pub fn is_of_due_jobs(self) -> bool {
        use DiagnosisKind::{Busy, NotStaged, Paused, StandsStill};
        matches!(self, StandsStill | Busy | Paused | NotStaged)
    }

    /// True if it is about claims whose verdict is unknown.
    pub fn is_of_unknown_claims(self) -> bool {
        matches!(self, DiagnosisKind::Clock | DiagnosisKind::Zone | DiagnosisKind::Unjudged)
    }
}

impl Diagnosis {
    /// How well it explains a finding that was counted there: 0 best, `None` not at all.
    pub fn explains(
        &self,
        counted: Counted,
        host: Option<&str>,
        owner: Option<&str>,
        kind: Option<&str>,
    ) -> Option<u8> {
        use Counted::{Again, Held, Late, Missing, Restarted, WithoutOwner};
        use DiagnosisKind::{
            AllSilent, Hangs, Interrupted, LostAgain, NoOwner, OneByOne, OwnerMissing, OwnerRestarted, Silent, Vanished,
        };
        let names = |name: Option<&str>| {
            name.is_some_and(|name| self.names.binary_search_by(|gone| gone.as_str().cmp(name)).is_ok())
        };
        let is_of_kind = self.kind.as_deref() == kind;
        let (rank, fits) = match (counted, self.what) {
            (Again, LostAgain) | (WithoutOwner, NoOwner) | (Missing, OwnerMissing) | (Restarted, OwnerRestarted) => {
                (0, true)
            }
            (Counted::Unjudged(hash), _) => (0, self.lacks.as_ref().is_some_and(|(lacks, _)| *lacks == hash)),
            // Those that were lost again and again are among their holders' where they are too many to name.
            (Held | Again, Vanished | OneByOne | Silent | Interrupted) => (1, names(owner) || names(host)),
            (Held | Again, Hangs) if self.owner.is_some() => (3, self.owner.as_deref() == owner),
            (Held | Again, Hangs) => (2, self.owners.is_some() && is_of_kind),
            (WithoutOwner, Silent | Interrupted) => (1, self.names.is_empty() && is_of_kind),
            (Late, Hangs) => (1, self.owners.is_none() && is_of_kind),
            (Held | Again | WithoutOwner, AllSilent) => (4, true),
            _ => (0, false),
        };
        fits.then_some(rank)
    }
}

/// A contradiction in the ownership data of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inconsistency {
    NoOwner,
    /// Its owner has no row, where owners have one.
    OwnerMissing,
    /// Its owner started after the claim was made: it is another process under the same name.
    OwnerRestarted,
    NoClaimTime,
}

impl Inconsistency {
    pub const ALL: [Inconsistency; 4] = [
        Inconsistency::NoOwner,
        Inconsistency::OwnerMissing,
        Inconsistency::OwnerRestarted,
        Inconsistency::NoClaimTime,
    ];

    pub fn is_shown_by(self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement) -> bool {
        match self {
            Inconsistency::NoOwner => spec.owner.id.is_some() && claim.owner.is_none(),
            Inconsistency::OwnerMissing => claim.owner_row == OwnerRow::Missing,
            Inconsistency::OwnerRestarted => matches!(&judgement.verdict, Verdict::Stuck(reasons)
                if reasons.iter().any(|reason| reason.rule == Rule::OwnerRestarted)),
            Inconsistency::NoClaimTime => spec.claim.claimed_at.is_some() && claim.claimed_at.at().is_none(),
        }
    }
}

/// How many claims have which inconsistency; a claim may have several.
#[derive(Debug, Clone, Default)]
pub struct Inconsistencies([u64; 4]);

impl Inconsistencies {
    pub fn note(&mut self, spec: &QueueSpec, claim: &Claim, judgement: &Judgement) {
        for (count, inconsistency) in self.0.iter_mut().zip(Inconsistency::ALL) {
            *count += u64::from(inconsistency.is_shown_by(spec, claim, judgement));
        }
    }

    /// The inconsistencies that some claim has, with how many claims have each.
    pub fn found(&self) -> impl Iterator<Item = (Inconsistency, u64)> {
        Inconsistency::ALL.into_iter().zip(self.0).filter(|(_, claims)| *claims > 0)
    }
}

/// Why a diagnosis is in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Some of what the holder has is unknown.
    PartlyUnknown,
    /// The jobs are judged by age alone, so slow ones look dead.
    ByAge,
    /// Of an owner that holds other jobs nothing shows life: they are merely younger.
    NoSignOfLife,
}

/// The diagnoses, and how many stuck jobs are part of none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouped {
    /// In no particular order, but always the same one.
    pub diagnoses: Vec<Diagnosis>,
    pub alone: u64,
    /// Owners of stuck jobs that show no life.
    pub silent_owners: u64,
}

impl<'s> Diagnoses<'s> {
    pub fn new(spec: &'s QueueSpec) -> Diagnoses<'s> {
        Diagnoses {
            spec,
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
        let (spec, one) = (self.spec, Tally { would, ..of(claim, judgement) });
        let shows = |inconsistency: Inconsistency| inconsistency.is_shown_by(spec, claim, judgement);
        if is_listed && shows(Inconsistency::NoClaimTime) {
            self.no_claim_time.add(&one);
        }
        let is_stuck = matches!(judgement.verdict, Verdict::Stuck(_));
        self.listed += u64::from(is_listed && is_stuck);
        let counted = match &judgement.verdict {
            _ if !is_listed => Counted::Alone,
            Verdict::Unknown(lacking) => self.unjudged(claim, lacking, &one),
            // Of a job that is too long in a state nothing else is known, where the queue shows no life.
            _ if !judgement.verdict.is_death() && spec.liveness.is_empty() => Counted::Late,
            _ if claim.owner.is_none() => Counted::WithoutOwner,
            _ if spec.interrupted.is_some() => Counted::Held,
            _ if shows(Inconsistency::OwnerMissing) => Counted::Missing,
            _ if shows(Inconsistency::OwnerRestarted) => Counted::Restarted,
            _ => self.held(claim, judgement, &one),
        };
        if counted == Counted::Late {
            self.late.entry(claim.kind.clone()).or_default().add(&one);
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
            self.again.push((claim.key.to_string(), claim.kind.clone(), losses));
        }
        Counted::Again
    }

    /// Counts an unknown claim with those that lack the same.
    fn unjudged(&mut self, claim: &Claim, lacking: &[Finding], one: &Tally) -> Counted {
        let Some(finding) = lacking.first() else { return Counted::Alone };
        let what = match finding {
            Finding::Ahead(..) => DiagnosisKind::Clock,
            Finding::IfUtc(..) => DiagnosisKind::Zone,
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
