use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// Which queue a document is about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Target {
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The preset or mapping.
    pub preset: String,
    /// The variants of it that the live tables called for.
    pub variants: Vec<String>,
    /// The target's name in the config file.
    pub name: Option<String>,
    /// The database, without its secrets.
    pub database: String,
    /// The table whose rows are the jobs.
    pub table: String,
    /// What there is to know if this is a standby; null if it is not.
    pub standby: Option<Standby>,
}

/// A server that follows another one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Standby {
    /// How far it is behind its primary; null if it cannot tell. `store_time` and all silences are those of that moment.
    pub lag_seconds: Option<f64>,
}

/// What was asked for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Filter {
    /// `--older`; null leaves each source of liveness its own threshold.
    pub older_seconds: Option<f64>,
    /// `max_runtime` of the target; null where only a row or the preset says how long a job may run.
    pub max_runtime_seconds: Option<f64>,
    /// The target's thresholds for single queues and kinds, as far as they count.
    pub thresholds: Vec<FilterThreshold>,
    /// `--queue`.
    pub queues: Vec<String>,
    /// `--kind`.
    pub kinds: Vec<String>,
    /// `--owner`.
    pub owners: Vec<String>,
    /// `--host`.
    pub hosts: Vec<String>,
    /// `--state`.
    pub states: Vec<String>,
    /// `--id`.
    pub ids: Vec<String>,
    /// `--limit`.
    pub limit: Option<u64>,
    /// True for a restart sweep, which judges by who the owner is.
    pub restart: bool,
    /// How many entries the list of living owners has; null without `--alive-from`.
    pub living_owners: Option<u64>,
    /// The store's time of the saved snapshot that this one was compared with; null without `--snapshot-file`, and for a first snapshot.
    #[schemars(with = "Option<String>")]
    pub compared_with_at: Option<Timestamp>,
}

/// A threshold of the config file, for claims of some queues or kinds. Of those that match, the first that has the value counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilterThreshold {
    /// Which entry of the target it is, counted from 1.
    pub number: u64,
    /// The queues it is about; null is any.
    pub queue: Option<String>,
    /// The kinds it is about; null is any.
    pub kind: Option<String>,
    /// How long such a claim may be silent; null leaves that to what comes after it.
    pub older_seconds: Option<f64>,
    /// How long such a job may run, where its row does not say; null leaves that to what comes after it.
    pub max_runtime_seconds: Option<f64>,
}
