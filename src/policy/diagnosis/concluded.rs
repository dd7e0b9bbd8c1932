//! What is concluded: the diagnoses, what each is worth, and what to do about it.

use super::holder::Group;
use crate::model::{LockHolder, Timestamp};
use crate::policy::State;
use crate::policy::finding::Finding;
use crate::policy::plan::PlannedActions;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use strum::IntoStaticStr;

/// What is likely to have happened to several jobs at once, or how their ownership data contradicts itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// `all_silent` (everything in flight went silent within minutes), `vanished` (hosts or owners of which every claim
    /// is dead, silent since the same minute), `one_by_one` (the same at different times, each with one job), `silent` (dead by age alone, or with claims that cannot be judged), `hangs` (stuck jobs of owners that
    /// hold healthy ones or show life); and inconsistencies: `no_owner`, `owner_missing`, `owner_restarted`,
    /// `no_claim_time`; `lost_again` (jobs that were lost twice before or more often). A stuck job is part of one
    /// diagnosis at most, but for `no_claim_time`. Of unknown claims: `clock` (one is ahead), `zone` (times may not be in
    /// UTC), `unjudged` (something else is missing). Of jobs that are due: `stands_still` (workers take none), `busy`
    /// (their workers hold healthy claims), `paused`, and `not_staged` (what makes scheduled jobs available does not).
    /// `interrupted`: jobs that their library failed because their worker died. `locks`: a transaction that holds locks on the queue's tables for long. And `not_understood`: rows in states that neither preset nor mapping declares.
    #[serde(rename = "diagnosis")]
    #[schemars(with = "String")]
    pub what: DiagnosisKind,
    /// The queue, if it is about due jobs of one.
    pub queue: Option<String>,
    /// Why due jobs wait: `no_worker`, `all_stuck`, `stands_still` (the tables do not show why), `paused` or `busy`.
    #[serde(rename = "why")]
    #[schemars(with = "Option<String>")]
    pub flow: Option<Flow>,
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
    /// The groups of jobs that it explains.
    #[serde(skip)]
    pub groups: BTreeSet<Group>,
    /// True if all of its jobs have the same rules.
    #[serde(skip)]
    pub alike: bool,
    /// All claims of a living owner, of which some hang; of the queues of due jobs.
    #[serde(skip)]
    pub claims: u64,
}

/// The kind of a [`Diagnosis`], which says what each means, with what only this kind has.
#[derive(Debug, Clone, Default, PartialEq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DiagnosisKind {
    #[default]
    AllSilent,
    Vanished,
    OneByOne,
    Silent(Option<Doubt>),
    Hangs(Option<Doubt>),
    NoOwner,
    OwnerMissing,
    OwnerRestarted,
    NoClaimTime,
    /// How often each of the named jobs was lost before.
    LostAgain(Vec<i64>),
    /// What unknown claims lack, as the first of them says it.
    Clock(Finding),
    Zone(Finding),
    Unjudged(Finding),
    /// At least a warning.
    StandsStill(State),
    Busy,
    Paused,
    /// Who moves scheduled jobs on.
    NotStaged(String),
    Interrupted,
    Locks(LockHolder),
    NotUnderstood(UnfamiliarStates),
}

impl Serialize for DiagnosisKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl DiagnosisKind {
    /// The kind of unknown claims that lack this.
    pub(super) fn lacking(finding: &Finding) -> DiagnosisKind {
        match finding.clone() {
            finding if finding.is_of_zone() => DiagnosisKind::Zone(finding),
            finding @ Finding::Ahead(..) => DiagnosisKind::Clock(finding),
            finding => DiagnosisKind::Unjudged(finding),
        }
    }

    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// True if it is about jobs that are due, not about claims.
    pub fn is_of_due_jobs(&self) -> bool {
        use DiagnosisKind::{Busy, NotStaged, Paused, StandsStill};
        matches!(self, StandsStill(_) | Busy | Paused | NotStaged(_))
    }

