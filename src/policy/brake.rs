//! The brake: if a large share of the queue looks dead at once, the plan is not applied.

use super::Policy;
use super::plan::is_acted_on;
use super::verdict::{CheckResult, Judgement, Verdict};
use crate::model::{Claim, age};
use std::collections::BTreeMap;
use std::time::Duration;

/// The brake ignores plans of up to so many steps: a queue with one worker and three stuck jobs is no mass death.
pub const FREE: u64 = 10;
/// That every owner is dead means something only from this many owners on.
const OWNERS: usize = 3;

/// Counts over the whole queue in one snapshot, whatever was selected of it.
#[derive(Debug, Clone, Default)]
pub struct Gauge {
    pub in_flight: u64,
    /// Claims that the rules act on.
    pub dead: u64,
    /// Of these, claims that are not dead but take too long.
    pub late: u64,
    /// Claims that nothing can be said of.
    pub unknown: u64,
    /// Claims with a value that makes no sense.
    pub implausible: u64,
    /// The dead ones of each owner.
    pub dead_by_owner: BTreeMap<Option<String>, u64>,
    /// The claims of each owner.
    pub owners: BTreeMap<Option<String>, u64>,
}

/// What the brake is asked with: measured in the snapshot that the plan rests on.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Counts over the whole queue; `None` for a plan that is too small for the brake.
    pub gauge: Option<Gauge>,
    /// True for a restart sweep of named owners: how many jobs they hold says nothing against the operator's word.
    pub is_scoped: bool,
    /// How long the server has been up, where there is one and the steps rest on heartbeats or leases; and how long a
    /// silence means death there.
    pub up: Option<Up>,
    /// Set where interrupted jobs are retried.
    pub interrupted: Option<Interrupted>,
}

/// What the brake takes into account besides what was measured.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    pub is_standby: bool,
    /// Which hosts still show life that a restart sweep takes for dead, where the operator can be asked.
    pub living: Option<String>,
    pub overridden: Option<Override>,
}

/// A server that has been up for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Up {
    /// For how long it has been up.
    pub time: Duration,
    /// The silence after which a worker counts as dead.
    pub threshold: Duration,
}

/// The interrupted jobs of a plan, and how many jobs ended in the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    pub jobs: u64,
    /// Those that ended well or not, these among them; `None` where the queue does not tell.
    pub ended: Option<u64>,
    pub since: Duration,
}

impl Interrupted {
    /// Without a number to compare with, so many are no mass death.
    const FREE: u64 = 100;

    pub fn evidence(self) -> Option<String> {
        let Interrupted { jobs, ended, since } = self;
        let since = age(since);
        match ended {
            Some(ended) if jobs > FREE && jobs * 2 > ended => Some(format!(
                "{jobs} of the {ended} jobs that ended within {since} were interrupted, which is more than half"
            )),
            None if jobs > Interrupted::FREE => Some(format!(
                "{jobs} jobs were interrupted within {since}, and nothing tells how many ended in that time"
            )),
            _ => None,
        }
    }
}

/// What overrides the brake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Override {
    /// `--max-jobs N` on the command line: the operator expects so many steps.
    MaxJobs(u64),
    /// `brake = false` of the target.
    Target,
}

/// What the brake makes of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brake {
    /// True if the plan must not be applied.
    pub pulled: bool,
    /// The evidence, as sentences; also if it was overridden.
    pub why: Vec<String>,
    /// What overrides it, or has done so; `None` on a standby, and without evidence.
    pub overridden_by: Option<Override>,
}

impl Gauge {
    /// Takes in a claim that is stuck or unknown; healthy ones change nothing.
    pub fn note(&mut self, claim: &Claim, judgement: &Judgement, policy: &Policy) {
        // A limit of the config file moves jobs as a death does, and with a wrong clock every job exceeds it.
        if is_acted_on(judgement, policy) {
            self.dead += 1;
            self.late += u64::from(!judgement.verdict.is_death());
            *self.dead_by_owner.entry(claim.owner.as_ref().map(|owner| owner.name.clone())).or_default() += 1;
        }
        self.unknown += u64::from(matches!(judgement.verdict, Verdict::Unknown(_)));
        self.implausible += u64::from(judgement.checks.iter().any(|check| check.result == CheckResult::Unusable));
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
    /// The brake on a plan of so many steps.
    pub fn on(steps: u64, measured: &Measured, circumstances: &Circumstances) -> Brake {
        if circumstances.is_standby {
            let why = "this is a standby: it shows the past; apply on its primary".to_owned();
            return Brake { pulled: steps > 0, why: vec![why], overridden_by: None };
        }
        let judged = measured.gauge.as_ref().filter(|_| steps > FREE && !measured.is_scoped);
        let mut why = judged.map(|gauge| gauge.evidence(measured.up)).unwrap_or_default();
        why.extend(measured.interrupted.and_then(Interrupted::evidence));
        why.extend(circumstances.living.clone().filter(|_| steps > 0));
        if why.is_empty() {
            return Brake { pulled: false, why, overridden_by: None };
        }
        let pulled = circumstances.overridden.is_none();
        Brake { pulled, why, overridden_by: Some(circumstances.overridden.unwrap_or(Override::MaxJobs(steps))) }
    }
}
