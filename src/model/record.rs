//! What is recorded of a run: its head and its steps. The journal and the ledger keep the same ones.

use super::{Action, Key, RowChange, Timestamp};
use serde::{Deserialize, Serialize};

/// Which run it is. Field names are those of a journal's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHead {
    /// The run.
    pub run_id: String,
    /// The store's time of the snapshot that the run rests on; of a run that only the ledger knows, of its write.
    pub time: Timestamp,
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
    /// The run that this one reverts.
    pub undoes: Option<String>,
    /// On which queue.
    pub target: RunTarget,
    /// The columns of the jobs' table that the fingerprints cover; empty where only the ledger knows the run.
    pub columns: Vec<String>,
    /// The digest of the plan.
    pub digest: Option<String>,
    /// How many steps it had; 0 where only the ledger knows the run.
    pub planned: u64,
}

/// Who ran it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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

/// Which queue a run was on: no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTarget {
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The preset or mapping.
    pub preset: String,
    /// The variants of it.
    pub variants: Vec<String>,
    /// The target's name in the config file.
    pub name: Option<String>,
    /// What the database is called in front of people.
    pub database: String,
    /// What tells it from every other database, whatever it is called; `None` where that is not known.
    pub identity: Option<String>,
    /// Schema and name of the jobs' table.
    pub table: String,
    /// The columns that identify a job.
    pub key: Vec<String>,
}

/// What a run does to one job. A [`Step`](super::Step) is the plan of it, with the stored values that its write compares: they
/// may hold tokens, and are not recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedStep {
    /// Its place in its batch, counted from 0; 0 where only the ledger has it.
    pub step: usize,
    /// The id as people see it.
    pub id: String,
    /// The key, exactly.
    pub key: Key,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it.
    pub owner: Option<String>,
    /// What is done; of an undo, the action that is reverted.
    pub action: Action,
    /// The state before, in the queue's own words.
    pub state_before: String,
    /// The state after.
    pub state_after: String,
    /// Attempts before.
    pub attempts_before: Option<i64>,
    /// Attempts after.
    pub attempts_after: Option<i64>,
    /// The rules that it was judged by.
    pub rules: Vec<String>,
    /// The row before and after; `None` where the step cannot be reverted. A line without the field is refused.
    #[serde(deserialize_with = "Option::deserialize")]
    pub row: Option<RowChange>,
}

impl RecordedStep {
    /// The step that reverts this one: from where it led to where it began.
    #[must_use]
    pub fn reverted(self) -> RecordedStep {
        RecordedStep {
            state_before: self.state_after,
            state_after: self.state_before,
            attempts_before: self.attempts_after,
            attempts_after: self.attempts_before,
            rules: Vec::new(),
            row: None,
            ..self
        }
    }
}

/// One row of the ledger. It lies in the queue's own database, so a row that is read names neither that nor its engine.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRow {
    /// When, by the clock of the transaction that wrote it.
    pub moved_at: Timestamp,
    /// The run.
    pub head: RunHead,
    /// What it did.
    pub step: RecordedStep,
}

/// A run in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRun {
    /// Which run; its time is that of one of its rows.
    pub head: RunHead,
    /// How many jobs it moved.
    pub moved: u64,
    /// How many of them could be reverted.
    pub undoable: u64,
}

/// One job that one run requeued, as far as its losses are counted by it.
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
    /// True if the run reverted another one, so that the job was not lost after all.
    pub reverted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_step_without_its_row_is_refused() {
        let mut step = json!({
            "step": 0, "id": "1", "key": [1], "queue": null, "kind": null, "owner": null, "action": "fail",
            "state_before": "a", "state_after": "b", "attempts_before": null, "attempts_after": null, "rules": [], "row": null
        });
        assert!(serde_json::from_value::<RecordedStep>(step.clone()).is_ok_and(|step| step.row.is_none()));
        step.as_object_mut().unwrap().remove("row");
        assert!(serde_json::from_value::<RecordedStep>(step).is_err_and(|error| error.to_string().contains("row")));
    }
}
