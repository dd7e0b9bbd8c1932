use super::{Outcomes, RowError, Spool, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `jobdoctor.undo/v1`: what of a run is taken back, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Undo {
    /// `jobdoctor.undo/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The run that is taken back.
    pub undoes: String,
    /// Where that run is recorded: `journal` or `ledger`.
    pub recorded_in: String,
    /// False for a dry run, and for one that was refused.
    pub applied: bool,
    /// This run, which can be taken back in turn; null where it gave nothing back, as in a dry run.
    pub run_id: Option<String>,
    /// The file with the journal of this run; null where there is none.
    pub journal: Option<String>,
    /// True if `undo` could take back this run in turn, or could.
    pub undoable: bool,
    /// The counts.
    pub summary: UndoSummary,
    /// Why it was not done although that was asked for, or could not be.
    pub refused: Option<String>,
    /// What an operator should know.
    pub warnings: Vec<String>,
    /// The jobs that the run moved and that are recorded.
    pub steps: Spool<UndoStep>,
    /// The jobs that the run moved and that cannot be given back, whatever they are now.
    pub left: Spool<UndoLeft>,
}

/// The counts of an [`Undo`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct UndoSummary {
    /// Steps.
    pub planned: u64,
    /// Of them: as the run left them at the time of the snapshot.
    pub untouched: u64,
    /// Of them: touched since.
    pub changed: u64,
    /// Of them: no longer there.
    pub gone: u64,
    /// Jobs in `left`, which cannot be given back.
    pub left: u64,
    /// Jobs that the run moved and that no record names, so that they cannot be given back either; null where the record has no
    /// end, so that their number is not known.
    pub unrecorded: Option<u64>,
    /// How the steps ended; null in a dry run. All seven, and they add up to the steps.
    pub outcomes: Option<Outcomes>,
}

/// A job that is to be given back, or was.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoStep {
    /// The job.
    pub id: String,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it, and will again as far as the row says.
    pub owner: Option<String>,
    /// The action that is taken back.
    pub action: String,
    /// The state that the run left it in, in the queue's own words.
    pub state: String,
    /// The state that it comes back to.
    pub state_after: String,
    /// The attempts that the run left it with.
    pub attempts: Option<i64>,
    /// Its attempts afterwards.
    pub attempts_after: Option<i64>,
    /// What its row was at the snapshot: `untouched`, `changed`, `as_before` (what it was before the run, so there is nothing to give
    /// back) or `gone`.
    pub seen: String,
    /// The state it was in at the snapshot; null where the state is no column.
    pub state_seen: Option<String>,
    /// How it ended; null in a dry run.
    pub outcome: Option<String>,
    /// Why the database refused it.
    pub error: Option<RowError>,
}

/// A job that cannot be given back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoLeft {
    /// The job.
    pub id: String,
    /// The action that stays; null where nobody has recorded it.
    pub action: Option<String>,
    /// The state that the run left it in; null where nobody has recorded it.
    pub state: Option<String>,
    /// Why.
    pub detail: String,
}

impl UndoStep {
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
        "seen",
        "state_seen",
        "outcome",
        "error",
    ];

    /// The values of those columns; what is not known is empty.
    pub fn values(&self) -> Vec<String> {
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        vec![
            self.id.clone(),
            self.queue.clone().unwrap_or_default(),
            self.kind.clone().unwrap_or_default(),
            self.owner.clone().unwrap_or_default(),
            self.action.clone(),
            self.state.clone(),
            self.state_after.clone(),
            number(self.attempts),
            number(self.attempts_after),
            self.seen.clone(),
            self.state_seen.clone().unwrap_or_default(),
            self.outcome.clone().unwrap_or_default(),
            self.error.as_ref().map(|error| error.message.clone()).unwrap_or_default(),
        ]
    }
}
