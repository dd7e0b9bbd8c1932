//! The verdict on a claim, the rules behind it, and every check that was made.

use super::finding::Finding;
use super::thresholds::Allowed;
use crate::model::{LockSign, Reading, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;
use strum::{Display, EnumIter, IntoStaticStr};

/// Why a claim is called stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Rule {
    /// The lease on the row has run out.
    LeaseExpired,
    /// The heartbeat on the row is old.
    HeartbeatSilent,
    /// The heartbeat of the owner is old.
    OwnerSilent,
    OwnerMissing,
    OwnerUnset,
    /// The claim is old, and the table shows nothing else.
    ClaimAge,
    /// No session holds the lock that a live worker holds.
    LockFree,
    /// The owner started after the claim was made: it is another process under the same name.
    OwnerRestarted,
    /// A restart sweep says that this owner is dead.
    Restart,
    LiveOwnerList,
    /// No sign of life has changed between snapshots.
    Unchanged,
    DeadlinePassed,
    /// It has run longer than it may.
    MaxRuntime,
    /// The owner lives, but the job makes no progress between snapshots.
    NoProgress,
    /// It has been in its state for longer than the config file allows there.
    TooLong,
    /// The library failed it because its worker died.
    Interrupted,
}

impl Rule {
    /// The name used in JSON and after `--rule`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What it proves when it fires, unless the owner shows life all the same.
    pub fn proves(self) -> Proves {
        match self {
            Rule::ClaimAge => Proves::Age,
            Rule::DeadlinePassed | Rule::MaxRuntime | Rule::NoProgress | Rule::TooLong => Proves::Trouble,
            _ => Proves::Death,
        }
    }
}

/// What a rule proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Proves {
    /// The worker is gone.
    Death,
    /// The claim is older than allowed, and nothing else tells a dead worker from a slow one.
    Age,
    /// Something is wrong, although the worker may be alive.
    Trouble,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub rule: Rule,
    pub proves: Proves,
    /// The numbers it rests on.
    pub finding: Finding,
}

/// What the judge says of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    #[default]
    Healthy,
    /// It is stuck, for at least one reason.
    Stuck(Vec<Reason>),
    /// It cannot be judged; what is lacking. It is never acted on.
    Unknown(Vec<Finding>),
}

/// A verdict without its reasons, as documents name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum VerdictKind {
    /// It shows life.
    Healthy,
    /// It is stuck.
    Stuck,
    /// It cannot be judged.
    Unknown,
}

impl VerdictKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Verdict {
    pub fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Healthy => VerdictKind::Healthy,
            Verdict::Stuck(_) => VerdictKind::Stuck,
            Verdict::Unknown(_) => VerdictKind::Unknown,
        }
    }

    /// Why it is stuck; none of another verdict.
    pub fn reasons(&self) -> &[Reason] {
        if let Verdict::Stuck(reasons) = self { reasons } else { &[] }
    }

    /// True if some reason proves death.
    pub fn is_death(&self) -> bool {
        self.reasons().iter().any(|reason| reason.proves != Proves::Trouble)
    }
}

/// A verdict with everything that went into it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The newest sign of life: of heartbeat and claim time the later one, never a lease's end.
    pub last_seen_at: Option<Timestamp>,
    /// The database's time minus that; zero for a sign a little ahead.
    pub silence: Option<Duration>,
    /// What judged: a liveness source (lease, heartbeat, owner, lock or age), the live-owner list (`live_owner_list`),
    /// or what has changed between snapshots (change, progress).
    pub liveness: Option<&'static str>,
    /// The silence that was allowed, where the source that judged has such a threshold.
    pub allowed: Option<Allowed>,
    /// True if it shows life, but has used most of its lease or of the silence that it is allowed.
    pub late: bool,
    /// True if a restart sweep takes it for dead although its own row or its owner's shows life.
    pub is_declared_dead: bool,
    /// The run time that was allowed, where it was exceeded.
    pub overrun: Option<Allowed>,
    /// Each rule that was asked, in order; from [`judge`](super::judge) those alone whose value cannot be used.
    pub checks: Vec<Check>,
}

/// One rule, the value it read and what it made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was asked: a rule's or a source's name.
    pub rule: &'static str,
    /// The column or columns that were read.
    pub column: String,
    pub value: Value,
    pub result: CheckResult,
    pub finding: Finding,
}

/// The value that a [`Check`] read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// That of a time column.
    Time(Reading),
    /// A span, measured or allowed.
    Span(Duration),
    Lock(LockSign),
    Name(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, Serialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CheckResult {
    /// The rule calls the claim stuck.
    Fires,
    /// The rule sees life, or nothing wrong.
    Clear,
    /// There was nothing to judge by; jobdoctor asks the next source.
    NoValue,
    /// The value cannot be used: the verdict is unknown.
    Unusable,
    /// A better source had judged already.
    NotAsked,
}
