//! The brake: when too much looks dead at once, the observer is more often at fault than the workers.

use super::plan::is_acted_on;
use super::rules::Policy;
use super::verdict::{CheckResult, Judgement, Verdict};
use crate::model::{Claim, age};
use std::collections::BTreeMap;
use std::time::Duration;

/// Plans of up to so many steps are never judged: a queue with one worker and three stuck jobs is no mass death.
pub const FREE: u64 = 10;
/// That every owner is dead means something only from this many owners on.
const OWNERS: usize = 3;

/// What one snapshot saw of the whole queue, whatever was selected of it.
#[derive(Debug, Clone, Default)]
pub struct Gauge {
    in_flight: u64,
    /// What would be moved.
    dead: u64,
    /// Of these, what is not dead but takes too long.
    late: u64,
    unknown: u64,
    implausible: u64,
    dead_by_owner: BTreeMap<Option<String>, u64>,
    owners: BTreeMap<Option<String>, u64>,
}

/// What else the brake goes by.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// True for a restart sweep of some owners: who says which ones are dead is not contradicted by how many they are.
    pub is_scoped: bool,
    /// True on a standby.
    pub is_standby: bool,
    /// How long the server has been up, where there is one and the steps rest on heartbeats or leases; and how long a
    /// silence means death there.
    pub up: Option<Up>,
    /// What the operator has said to lift it.
    pub lifted: Option<Lifted>,
}

/// A server that has been up for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Up {
    /// For how long.
    pub time: Duration,
    /// For how long nothing could be heard of a worker that is called dead.
    pub threshold: Duration,
}

/// What lifts the brake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifted {
    /// `--max-jobs N` on the command line: whoever says how many has looked.
    MaxJobs(u64),
    /// `brake = false` of the target.
    Target,
}

/// What the brake makes of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brake {
    /// True if the plan must not be applied.
    pub pulled: bool,
    /// The evidence, as sentences; also where it was lifted.
    pub why: Vec<String>,
    /// What lifts it, or has lifted it; `None` where nothing does, or there is nothing to lift.
    pub lift: Option<String>,
}

impl Gauge {
    /// Takes in a claim that is stuck or unknown; healthy ones change nothing.
    pub fn note(&mut self, claim: &Claim, judgement: &Judgement, policy: &Policy) {
        // What the config file calls too long is moved like what is dead, and a clock that is wrong makes it all too long.
        if is_acted_on(judgement, policy) {
            self.dead += 1;
            self.late += u64::from(!judgement.verdict.is_death());
            *self.dead_by_owner.entry(claim.owner.as_ref().map(|owner| owner.name.clone())).or_default() += 1;
        }
        self.unknown += u64::from(matches!(judgement.verdict, Verdict::Unknown(_)));
        self.implausible += u64::from(judgement.checks.iter().any(|check| check.result == CheckResult::Unusable));
    }

    /// Says who holds what in flight, once it is known.
    #[must_use]
    pub fn with_owners(mut self, owners: BTreeMap<Option<String>, u64>) -> Gauge {
        self.in_flight = owners.values().sum();
        self.owners = owners;
        self
    }

    fn evidence(&self, up: Option<Up>) -> Vec<String> {
        let mut why = Vec::new();
        if self.dead * 2 > self.in_flight {
            why.push(format!(
                "{} of the {} jobs in flight look dead{}, which is more than half",
                self.dead,
                self.in_flight,
                if self.late > 0 { " or take too long" } else { "" }
            ));
        }
        let owners = self.owners.keys().flatten().count();
        let is_dead = |(owner, claims): (&Option<String>, &u64)| self.dead_by_owner.get(owner) == Some(claims);
        if owners >= OWNERS && self.owners.iter().filter(|(owner, _)| owner.is_some()).all(is_dead) {
            why.push(format!("all {owners} owners look dead"));
        }
        if self.dead + self.unknown >= self.in_flight {
            why.push("nothing in the whole queue shows life".to_owned());
        }
        if let Some(up) = up.filter(|up| up.time < up.threshold) {
            why.push(format!(
                "the server has been up for {} only, less than the {} after which a worker counts as silent",
                age(up.time),
                age(up.threshold)
            ));
        }
        if self.implausible * 2 > self.in_flight {
            why.push(format!(
                "{} of the {} jobs in flight have times that make no sense, which is more than half",
                self.implausible, self.in_flight
            ));
        }
        why
    }
}

