use super::{Key, Timestamp};

/// One row of the ledger: what one run did to one job, and all that is needed to tell of it, or to take it back, on a host
/// that has no journal of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// The run.
    pub run_id: String,
    /// When, by the clock of the transaction that did it.
    pub moved_at: Timestamp,
    /// `reclaim`, `sweep` or `undo`.
    pub command: String,
    /// The version of this program.
    pub version: String,
    /// Who ran it.
    pub actor: Option<String>,
    /// On which host.
    pub host: Option<String>,
    /// Why, in the words of who ran it.
    pub reason: Option<String>,
    /// The run that this one takes back.
    pub undoes: Option<String>,
    /// The preset or mapping.
    pub preset: String,
    /// The table of the jobs.
    pub job_table: String,
    /// The job's id as people see it.
    pub job_id: String,
    /// Its key, as a JSON array.
    pub job_key: String,
    /// The columns that the key is made of, as a JSON array.
    pub key_columns: String,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it.
    pub owner: Option<String>,
    /// `requeue`, `fail` or `cancel`; of a run that takes another back, the action that was taken back.
    pub action: String,
    /// Its state before, in the queue's own words.
    pub state_before: String,
    /// Its state after.
    pub state_after: String,
    /// Attempts before.
    pub attempts_before: Option<i64>,
    /// Attempts after.
    pub attempts_after: Option<i64>,
    /// The rules that it was judged by, with commas between them.
    pub rules: String,
    /// The columns that were assigned with the values before, as a JSON object; `None` where it cannot be taken back.
    pub before: Option<String>,
    /// The same with the values after.
    pub after: Option<String>,
    /// Of the whole row before.
    pub fingerprint_before: Option<String>,
    /// Of the whole row after.
    pub fingerprint_after: Option<String>,
}

/// One job that one run gave back to the queue, as far as its losses are counted by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// Which job.
    pub key: Key,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Attempts before.
    pub attempts_before: Option<i64>,
    /// Attempts after.
    pub attempts_after: Option<i64>,
    /// True if the run took back what another one did, so that the job was not lost after all.
    pub taken_back: bool,
}

/// A run as the ledger tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRun {
    /// Any one of its rows: what they have in common is read from it.
    pub row: LedgerRow,
    /// How many jobs it moved.
    pub moved: u64,
    /// How many of them could be taken back.
    pub undoable: u64,
}
