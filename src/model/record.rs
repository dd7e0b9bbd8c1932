//! What is recorded of a run: its head, its losses, and what it changed in rows.

use super::{End, Key, Place, Step, Target, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which run it is. Field names are those of a journal's first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunHead {
    /// The run.
    pub run_id: String,
    /// The store's time of the snapshot that the run rests on; of a run that only the ledger knows, of its write.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// `reclaim`, `sweep` or `undo`.
    pub command: String,
    /// The version of this program.
    pub version: String,
    /// Who ran it.
    pub actor: Actor,
    /// On which host.
    pub host: Option<String>,
    /// Why, in the operator's words.
    pub reason: Option<String>,
    /// An id of the operator's own, such as that of a deploy; null where only the ledger knows the run.
    #[serde(default)]
    pub external_id: Option<String>,
    /// The run that this one reverts.
    pub undoes: Option<String>,
    /// On which queue.
    pub target: Target,
    /// What the operator said of where the queue is; nothing where only the ledger knows the run.
    #[serde(default)]
    pub place: Place,
    /// The columns of the jobs' table that the fingerprints cover; empty where only the ledger knows the run.
    pub columns: Vec<String>,
    /// The digest of the plan.
    pub digest: Option<String>,
    /// How many steps it had; null where only the ledger knows the run.
    pub planned: Option<u64>,
    /// The causes that its plan told, most jobs first; none where only the ledger knows the run.
    #[serde(default)]
    pub causes: Vec<Cause>,
}

/// What had likely happened to the jobs of a run, as its plan said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The kind, as in the plan's `diagnoses`.
    pub diagnosis: String,
    /// In words, without times.
    pub text: String,
    /// When it began, as far as that was known.
    #[schemars(with = "Option<String>")]
    pub since_at: Option<Timestamp>,
    /// The jobs that it explained.
    pub jobs: u64,
}

/// What became of the requeued jobs, as the last snapshot of `--verify` saw it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// How long the jobs were watched: up to the time asked for, or until every job had ended.
    pub waited_seconds: f64,
    /// How many jobs were watched: those that were requeued. The seven counts that follow add up to it.
    pub watched: u64,
    /// No worker has claimed them yet.
    pub waiting: u64,
    /// A worker claimed them again and shows signs of life.
    pub picked_up: u64,
    /// No worker holds them, and the table does not say whether they wait or have ended.
    pub not_in_flight: u64,
    /// They ended well.
    pub finished: u64,
    /// They ended badly, or were cancelled.
    pub failed: u64,
    /// A worker claimed them again and is dead too.
    pub stuck_again: u64,
    /// Their rows are gone: finished and deleted by the library, or deleted otherwise.
    pub gone: u64,
    /// The ids of those that are stuck again.
    pub stuck_again_ids: Vec<String>,
}

/// Who ran it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// The user's name, where the system knows one.
    pub user: Option<String>,
    /// The user's number.
    pub uid: Option<u32>,
}

impl Actor {
    /// The user's name, or else the number.
    pub fn name(&self) -> Option<String> {
        self.user.clone().or_else(|| self.uid.map(|uid| uid.to_string()))
    }
}

/// One row of the ledger. It lies in the queue's own database, so a row that is read names neither that nor its engine.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRow {
    /// When, by the clock of the transaction that wrote it.
    pub moved_at: Timestamp,
    pub head: RunHead,
    pub step: Step<End>,
}

/// A run in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRun {
    /// Which run; its time is that of one of its rows.
    pub head: RunHead,
    pub moved: u64,
    pub undoable: u64,
}

/// One job that one run requeued, as far as its losses are counted by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    pub key: Key,
    pub kind: Option<String>,
    pub attempts: Option<i64>,
    pub attempts_after: Option<i64>,
    /// True if the run reverted another one, so that the job was not lost after all.
    pub reverted: bool,
}