impl Brake {
    /// The brake on a plan of so many steps. `None` for the gauge means that nothing was measured, because the plan is too
    /// small to be judged.
    pub fn on(steps: u64, gauge: Option<&Gauge>, circumstances: &Circumstances) -> Brake {
        if circumstances.is_standby {
            let why = "this is a standby: it shows what was, and its primary is the place to apply".to_owned();
            return Brake { pulled: steps > 0, why: vec![why], lift: None };
        }
        let judged = gauge.filter(|_| steps > FREE && !circumstances.is_scoped);
        let why = judged.map(|gauge| gauge.evidence(circumstances.up)).unwrap_or_default();
        if why.is_empty() {
            return Brake { pulled: false, why, lift: None };
        }
        let (pulled, lift) = match circumstances.lifted {
            Some(Lifted::MaxJobs(max)) => (false, format!("--max-jobs {max}")),
            Some(Lifted::Target) => (false, "brake = false".to_owned()),
            None => (true, format!("--max-jobs {steps}")),
        };
        Brake { pulled, why, lift: Some(lift) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many dead and so many unknown of so many in flight, the dead all of one owner.
    fn gauge(dead: u64, unknown: u64, in_flight: u64) -> Gauge {
        Gauge { dead, unknown, in_flight, ..Gauge::default() }
    }

    fn pulled(steps: u64, gauge: &Gauge, circumstances: &Circumstances) -> bool {
        Brake::on(steps, Some(gauge), circumstances).pulled
    }

    #[test]
    fn ten_steps_are_free_and_eleven_are_judged() {
        let (all, usual) = (gauge(30, 0, 30), Circumstances::default());
        assert!(!pulled(10, &all, &usual));
        assert!(pulled(11, &all, &usual));
        assert!(!pulled(11, &gauge(15, 0, 30), &usual), "half is not more than half");
    }

    #[test]
    fn who_says_which_owners_are_dead_is_not_judged() {
        let scoped = Circumstances { is_scoped: true, ..Circumstances::default() };
        assert!(!pulled(1000, &gauge(1000, 0, 1000), &scoped));
    }

    #[test]
    fn a_standby_moves_nothing_and_nothing_lifts_that() {
        let lifted = Some(Lifted::MaxJobs(100));
        let standby = Circumstances { is_standby: true, is_scoped: true, lifted, ..Circumstances::default() };
        for (steps, refused) in [(0, false), (1, true), (2, true)] {
            let brake = Brake::on(steps, None, &standby);
            assert_eq!((brake.pulled, brake.lift), (refused, None), "{steps} steps");
        }
    }

    #[test]
    fn unknown_ones_show_no_life() {
        let usual = Circumstances::default();
        assert!(pulled(12, &gauge(12, 12, 24), &usual));
        assert!(!pulled(12, &gauge(12, 11, 24), &usual));
    }

    #[test]
    fn times_that_make_no_sense_are_more_than_half() {
        let of_24 = |implausible| Gauge { implausible, ..gauge(11, 0, 24) };
        assert!(!pulled(11, &of_24(12), &Circumstances::default()));
        assert!(pulled(11, &of_24(13), &Circumstances::default()));
    }

    #[test]
    fn a_server_must_have_been_up_for_the_threshold() {
        let up = |seconds| {
            let up = Up { time: Duration::from_secs(seconds), threshold: Duration::from_secs(300) };
            Circumstances { up: Some(up), ..Circumstances::default() }
        };
        assert!(pulled(11, &gauge(11, 0, 30), &up(299)));
        assert!(!pulled(11, &gauge(11, 0, 30), &up(300)));
    }
}
