//! What the judge and the planner find about a claim, as data: numbers, names and instants, which `output` puts into
//! sentences.

use super::live_owners::Standing;
use super::thresholds::{Allowed, SetBy};
use crate::model::{Action, LockSign, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;
use strum::Display;

/// One finding about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    // A value of the row that cannot be used: the column, and what is wrong.
    NullKey,
    /// Without a column, the value is an expression's.
    Unfit(Option<String>, String, String),
    TooEarly(String, Timestamp),
    /// How far, and whether a missing zone may be the reason.
    Ahead(String, Timestamp, Duration, bool),
    /// A death that another zone would explain, and by which column.
    IfUtc(Box<Finding>, String),

    // What a source of liveness says, and why there is none that says something.
    NotAsked,
    Nothing,
    NoThreshold,
    NoThresholdOnRow,
    OddThreshold(Duration),
    LeaseRuns(Duration),
    LeaseEnded(Duration),
    LeaseOutlived(Duration),
    Silent(Duration, Limit),
    OwnerSilent(Duration, Limit),
    Seen(Duration, Limit),
    HeartbeatFresh(Duration, Limit),
    Old(Duration, Limit),
    Young(Duration, Limit),
    Lock(LockSign),
    OwnerMissing(String),
    OwnerUnset,
    OwnerWithoutHeartbeat,
    /// How long after its owner's last heartbeat the claim was made.
    ClaimedInSilence(Duration, Limit),
    NothingIn(Vec<String>),
    /// The line of a mapping that would declare some.
    NoLiveness(Option<String>),
    /// What the preset says itself.
    Preset(String),

    // What speaks against a death.
    But(Box<Finding>, Box<Finding>),
    SilentOnly(Duration, Limit),
    SilenceUnknown,

    // An owner's restart, a live-owner list, earlier snapshots.
    OwnerRestarted,
    OwnerNotRestarted,
    OwnerStartUnknown,
    List(String, Standing),
    /// What is allowed, where that has been judged.
    Unchanged(Duration, Option<Duration>),
    ChangedSince(Duration),
    ChangedAgo(Duration),
    NoProgress(Duration, Duration),
    ProgressSince(Duration),

    // A restart sweep.
    DeclaredDead(String),
    OutOfScope,
    NotBeforeSweep,
    /// How long ago its own heartbeat was, which is later than the sweep's beginning.
    BeatAfterSweep(Duration),
    ClaimedAfterSweep,
    ClaimTimeUnknown,
    NotAmongFirst,
    /// A death, the claim time, and the later instant that the operator named.
    ClaimedBefore(Box<Finding>, Timestamp, Timestamp),
    ClaimedLater(Option<Timestamp>, Timestamp),
    LockHeldInSweep,

    // What limits a job whose owner lives.
    NoDeadline,
    DeadlineAhead,
    DeadlinePassed(Duration),
    CancelRequested,
    Runs(Duration, Limit),
    RunTimeUnknown,
    NoRunLimit,
    StateTimeUnknown(String),
    InState(String, Duration, Limit),
    /// The column since when it waits.
    Waits(String, String, Duration, Limit),

    // How long ago the library failed it, and how long ago it may be.
    Interrupted(Duration),
    FailedBefore(Duration, Duration),

    // Why a job is skipped, or failed.
    NotOffered(String, Action),
    /// What is none, the type of the value, and its text.
    NoInteger(String, String, String),
    Uncountable(i64),
    LossesUnknown(u32),
    /// How often it was lost before, and how often it may be.
    Lost(i64, u32),
    InStateNow(String),
    NotInterrupted(String),
    /// What the plan was to do, and what would be done now.
    Planned(Action, Action),
    BetweenSnapshots(Duration),
    RowGone,
    RowChanged,
    Skipped(Skipped),

    // Why an undo leaves a job as it is.
    RowNotRecorded,
    ManyUpdates,
    AsBefore,
    /// The state it has come to, if that is another than the run's.
    ChangedSinceRun(Option<String>),
}

/// A limit, and the target in whose section of the config file it may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The limit, and what sets it.
    pub allowed: Allowed,
    pub target: String,
}

impl Finding {
    /// True if a declared zone would end it.
    pub fn is_of_zone(&self) -> bool {
        matches!(self, Finding::IfUtc(..) | Finding::Ahead(_, _, _, true))
    }

    /// True if what a claim lacks is a declared zone, and nothing else.
    pub fn are_of_zone(lacking: &[Finding]) -> bool {
        !lacking.is_empty() && lacking.iter().all(Finding::is_of_zone)
    }

    /// True if its sentence, without a silence, is the same for all claims: it names nothing of the row, and no threshold
    /// of some queue or kind.
    pub(crate) fn is_of_its_class(&self) -> bool {
        match self {
            Finding::Interrupted(_)
            | Finding::LeaseEnded(_)
            | Finding::Lock(_)
            | Finding::OwnerUnset
            | Finding::OwnerRestarted => true,
            Finding::Silent(_, limit) | Finding::OwnerSilent(_, limit) | Finding::Old(_, limit) => {
                matches!(limit.allowed.set_by, SetBy::Flag | SetBy::Target | SetBy::Preset)
            }
            _ => false,
        }
    }
}

/// Why a job is not acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub reason: SkipReason,
    /// What that rests on; none where the reason says it all.
    pub findings: Vec<Finding>,
}

/// Why a job is not acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SkipReason {
    /// It cannot be judged.
    Unknown,
    /// Its library failed it longer ago than asked for.
    FailedBefore,
    /// It was named, and it is healthy.
    Healthy,
    /// It was named, and it is not in flight.
    NotInFlight,
    /// It is in trouble, but its owner shows life.
    OwnerAlive,
    /// A requeue was due, and it has no attempt left.
    AttemptsExhausted,
    /// Its attempts cannot be read as a number.
    AttemptsUnreadable,
    /// A requeue was due, and its stall budget is spent.
    StallsExhausted,
    /// A stall budget is set, and nothing tells how often it was lost.
    StallsUnreadable,
    /// The preset does not have this action.
    ActionNotOffered,
    /// The preset refuses this action.
    ActionRefused,
    /// A condition of the preset skips it.
    Preset,
    /// It has changed since the saved plan, or since the run that is reverted.
    Changed,
    /// It changed between two snapshots.
    ChangedBetweenSnapshots,
    /// Its run cannot be reverted for it: its row is not recorded.
    Unrecorded,
    /// Its row is already what it was before the run that is reverted.
    AsBefore,
    /// Its row no longer exists.
    Gone,
}
