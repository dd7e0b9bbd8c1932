use super::{Job, Skipped, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.show/v1`: jobs with all that is known of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Show {
    /// `jobdoctor.show/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The jobs, in the order they were asked for.
    pub jobs: Vec<ShownJob>,
    /// Ids that name no job.
    pub not_found: Vec<String>,
}

/// One job, explained.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownJob {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// Whether it is in flight at all.
    pub in_flight: bool,
    /// Each rule, what it read and what it made of it.
    pub checks: Vec<RuleCheck>,
    /// What `reclaim` would do.
    pub would: Option<Would>,
    /// Why `reclaim` would skip it.
    pub skipped: Option<Skipped>,
    /// Further evidence that the preset shows.
    pub extra: Vec<(String, Option<String>)>,
}

/// One rule that was asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleCheck {
    /// The rule, or the source of liveness.
    pub rule: String,
    /// The column it read.
    pub column: String,
    /// The value there.
    pub value: String,
    /// `fires`, `clear`, `no_value`, `unusable` or `not_asked`.
    pub result: String,
    /// In words.
    pub detail: String,
}

/// What would be done to a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Would {
    /// `requeue`, `fail` or `cancel`.
    pub action: String,
    /// The state it would come to.
    pub state_after: String,
    /// Its attempts then.
    pub attempts_after: Option<i64>,
}
