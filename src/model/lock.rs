//! Transactions that hold locks on a queue's rows or tables.

use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// A transaction that holds locks, as Postgres shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LockHolder {
    /// The server's process; null for a prepared transaction, which has none.
    pub pid: Option<i64>,
    /// The name of a prepared transaction.
    pub prepared: Option<String>,
    /// Its role.
    pub user: Option<String>,
    /// What the session calls itself.
    pub application: Option<String>,
    /// `active`, `idle in transaction` or another state; null where this role may not see it.
    pub state: Option<String>,
    /// For how long it has been idle in the transaction; of any other state, the age of the transaction.
    pub since_seconds: Option<f64>,
    /// The jobs that it locks, of the first ten; none where it only may.
    pub jobs: Vec<String>,
    /// False if no row names a transaction that runs, as after a released savepoint: then it only may be the one.
    pub certain: bool,
    /// True if this role may not see the session's state.
    pub hidden: bool,
    /// What it executes, or executed last.
    #[serde(skip)]
    pub query: Option<String>,
}

impl LockHolder {
    /// For how long, if that can be told.
    pub fn since(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.since_seconds?).ok()
    }
}
