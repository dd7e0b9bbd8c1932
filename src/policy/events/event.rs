use crate::model::Timestamp;

/// What is likely to have happened to several jobs at once, or what their ownership data lies about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Which.
    pub what: EventKind,
    /// In words, with text from the database as it is.
    pub text: String,
    /// The host it befell, if it was one.
    pub host: Option<String>,
    /// The owner it befell, if it was one.
    pub owner: Option<String>,
    /// The kind of work, if it befell one.
    pub kind: Option<String>,
    /// The first of the instants that tell when; see [`EventKind`].
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

/// What an [`Event`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
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
    /// See [`Lie::NoOwner`](crate::policy::Lie::NoOwner); of a lie `since` and `until` are the oldest and the newest sign of life.
    NoOwner,
    /// See [`Lie::OwnerMissing`](crate::policy::Lie::OwnerMissing).
    OwnerMissing,
    /// See [`Lie::OwnerRestarted`](crate::policy::Lie::OwnerRestarted).
    OwnerRestarted,
    /// See [`Lie::NoClaimTime`](crate::policy::Lie::NoClaimTime). It alone may be about jobs that another event is about too.
    NoClaimTime,
}

impl EventKind {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::AllSilent => "all_silent",
            EventKind::Vanished => "vanished",
            EventKind::Silent => "silent",
            EventKind::Hangs => "hangs",
            EventKind::NoOwner => "no_owner",
            EventKind::OwnerMissing => "owner_missing",
            EventKind::OwnerRestarted => "owner_restarted",
            EventKind::NoClaimTime => "no_claim_time",
        }
    }
}
