use super::{Diagnosis, Filter, Job, Spool, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.stale/v1`: the claims that are stuck, longest silent first, and those that nobody can judge.
#[derive(Serialize, JsonSchema)]
pub struct Stale {
    /// `jobdoctor.stale/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// The counts, whatever the limit.
    pub summary: StaleSummary,
    /// What is likely to have happened, most jobs first; none where jobs were named by id.
    pub diagnoses: Vec<Diagnosis>,
    /// The stuck ones; none where the diagnoses alone were asked for.
    pub jobs: Spool<Job>,
    /// The ones that nobody can judge; their reasons say what is missing.
    pub unknown: Spool<Job>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
}

/// The counts of a [`Stale`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StaleSummary {
    /// Claims in the whole queue.
    pub in_flight: u64,
    /// Stuck ones among those asked for.
    pub stuck: u64,
    /// Unknown ones among those asked for.
    pub unknown: u64,
    /// Stuck ones in `jobs`.
    pub returned: u64,
    /// True if the limit left some out.
    pub truncated: bool,
    /// The longest silence among the stuck ones.
    pub oldest_silence_seconds: Option<f64>,
    /// How many diagnoses there are; `diagnoses` holds the first thousand.
    pub diagnoses: u64,
    /// Stuck ones that are part of no diagnosis.
    pub alone: u64,
}
