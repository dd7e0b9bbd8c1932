//! Counts of the claims that one owner or host holds.

use crate::model::Timestamp;
use crate::policy::PlannedActions;
use crate::policy::verdict::{Judgement, Verdict};
use crate::preset::Liveness;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most pairs of kind and queue that one holder keeps apart; further ones are counted together.
const PARTS: usize = 64;

/// What an owner, a host with all of its owners, or no owner at all holds in flight, and what of it is stuck.
#[derive(Debug, Clone, Default)]
pub struct Holder {
    pub host: Option<String>,
    pub claims: u64,
    /// Of them dead, listed or not.
    pub dead: u64,
    /// Of them unknown, listed or not.
    pub unknown: u64,
    /// Of them in trouble while their owner shows life.
    pub troubled: u64,
    /// Some claim was judged by more than its age.
    pub has_signs: bool,
    /// The stuck ones that are listed, by kind and queue, without those whose ownership data contradicts itself.
    pub parts: Vec<Part>,
    /// Those whose owner has no row.
    pub missing: Part,
    /// Those that are older than their owner.
    pub restarted: Part,
    /// How many owners a host has among those who hold something stuck.
    pub owners: u64,
}

/// The kind that a job names. The reference schema has an empty one where the application says none.
pub fn named(kind: Option<&str>) -> Option<&str> {
    kind.filter(|kind| !kind.is_empty())
}

/// What jobs have in common that one diagnosis explains: a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(u64);

impl Group {
    pub fn of(common: impl Hash) -> Group {
        let mut hasher = DefaultHasher::new();
        common.hash(&mut hasher);
        Group(hasher.finish())
    }
}

/// Jobs of one kind in one queue.
#[derive(Debug, Clone, Default)]
pub struct Part {
    pub kind: Option<String>,
    pub queue: Option<String>,
    /// Jobs that were lost again and again.
    pub again: bool,
    pub groups: BTreeSet<Group>,
    pub tally: Tally,
}

impl Part {
    pub fn add(&mut self, other: &Part, room: &mut usize) {
        self.tally.add(&other.tally);
        for group in &other.groups {
            if *room > 0 && self.groups.insert(*group) {
                *room -= 1;
            }
        }
    }
}

impl Holder {
    /// Counts a claim, listed or not.
    pub fn count(&mut self, judgement: &Judgement) {
        match &judgement.verdict {
            Verdict::Healthy => {}
            Verdict::Unknown(_) => self.unknown += 1,
            Verdict::Stuck(_) if judgement.verdict.is_death() => self.dead += 1,
            Verdict::Stuck(_) => self.troubled += 1,
        }
        self.has_signs |= judgement.liveness.is_some_and(|source| source != Liveness::AGE);
    }

    /// Takes in a listed job, a part of its own. `room` is how many more parts and groups may be kept apart in all.
    pub fn add(&mut self, one: &Part, room: &mut usize) {
        let is_alike = |part: &&mut Part| (&part.kind, &part.queue, part.again) == (&one.kind, &one.queue, one.again);
        let is_rest = |part: &&mut Part| part.kind.is_none() && part.queue.is_none() && part.again == one.again;
        let has_room = self.parts.len() < PARTS && *room > 0;
        if let Some(part) = self.parts.iter_mut().find(is_alike) {
            part.add(one, room);
        } else if has_room {
            *room -= 1;
            self.parts.push(one.clone());
        } else if let Some(part) = self.parts.iter_mut().find(is_rest) {
            part.add(one, room);
        } else {
            self.parts.push(Part { kind: None, queue: None, ..one.clone() });
        }
    }

    pub fn tally(&self) -> Tally {
        Tally::of(self.parts.iter().map(|part| &part.tally))
    }

    /// True if nothing that it holds shows life; some of it may be unknown.
    pub fn is_silent(&self) -> bool {
        self.dead > 0 && self.troubled == 0 && self.claims > 0 && self.dead + self.unknown >= self.claims
    }

    /// True if every claim it holds is dead, and not for its age alone.
    pub fn is_surely_gone(&self) -> bool {
        let tally = self.tally();
        self.is_silent() && self.unknown == 0 && tally.by_age < tally.jobs
    }
}

/// A number of jobs, and the bounds of their times.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub jobs: u64,
    /// The oldest of their last signs of life.
    pub oldest: Option<Timestamp>,
    /// The newest of their last signs of life.
    pub newest: Option<Timestamp>,
    pub first_claim: Option<Timestamp>,
    pub last_claim: Option<Timestamp>,
    /// How many are dead by age alone.
    pub by_age: u64,
    /// What a reclaim would do to them, where that was asked.
    pub would: PlannedActions,
    /// The rules of one of them, as a hash, and whether others have others.
    pub rules: Option<Group>,
    pub are_mixed: bool,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.jobs += other.jobs;
        self.oldest = Timestamp::oldest(self.oldest, other.oldest);
        self.newest = Timestamp::newest(self.newest, other.newest);
        self.first_claim = Timestamp::oldest(self.first_claim, other.first_claim);
        self.last_claim = Timestamp::newest(self.last_claim, other.last_claim);
        self.by_age += other.by_age;
        self.would.add(other.would);
        self.are_mixed |= other.are_mixed || self.rules.zip(other.rules).is_some_and(|(one, other)| one != other);
        self.rules = self.rules.or(other.rules);
    }

    pub fn of<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
        tallies.fold(Tally::default(), |mut sum, tally| {
            sum.add(tally);
            sum
        })
    }
}
