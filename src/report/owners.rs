use super::Target;
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.owners/v1`: who holds what.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owners {
    /// `jobdoctor.owners/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The counts.
    pub summary: OwnersSummary,
    /// The owners: those with stuck claims first, then by silence.
    pub owners: Vec<OwnerEntry>,
    /// What is wrong with the ownership data itself, as sentences.
    pub findings: Vec<String>,
}

/// The counts of an [`Owners`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct OwnersSummary {
    /// Claims looked at.
    pub in_flight: u64,
    /// Owners that hold claims; claims without an owner count as one.
    pub owners: u64,
    /// Owners all of whose claims show their death.
    pub dead: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that nobody can judge.
    pub unknown: u64,
}

/// One owner.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OwnerEntry {
    /// Its name; null for claims that name none.
    pub owner: Option<String>,
    /// Its host, where owners name it.
    pub host: Option<String>,
    /// `alive`, `dead`, `mixed` (some claims show its death, some do not) or `unknown`.
    pub status: String,
    /// Claims it holds.
    pub claims: u64,
    /// Stuck ones among them.
    pub stuck: u64,
    /// Unknown ones among them.
    pub unknown: u64,
    /// Its newest sign of life over all claims.
    #[schemars(with = "Option<String>")]
    pub last_seen_at: Option<Timestamp>,
    /// The store's time minus that.
    pub silence_seconds: Option<f64>,
    /// The queues it works on.
    pub queues: Vec<String>,
    /// What judged its claims.
    pub liveness: Option<String>,
}

impl OwnerEntry {
    /// The columns of `csv`, in order; the same names as in JSON.
    pub const COLUMNS: [&'static str; 10] = [
        "owner",
        "host",
        "status",
        "claims",
        "stuck",
        "unknown",
        "last_seen_at",
        "silence_seconds",
        "queues",
        "liveness",
    ];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        vec![
            self.owner.clone().unwrap_or_default(),
            self.host.clone().unwrap_or_default(),
            self.status.clone(),
            self.claims.to_string(),
            self.stuck.to_string(),
            self.unknown.to_string(),
            self.last_seen_at.map(|time| time.to_string()).unwrap_or_default(),
            self.silence_seconds.map(|seconds| seconds.to_string()).unwrap_or_default(),
            self.queues.join(" "),
            self.liveness.clone().unwrap_or_default(),
        ]
    }
}