    /// True if it is about claims whose verdict is unknown.
    pub fn is_of_unknown_claims(&self) -> bool {
        matches!(self, DiagnosisKind::Clock(_) | DiagnosisKind::Zone(_) | DiagnosisKind::Unjudged(_))
    }

    /// How urgent it is for an engineer on call.
    pub fn severity(&self) -> State {
        match self {
            DiagnosisKind::AllSilent | DiagnosisKind::Vanished | DiagnosisKind::OneByOne => State::Critical,
            DiagnosisKind::LostAgain(_) | DiagnosisKind::Interrupted => State::Critical,
            DiagnosisKind::StandsStill(severity) => *severity,
            DiagnosisKind::Busy | DiagnosisKind::Paused => State::Ok,
            kind if kind.is_of_unknown_claims() => State::Unknown,
            _ => State::Warning,
        }
    }
}

/// Why due jobs wait longer than usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// No job is taken, and the tables list no living worker that serves the queue.
    NoWorker,
    /// No job is taken, and every claim of the queue is stuck.
    AllStuck,
    /// No job is taken, and the tables do not show why.
    StandsStill,
    Paused,
    /// Its workers are busy with healthy claims.
    Busy,
}

impl Flow {
    pub fn stands_still(self) -> bool {
        matches!(self, Flow::NoWorker | Flow::AllStuck | Flow::StandsStill)
    }
}

/// Rows in states that neither preset nor mapping declares: no command ever looks at them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfamiliarStates {
    pub table: String,
    pub preset: String,
    pub is_mapping: bool,
    /// The states, as they are stored; none where the rows are too many to look at each.
    pub states: Vec<String>,
    /// How many rows are in them; 0 where that could not be counted, [`UnfamiliarStates::MOST`] for that many or more.
    pub rows: u64,
}

impl UnfamiliarStates {
    pub const MOST: u64 = 1000;

    /// True if it is not known whether there are any.
    pub fn are_unasked(&self) -> bool {
        self.states.is_empty() && self.rows == 0
    }
}

/// What an operator does next, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    Reclaim,
    ReclaimInterrupted,
    ListInterrupted,
    List,
    /// Look at the counts of the queue: no command acts on this.
    Count,
}

impl Diagnosis {
    pub fn of_locks(holder: LockHolder, now: Timestamp) -> Diagnosis {
        let since = holder.since().map(|span| now.minus(span));
        Diagnosis { what: DiagnosisKind::Locks(holder), since, ..Diagnosis::default() }
    }

    pub fn of_states(found: UnfamiliarStates) -> Diagnosis {
        Diagnosis { jobs: found.rows, what: DiagnosisKind::NotUnderstood(found), ..Diagnosis::default() }
    }

    /// Its place in a list: first a zone that is not known, which an operator is to declare before anything else, then due
    /// jobs and the locks that may be why they wait, then claims; most jobs first, and of equally many the newest.
    pub fn order(&self) -> impl Ord + use<> {
        let class = match &self.what {
            DiagnosisKind::Zone(_) => 0,
            kind if kind.is_of_due_jobs() => 1,
            DiagnosisKind::Locks(_) => 2,
            DiagnosisKind::NotUnderstood(_) => 4,
            DiagnosisKind::Interrupted => 5,
            _ => 3,
        };
        (class, Reverse((self.jobs, self.until.map(Timestamp::micros))))
    }

    pub fn next(&self) -> Next {
        match &self.what {
            DiagnosisKind::Interrupted if self.would.is_some_and(|would| would.requeue > 0) => Next::ReclaimInterrupted,
            DiagnosisKind::Interrupted => Next::ListInterrupted,
            DiagnosisKind::Locks(_) | DiagnosisKind::NotUnderstood(_) => Next::Count,
            kind if kind.is_of_due_jobs() => Next::Count,
            kind if kind.is_of_unknown_claims() => Next::List,
            _ => Next::Reclaim,
        }
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
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    /// In no particular order, but always the same one.
    pub diagnoses: Vec<Diagnosis>,
    pub alone: u64,
    /// Owners of stuck jobs that show no life.
    pub silent_owners: u64,
}
