//! Says which times of a queue are in a zone that is not known, and what such a time proves in whatever zone it is.

use super::{Jobs, Liveness, TimeColumn};
use crate::model::{Claim, Clocks, FUTURE_TOLERANCE, OwnerRow, Reading, Timestamp};
use crate::preset::encoding::{Encoding, Said};
use std::cmp::Reverse;
use std::time::Duration;

/// How old a value may be that shows UTC: the nearest zones are a quarter of an hour away.
const FRESH: Duration = Duration::from_secs(600);
/// The offsets of all zones are multiples of this.
const QUARTER: Duration = Duration::from_secs(900);
/// No zone is further west of UTC (Etc/GMT+12): read as UTC, a time looks older by this at most.
const FURTHEST_WEST: Duration = Duration::from_secs(12 * 3600);
/// No zone is further east of UTC (Etc/GMT-14): read as UTC, a time lies ahead by this at most.
pub const FURTHEST_EAST: Duration = Duration::from_secs(14 * 3600);

impl Jobs {
    /// The time column of a verdict whose zone is the least certain, unless the zone of all is declared.
    pub fn zone(&self) -> Option<(&TimeColumn, Said)> {
        let owner = self.owner.row.iter().flat_map(|row| row.heartbeat.iter().chain(&row.started));
        let of_claim = self.claim.claimed_at.iter().chain(self.liveness.iter().filter_map(Liveness::column));
        let times = of_claim.chain(owner).chain(&self.rules.deadline).map(|time| (time, time.encodings.said()));
        times.filter(|(_, said)| *said != Said::Surely).min_by_key(|(_, said)| Reverse(*said))
    }

    /// The time column of a verdict whose zone is not known in this snapshot, if there is one.
    pub fn unknown_zone(&self) -> Option<&TimeColumn> {
        self.zone().map(|(time, _)| time).filter(|time| self.has_unknown_zone(time))
    }

    /// True if a time is read as UTC although neither a declaration nor a fresh value says that it is.
    pub fn has_unknown_zone(&self, time: &TimeColumn) -> bool {
        match time.encodings.said() {
            Said::Surely => false,
            Said::IfShown => !self.shown.utc,
            Said::ByNobody => true,
        }
    }

    /// The signs of life on the claim's own row, and the time of the claim.
    pub fn own_signs(&self) -> impl Iterator<Item = &TimeColumn> {
        let signs = self.liveness.iter().filter(|source| !matches!(source, Liveness::Lease { .. }));
        self.claim.claimed_at.iter().chain(signs.filter_map(Liveness::column))
    }

    /// The columns whose fresh values show UTC: of the claims in flight, of the newest jobs, and of the owners' table.
    pub fn shown_by(&self) -> [Vec<&TimeColumn>; 3] {
        let is_of_application = |time: &&TimeColumn| {
            let encodings = time.encodings.iter();
            encodings.map(Encoding::said).all(|said| said == Said::IfShown) && !self.filled.contains(&time.column.name)
        };
        let ended = self.finished.kept().map(|runs| &runs.at);
        let newest = self.claim.created_at.iter().chain(ended).filter(|time| time.column.alias == self.claim.lock);
        let beats = self.owner.row.iter().filter_map(|row| row.heartbeat.as_ref());
        [
            self.own_signs().filter(is_of_application).collect(),
            newest.filter(is_of_application).collect(),
            beats.filter(is_of_application).collect(),
        ]
    }

    /// The claim with each time of an unknown zone as late as any zone allows, so that what is dead by it is dead by all.
    /// A start is as early as possible: that of another process under the owner's name is death.
    pub fn at_the_latest(&self, claim: &Claim, now: Timestamp) -> Claim {
        let mut claim = claim.clone();
        let later =
            |time: Option<&TimeColumn>, latest: fn(Timestamp, Timestamp) -> Timestamp, reading: &mut Reading| {
                if let (Some(true), Reading::At(at)) = (time.map(|time| self.has_unknown_zone(time)), reading) {
                    *at = latest(*at, now);
                }
            };
        let row = self.owner.row.as_ref();
        let beat = row.and_then(|row| row.heartbeat.as_ref());
        later(self.rules.deadline.as_ref(), latest_end, &mut claim.deadline);
        // The time since when a job waits may lie ahead.
        let latest_claim = if self.waited() { latest_end } else { latest_past };
        later(self.claim.claimed_at.as_ref(), latest_claim, &mut claim.claimed_at);
        let mut newest = beat;
        for (source, sign) in self.liveness.iter().zip(&mut claim.signs) {
            let of_owner = beat.filter(|_| matches!(source, Liveness::Owner { .. }));
            let latest = if matches!(source, Liveness::Lease { .. }) { latest_end } else { latest_past };
            later(source.column().or(of_owner), latest, &mut sign.at);
            if let Liveness::Heartbeat { column, .. } = source {
                newest = newest.filter(|newest| self.has_unknown_zone(newest)).or(Some(column));
            }
        }
        later(newest, latest_past, &mut claim.heartbeat);
        match &mut claim.owner_row {
            OwnerRow::Present { heartbeat, started } => {
                later(beat, latest_past, heartbeat);
                let earliest = |at: Timestamp, _| at.minus(FURTHEST_EAST);
                later(row.and_then(|row| row.started.as_ref()), earliest, started);
            }
            OwnerRow::Missing { seen } => later(self.unknown_zone(), latest_past, seen),
            OwnerRow::NotAsked | OwnerRow::Unset => {}
        }
        claim
    }
}

/// True if the newest value of a column that one application writes shows that it writes UTC.
pub fn is_fresh(newest: Timestamp, now: Timestamp) -> bool {
    !now.minus(FRESH).is_after(newest, Clocks::One) && !newest.is_after(now.plus(FUTURE_TOLERANCE), Clocks::One)
}

/// The latest instant that an end, which may lie ahead, can be: a lease's, a deadline.
fn latest_end(at: Timestamp, _: Timestamp) -> Timestamp {
    at.plus(FURTHEST_WEST)
}

/// The latest instant that a time which is past can be. Its silence is the reading modulo a quarter of an hour, from the
/// 60 s on that the clock of its writer may be ahead; by as much it may be behind.
fn latest_past(at: Timestamp, now: Timestamp) -> Timestamp {
    if at.is_after(now.plus(FURTHEST_EAST + FUTURE_TOLERANCE), Clocks::One) {
        // In no zone is it past.
        return at;
    }
    let quarter = i64::try_from(QUARTER.as_micros()).unwrap_or(i64::MAX);
    let since = now.plus(FUTURE_TOLERANCE).micros().saturating_sub(at.micros()).rem_euclid(quarter);
    let latest = now.plus(FUTURE_TOLERANCE).minus(Duration::from_micros(since.unsigned_abs()));
    let latest = Timestamp::oldest(Some(latest), Some(latest_end(at, now))).unwrap_or(latest);
    Timestamp::oldest(Some(latest.plus(FUTURE_TOLERANCE)), Some(now)).unwrap_or(latest)
}
