//! Tests whether times that nobody says the zone of are UTC, as which they are read.

use super::{Finished, Liveness, QueueSpec, TimeColumn};
use crate::model::{Claim, Clocks, FUTURE_TOLERANCE, OwnerRow, Reading, Timestamp};
use crate::preset::encoding::Said;
use std::collections::BTreeMap;
use std::time::Duration;

/// How old a value may be that shows UTC: the nearest zones are a quarter of an hour away.
const FRESH: Duration = Duration::from_secs(600);
/// No zone is further away.
const FURTHEST: Duration = Duration::from_secs(14 * 3600);

/// The newest times of a snapshot, as they read in UTC. Owners write the times of their claims, so that each is tested by its own; a
/// claim without an owner is tested by all.
#[derive(Debug, Clone, Default)]
pub struct UtcEvidence {
    newest: Option<Timestamp>,
    of_owners: BTreeMap<String, Option<Timestamp>>,
}

impl UtcEvidence {
    /// Adds when a job was created, claimed, alive or finished.
    pub fn add(&mut self, owner: Option<&str>, at: Timestamp) {
        let of_owner = owner.map(|owner| self.of_owners.entry(owner.to_owned()).or_default());
        for newest in of_owner.into_iter().chain([&mut self.newest]) {
            *newest = Timestamp::newest(*newest, Some(at));
        }
    }

    /// Whether the times of this owner, or of all, are shown to be UTC: some are fresh, and none is ahead.
    pub fn shows(&self, owner: Option<&str>, now: Timestamp) -> bool {
        let newest = owner.map_or(self.newest, |owner| self.of_owners.get(owner).copied().flatten());
        let is_fresh = |at: Timestamp| !now.minus(FRESH).is_after(at, Clocks::One);
        newest.is_some_and(|at| is_fresh(at) && !at.is_after(now.plus(FUTURE_TOLERANCE), Clocks::One))
    }
}

impl QueueSpec {
    /// The time column of a verdict whose zone is the least certain, unless the zone of all is said.
    pub fn zone(&self) -> Option<(&TimeColumn, Said)> {
        let owner = self.owner.row.iter().flat_map(|row| row.heartbeat.iter().chain(&row.started));
        let of_claim = self.claim.claimed_at.iter().chain(self.liveness.iter().filter_map(Liveness::column));
        let times = of_claim.chain(owner).chain(&self.rules.deadline).map(|time| (time, time.encodings.said()));
        times.filter(|(_, said)| *said != Said::Surely).max_by_key(|(_, said)| *said)
    }

    /// Moves the times of a claim that nobody says the zone of as far in the direction of life as a zone can. Returns since when
    /// it was claimed and when it was alive, as that read before.
    pub fn move_to_furthest_zone(&self, claim: &mut Claim) -> Vec<Timestamp> {
        let mut past = Vec::new();
        let mut later = |time: Option<&TimeColumn>, reading: &mut Reading, is_past: bool| {
            if let (Some(true), Reading::At(at)) = (time.map(TimeColumn::is_zoneless), reading) {
                past.extend(is_past.then_some(*at));
                *at = at.plus(FURTHEST);
            }
        };
        let row = self.owner.row.as_ref();
        let beat = row.and_then(|row| row.heartbeat.as_ref());
        later(self.claim.claimed_at.as_ref(), &mut claim.claimed_at, !self.waits);
        later(self.rules.deadline.as_ref(), &mut claim.deadline, false);
        let mut newest = beat;
        for (source, sign) in self.liveness.iter().zip(&mut claim.signs) {
            let of_owner = beat.filter(|_| matches!(source, Liveness::Owner { .. }));
            later(source.column().or(of_owner), &mut sign.at, !matches!(source, Liveness::Lease { .. }));
            if let Liveness::Heartbeat { column, .. } = source {
                newest = newest.filter(|newest| newest.is_zoneless()).or(Some(column));
            }
        }
        later(newest, &mut claim.heartbeat, false);
        if let OwnerRow::Present { heartbeat, started } = &mut claim.owner_row {
            later(beat, heartbeat, true);
            // The start of another process under the same name is death.
            if let (Some(_), Reading::At(at)) =
                (row.and_then(|row| row.started.as_ref()).filter(|time| time.is_zoneless()), started)
            {
                *at = at.minus(FURTHEST);
            }
        }
        past
    }

    /// The columns of the jobs' own table that tell when a job was created or finished, where nobody says their zone.
    pub fn zoneless_history(&self) -> Vec<&TimeColumn> {
        let finished = if let Finished::Kept(runs) = &self.finished { Some(&runs.at) } else { None };
        let times = self.claim.created_at.iter().chain(finished);
        times.filter(|time| time.is_zoneless() && time.column.alias == self.claim.lock).collect()
    }
}

impl TimeColumn {
    fn is_zoneless(&self) -> bool {
        self.encodings.said() == Said::ByNobody
    }
}
