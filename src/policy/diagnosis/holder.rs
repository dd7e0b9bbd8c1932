//! Counts of the claims that one owner or host holds.

use crate::model::{Claim, Timestamp};
use crate::policy::PlannedActions;

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
    pub missing: Tally,
    /// Those that are older than their owner.
    pub restarted: Tally,
    /// How many owners a host has among those who hold something stuck.
    pub owners: u64,
}

/// The kind that a job names. The reference schema has an empty one where the application says none.
pub fn named(kind: Option<&str>) -> Option<&str> {
    kind.filter(|kind| !kind.is_empty())
}

/// Jobs of one kind in one queue.
#[derive(Debug, Clone)]
pub struct Part {
    pub kind: Option<String>,
    pub queue: Option<String>,
    /// Jobs that were lost again and again.
    pub again: bool,
    pub tally: Tally,
}

impl Holder {
    /// Takes in a listed job. `room` is how many more pairs of kind and queue may be kept apart in all.
    pub fn add(&mut self, claim: &Claim, again: bool, tally: &Tally, room: &mut usize) {
        let kind = named(claim.kind.as_deref()).map(str::to_owned);
        let known = |part: &Part| part.kind == kind && part.queue == claim.queue && part.again == again;
        let at = match self.parts.iter().position(known) {
            Some(at) => at,
            None if self.parts.len() < PARTS && *room > 0 => {
                *room -= 1;
                self.parts.push(Part { kind, queue: claim.queue.clone(), again, tally: Tally::default() });
                self.parts.len() - 1
            }
            None => {
                let rest = |part: &Part| part.kind.is_none() && part.queue.is_none() && part.again == again;
                self.parts.iter().position(rest).unwrap_or_else(|| {
                    self.parts.push(Part { kind: None, queue: None, again, tally: Tally::default() });
                    self.parts.len() - 1
                })
            }
        };
        if let Some(part) = self.parts.get_mut(at) {
            part.tally.add(tally);
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
    pub rules: Option<u64>,
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
