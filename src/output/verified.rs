use schemars::JsonSchema;
use serde::Serialize;

/// What became of the jobs that went back to the queue, as the last snapshot saw it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Verified {
    /// How long it was watched: up to the time asked for, or until every job had ended.
    pub waited_seconds: f64,
    /// How many jobs were watched: those that were requeued. The seven counts that follow add up to it.
    pub watched: u64,
    /// Nobody has taken them yet.
    pub waiting: u64,
    /// A worker has them again, and shows life.
    pub picked_up: u64,
    /// Nobody has them, and the table does not say whether they wait or have ended.
    pub not_in_flight: u64,
    /// They ended well.
    pub finished: u64,
    /// They ended badly, or were cancelled.
    pub failed: u64,
    /// A worker has them again, and is dead too.
    pub stuck_again: u64,
    /// Their rows are gone: finished and deleted by the library, or deleted otherwise.
    pub gone: u64,
    /// Which are stuck again.
    pub stuck_again_ids: Vec<String>,
}
