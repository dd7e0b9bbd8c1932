use crate::model::Timestamp;

/// What is likely to have happened to several jobs at once, or how their ownership data contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// Which.
    pub what: DiagnosisKind,
    /// In words, with text from the database as it is.
    pub text: String,
    /// The host it befell, if it was one.
    pub host: Option<String>,
    /// The owner it befell, if it was one.
    pub owner: Option<String>,
    /// The kind of work, if it befell one.
    pub kind: Option<String>,
    /// The first of the instants that tell when; see [`DiagnosisKind`].
    pub since: Option<Timestamp>,
    /// The last of them.
    pub until: Option<Timestamp>,
    /// How many of the jobs that are listed it is about.
    pub jobs: u64,
    /// On how many hosts; `None` where owners name none.
    pub hosts: Option<u64>,
    /// Of how many owners; `None` where there are none, or more than are told apart.
    pub owners: Option<u64>,
}

/// Which kind of diagnosis this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosisKind {
    /// All that was in flight went silent within minutes: `since` and `until` are the last signs of life of those who held
    /// it, of the first to go and the last.
    AllSilent,
    /// Hosts or owners whose claims are all dead: the same instants.
    Vanished,
    /// The same where only age tells, or where some of the claims could not be judged.
    Silent,
    /// Stuck jobs whose owners hold others that are alive, or show life although the job is in trouble: `since` and `until`
    /// are the first and the last claim.
    Hangs,
    /// See [`Inconsistency::NoOwner`](crate::policy::Inconsistency::NoOwner); of an inconsistency `since` and `until` are the oldest and the newest sign of life.
    NoOwner,
    /// See [`Inconsistency::OwnerMissing`](crate::policy::Inconsistency::OwnerMissing).
    OwnerMissing,
    /// See [`Inconsistency::OwnerRestarted`](crate::policy::Inconsistency::OwnerRestarted).
    OwnerRestarted,
    /// See [`Inconsistency::NoClaimTime`](crate::policy::Inconsistency::NoClaimTime). It alone may be about jobs of another diagnosis.
    NoClaimTime,
}

impl DiagnosisKind {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            DiagnosisKind::AllSilent => "all_silent",
            DiagnosisKind::Vanished => "vanished",
            DiagnosisKind::Silent => "silent",
            DiagnosisKind::Hangs => "hangs",
            DiagnosisKind::NoOwner => "no_owner",
            DiagnosisKind::OwnerMissing => "owner_missing",
            DiagnosisKind::OwnerRestarted => "owner_restarted",
            DiagnosisKind::NoClaimTime => "no_claim_time",
        }
    }
}
