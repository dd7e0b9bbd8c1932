use super::{Outcomes, Spool};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `jobdoctor.history/v1`: the runs that are recorded, newest first.
#[derive(Serialize, JsonSchema)]
pub struct History {
    /// `jobdoctor.history/v1`.
    pub schema: &'static str,
    /// The directory with the journals of this host; null where it cannot be told.
    pub journal: Option<String>,
    /// The ledger that was read too; null where no database was at hand, or it has none.
    pub ledger: Option<String>,
    /// Journals that could not be read, whose runs are not in the list.
    pub warnings: Vec<String>,
    /// The counts.
    pub summary: HistorySummary,
    /// The runs.
    pub runs: Vec<HistoryRun>,
}

/// The counts of a [`History`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistorySummary {
    /// Runs that are recorded.
    pub runs: u64,
    /// Runs in `runs`.
    pub returned: u64,
    /// True if the limit left some out.
    pub truncated: bool,
}

/// One run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryRun {
    /// The run.
    pub run_id: String,
    /// The store's own time of the snapshot that it rested on; where only the ledger knows it, of its write.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// `reclaim`, `sweep` or `undo`.
    pub command: String,
    /// Which queue.
    pub target: HistoryTarget,
    /// Who ran it.
    pub actor: Option<String>,
    /// On which host.
    pub host: Option<String>,
    /// Why, in the words of who ran it.
    pub reason: Option<String>,
    /// Steps in its plan; null where only the ledger knows it.
    pub planned: Option<u64>,
    /// Jobs that it moved; null where that is not known, because its journal has no end and no ledger has the run.
    pub moved: Option<u64>,
    /// Jobs that are recorded as moved.
    pub moved_at_least: u64,
    /// How all its steps ended; null where the journal has no end, or only the ledger knows the run.
    pub outcomes: Option<Outcomes>,
    /// Jobs whose rows are recorded, so that `undo` could give them back until somebody touches them.
    pub undoable: u64,
    /// Jobs that it moved and that no record names, so that `undo` cannot give them back; null where their number is not known.
    pub unrecorded: Option<u64>,
    /// The run that this one took back.
    pub undoes: Option<String>,
    /// The runs that took this one back.
    pub undone_by: Vec<String>,
    /// False if its journal has no end: it was stopped, could not write the journal, or is still at work. Null where only the ledger
    /// knows it.
    pub complete: Option<bool>,
    /// Why it stopped early.
    pub stop: Option<String>,
    /// `journal`, `ledger` or both.
    pub recorded_in: Vec<String>,
}

/// Which queue a run was on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryTarget {
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The preset or mapping.
    pub preset: String,
    /// The target's name in the config file.
    pub name: Option<String>,
    /// The database, without its secrets.
    pub database: String,
    /// The table whose rows are the jobs.
    pub table: String,
}

/// `jobdoctor.history-run/v1`: one run with its steps.
#[derive(Serialize, JsonSchema)]
pub struct HistoryOne {
    /// `jobdoctor.history-run/v1`.
    pub schema: &'static str,
    /// The run.
    pub run: HistoryRun,
    /// The counts.
    pub summary: HistoryOneSummary,
    /// The steps, as far as they are recorded.
    pub steps: Spool<HistoryStep>,
}

/// The counts of a [`HistoryOne`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryOneSummary {
    /// Steps in `steps`.
    pub steps: u64,
    /// What became of the jobs of which the record cannot say it.
    pub unsure: HistoryUnsure,
}

/// Jobs whose outcome the record does not know, because it ends before it says so or the answer to a commit was lost, by what
/// the database says of them now.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryUnsure {
    /// Nobody knows: no database was at hand, or it has no row to compare.
    pub open: u64,
    /// Moved.
    pub moved: u64,
    /// Not moved.
    pub not_moved: u64,
    /// Changed or gone since, so that nobody can tell any more.
    pub changed: u64,
}

/// One step of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HistoryStep {
    /// The job.
    pub id: String,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it.
    pub owner: Option<String>,
    /// What was done; null for a step that did not come to it.
    pub action: Option<String>,
    /// Its state before, in the queue's own words.
    pub state: Option<String>,
    /// Its state after.
    pub state_after: Option<String>,
    /// Its attempts before.
    pub attempts: Option<i64>,
    /// Its attempts after.
    pub attempts_after: Option<i64>,
    /// The rules that it was judged by.
    pub rules: Vec<String>,
    /// How it ended; `unknown` where the record does not say.
    pub outcome: String,
    /// Where the outcome is unknown and the database was asked: `moved`, `not_moved`, `changed` or `gone`.
    pub compared: Option<String>,
    /// True if its row is recorded, so that `undo` could give it back until somebody touches it.
    pub undoable: bool,
    /// The code of the database's error, where it refused the row.
    pub sqlstate: Option<String>,
    /// The constraint that was in the way.
    pub constraint: Option<String>,
    /// The columns that were assigned; null where they are not recorded.
    pub changes: Option<Vec<HistoryChange>>,
}

/// One column before and after; null is SQL's NULL.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HistoryChange {
    /// The column.
    pub column: String,
    /// The value before.
    pub before: Option<String>,
    /// The value after.
    pub after: Option<String>,
}

impl HistoryRun {
    /// The columns of `csv`, in order; the same names as in JSON.
    pub const COLUMNS: [&'static str; 15] = [
        "run_id",
        "store_time",
        "command",
        "preset",
        "database",
        "table",
        "actor",
        "host",
        "moved",
        "moved_at_least",
        "undoable",
        "undoes",
        "undone_by",
        "recorded_in",
        "reason",
    ];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        vec![
            self.run_id.clone(),
            self.store_time.to_string(),
            self.command.clone(),
            self.target.preset.clone(),
            self.target.database.clone(),
            self.target.table.clone(),
            self.actor.clone().unwrap_or_default(),
            self.host.clone().unwrap_or_default(),
            self.moved.map(|moved| moved.to_string()).unwrap_or_default(),
            self.moved_at_least.to_string(),
            self.undoable.to_string(),
            self.undoes.clone().unwrap_or_default(),
            self.undone_by.join(" "),
            self.recorded_in.join(" "),
            self.reason.clone().unwrap_or_default(),
        ]
    }
}

impl HistoryStep {
    /// The columns of `csv`, in order; the same names as in JSON.
    pub const COLUMNS: [&'static str; 13] = [
        "id",
        "queue",
        "kind",
        "owner",
        "action",
        "state",
        "state_after",
        "attempts",
        "attempts_after",
        "rules",
        "outcome",
        "compared",
        "undoable",
    ];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        vec![
            self.id.clone(),
            self.queue.clone().unwrap_or_default(),
            self.kind.clone().unwrap_or_default(),
            self.owner.clone().unwrap_or_default(),
            self.action.clone().unwrap_or_default(),
            self.state.clone().unwrap_or_default(),
            self.state_after.clone().unwrap_or_default(),
            number(self.attempts),
            number(self.attempts_after),
            self.rules.join(" "),
            self.outcome.clone(),
            self.compared.clone().unwrap_or_default(),
            self.undoable.to_string(),
        ]
    }
}
