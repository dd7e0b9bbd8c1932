//! What is concluded: the diagnoses, and which of them explains a finding.

use super::Counted;
use super::holder::named;
use crate::model::Timestamp;
use crate::policy::finding::Finding;
use crate::policy::plan::PlannedActions;
use crate::policy::waiting::Flow;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// What is likely to have happened to several jobs at once, or how their ownership data contradicts itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Who moves scheduled jobs on.
    #[serde(skip)]
    pub by: Option<String>,
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
    #[serde(skip)]
    pub doubt: Option<Doubt>,
    /// What unknown claims lack, as the first of them says it, and its hash.
    #[serde(skip)]
    pub(crate) lacks: Option<(u64, Finding)>,
    /// How often each of the named jobs was lost before.
    #[serde(skip)]
    pub losses: Vec<i64>,
    /// True if all of its jobs have the same rules.
    #[serde(skip)]
    pub alike: bool,
    /// All claims of a living owner, of which some hang; of the queues of due jobs.
    #[serde(skip)]
    pub claims: u64,
}

/// The kind of a [`Diagnosis`], which says what each means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosisKind {
    #[default]
    AllSilent,
    Vanished,
    OneByOne,
    Silent,
    Hangs,
    NoOwner,
    OwnerMissing,
    OwnerRestarted,
    NoClaimTime,
    LostAgain,
    Clock,
    Zone,
    Unjudged,
    StandsStill,
    Busy,
    Paused,
    NotStaged,
    Interrupted,
    Locks,
    NotUnderstood,
}

impl fmt::Display for DiagnosisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl DiagnosisKind {
    /// True if it is about jobs that are due, not about claims.
    pub fn is_of_due_jobs(self) -> bool {
        use DiagnosisKind::{Busy, NotStaged, Paused, StandsStill};
        matches!(self, StandsStill | Busy | Paused | NotStaged)
    }

    /// True if it is about claims whose verdict is unknown.
    pub fn is_of_unknown_claims(self) -> bool {
        matches!(self, DiagnosisKind::Clock | DiagnosisKind::Zone | DiagnosisKind::Unjudged)
    }
}

impl Diagnosis {
    /// How well it explains a finding that was counted there: 0 best, `None` not at all.
    pub fn explains(
        &self,
        counted: Counted,
        host: Option<&str>,
        owner: Option<&str>,
        kind: Option<&str>,
    ) -> Option<u8> {
        use Counted::{Again, Held, Late, Missing, Restarted, WithoutOwner};
        use DiagnosisKind::{
            AllSilent, Hangs, Interrupted, LostAgain, NoOwner, OneByOne, OwnerMissing, OwnerRestarted, Silent, Vanished,
        };
        let names = |name: Option<&str>| {
            name.is_some_and(|name| self.names.binary_search_by(|gone| gone.as_str().cmp(name)).is_ok())
        };
        let is_of_kind = self.kind.as_deref() == named(kind);
        let (rank, fits) = match (counted, self.what) {
            (Again, LostAgain) | (WithoutOwner, NoOwner) | (Missing, OwnerMissing) | (Restarted, OwnerRestarted) => {
                (0, true)
            }
            (Counted::Unjudged(hash), _) => (0, self.lacks.as_ref().is_some_and(|(lacks, _)| *lacks == hash)),
            // Those that were lost again and again are among their holders' where they are too many to name.
            (Held | Again, Vanished | OneByOne | Silent | Interrupted) => (1, names(owner) || names(host)),
            (Held | Again, Hangs) if self.owner.is_some() => (3, self.owner.as_deref() == owner),
            (Held | Again, Hangs) => (2, self.owners.is_some() && is_of_kind),
            (WithoutOwner, Silent | Interrupted) => (1, self.names.is_empty() && is_of_kind),
            (Late, Hangs) => (1, self.owners.is_none() && is_of_kind),
            (Held | Again | WithoutOwner, AllSilent) => (4, true),
            _ => (0, false),
        };
        fits.then_some(rank)
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouped {
    /// In no particular order, but always the same one.
    pub diagnoses: Vec<Diagnosis>,
    pub alone: u64,
    /// Owners of stuck jobs that show no life.
    pub silent_owners: u64,
}
