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
}
