//! Tests whether times that nobody says the zone of are UTC, as which they are read.

use super::{Liveness, QueueSpec, TimeColumn};
use crate::model::{Claim, Clocks, FUTURE_TOLERANCE, OwnerRow, Reading, Timestamp};
use crate::preset::encoding::Said;
use std::collections::BTreeMap;
use std::time::Duration;

/// How old a value may be that shows UTC: the nearest zones are a quarter of an hour away.
const FRESH: Duration = Duration::from_secs(600);
/// No zone is further away.
const FURTHEST: Duration = Duration::from_secs(14 * 3600);

/// The newest time of each column in a snapshot, as it reads in UTC. Owners write the times of their claims, so that
/// each is tested by its own; a claim without an owner is tested by all.
#[derive(Debug, Clone, Default)]
pub struct UtcEvidence {
    newest: Newest,
    of_owners: BTreeMap<String, Newest>,
    /// When the newest of the newest jobs was created or finished, as a statement wrote it.
    history: Option<Timestamp>,
    /// True if a job was claimed before it was created: one of the two is not in UTC.
    is_contradicted: bool,
}

/// The newest time of each column, and whether that ends a lease. One may be written by the database and the next by a
/// worker in another zone.
type Newest = BTreeMap<(usize, bool), Timestamp>;

impl UtcEvidence {
    /// Adds a time of a claim in flight, in the column of that number.
    pub fn add(&mut self, owner: Option<&str>, column: (usize, bool), at: Timestamp) {
        let of_owner = owner.map(|owner| self.of_owners.entry(owner.to_owned()).or_default());
        for columns in of_owner.into_iter().chain([&mut self.newest]) {
            let newest = columns.entry(column).or_insert(at);
            *newest = Timestamp::newest(Some(*newest), Some(at)).unwrap_or(at);
        }
    }

    /// Adds what is read of one of the newest jobs.
    pub fn add_job(&mut self, spec: &QueueSpec, [created, finished, claimed]: [Option<Timestamp>; 3], now: Timestamp) {
        for (at, time) in [created, finished].into_iter().zip(spec.zoneless_history()) {
            let Some((at, time)) = at.zip(time) else { continue };
            if is_ahead(at, now) {
                self.newest.insert((usize::MAX, false), at);
            } else if !spec.filled.contains(&time.column.name) {
                self.history = Timestamp::newest(self.history, Some(at));
            }
        }
        self.is_contradicted |= created.zip(claimed).is_some_and(|(created, claimed)| is_ahead(created, claimed));
    }

    /// Whether the times of this owner, or of all, are shown to be UTC: in each column some are fresh, and none is
    /// ahead. Leases alone, which may end at any time, show nothing. For claims without an owner a job that was created
    /// or finished just now shows it, too.
    pub fn shows(&self, owner: Option<&str>, now: Timestamp) -> bool {
        let newest = owner.map_or(Some(&self.newest), |owner| self.of_owners.get(owner));
        let is_fresh = |at: Timestamp| !now.minus(FRESH).is_after(at, Clocks::One) && !is_ahead(at, now);
        let is_by_history = || {
            let none_is_ahead = !self.newest.values().any(|at| is_ahead(*at, now));
            owner.is_none() && none_is_ahead && !self.is_contradicted && self.history.is_some_and(is_fresh)
        };
        let are_fresh =
            |newest: &Newest| newest.keys().any(|(_, is_lease)| !is_lease) && newest.values().all(|at| is_fresh(*at));
        newest.is_some_and(are_fresh) || is_by_history()
    }
}

fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at.is_after(now.plus(FUTURE_TOLERANCE), Clocks::One)
}

impl QueueSpec {
    /// The time column of a verdict whose zone is the least certain, unless the zone of all is said.
    pub fn zone(&self) -> Option<(&TimeColumn, Said)> {
        let owner = self.owner.row.iter().flat_map(|row| row.heartbeat.iter().chain(&row.started));
        let of_claim = self.claim.claimed_at.iter().chain(self.liveness.iter().filter_map(Liveness::column));
        let times = of_claim.chain(owner).chain(&self.rules.deadline).map(|time| (time, time.encodings.said()));
        times.filter(|(_, said)| *said != Said::Surely).max_by_key(|(_, said)| *said)
    }

    /// The times of a verdict without a zone that no value shows: deadlines, and when an owner started.
    pub fn never_shown(&self) -> Option<&TimeColumn> {
        let started = self.owner.row.as_ref().and_then(|row| row.started.as_ref());
        started.into_iter().chain(&self.rules.deadline).find(|time| time.is_zoneless())
    }

    /// Moves the times of a claim that have no zone as far in the direction of life as a zone can; where these are
    /// shown to be UTC, only those that no value shows.
    pub fn move_to_furthest_zone(&self, claim: &mut Claim, are_shown: bool) {
        let later = |time: Option<&TimeColumn>, reading: &mut Reading| {
            if let (Some(true), Reading::At(at)) = (time.map(TimeColumn::is_zoneless), reading) {
                *at = at.plus(FURTHEST);
            }
        };
        let row = self.owner.row.as_ref();
        later(self.rules.deadline.as_ref(), &mut claim.deadline);
        if let OwnerRow::Present { started: Reading::At(at), .. } = &mut claim.owner_row
            && row.and_then(|row| row.started.as_ref()).is_some_and(TimeColumn::is_zoneless)
        {
            // The start of another process under the same name is death.
            *at = at.minus(FURTHEST);
        }
        if are_shown {
            return;
        }
        let beat = row.and_then(|row| row.heartbeat.as_ref());
        later(self.claim.claimed_at.as_ref(), &mut claim.claimed_at);
        let mut newest = beat;
        for (source, sign) in self.liveness.iter().zip(&mut claim.signs) {
            let of_owner = beat.filter(|_| matches!(source, Liveness::Owner { .. }));
            later(source.column().or(of_owner), &mut sign.at);
            if let Liveness::Heartbeat { column, .. } = source {
                newest = newest.filter(|newest| newest.is_zoneless()).or(Some(column));
            }
        }
        later(newest, &mut claim.heartbeat);
        if let OwnerRow::Present { heartbeat, .. } = &mut claim.owner_row {
            later(beat, heartbeat);
        }
    }

    /// The columns of the jobs' own table that tell when a job was created, finished and claimed, where these times
    /// have no zone.
    pub fn zoneless_history(&self) -> [Option<&TimeColumn>; 3] {
        let finished = self.finished.kept().map(|runs| &runs.at);
        let times = [self.claim.created_at.as_ref(), finished, self.claim.claimed_at.as_ref()];
        times.map(|time| time.filter(|time| time.is_zoneless() && time.column.alias == self.claim.lock))
    }
}

impl TimeColumn {
    fn is_zoneless(&self) -> bool {
        self.encodings.said() == Said::ByNobody
    }
}
