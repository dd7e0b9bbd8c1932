//! What the lists of `history RUN` and `undo` say of a recorded step.

use super::columns;
use super::format::{Cell, Tone};
use crate::model::{Action, Outcome, RecordedStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The job of a recorded step, and what is done to it. Names are those of [`Job`](super::Job): the record calls the state
/// before `state_before`, a document `state`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct RecordedJob {
    /// The job.
    pub id: String,
    /// The parts of its key as they are; null where only its id is recorded.
    pub key: Option<Vec<String>>,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it; after an undo, who holds it again as far as the row says.
    pub owner: Option<String>,
    /// The action, which an undo reverts; null for a step that did not come to it.
    pub action: Option<Action>,
    /// Its state before, in the queue's own words.
    pub state: Option<String>,
    /// Its state after.
    pub state_after: Option<String>,
    /// Its attempts before.
    pub attempts: Option<i64>,
    /// Its attempts after.
    pub attempts_after: Option<i64>,
}

impl RecordedJob {
    /// The columns of `csv`.
    pub(super) const COLUMNS: &'static str = "id queue kind owner action state state_after attempts attempts_after";

    /// That of a step.
    pub fn of(step: &RecordedStep) -> RecordedJob {
        RecordedJob {
            id: step.id.clone(),
            key: Some(step.key.parts()),
            queue: step.queue.clone(),
            kind: step.kind.clone(),
            owner: step.owner.clone(),
            action: Some(step.action),
            state: Some(step.state_before.clone()),
            state_after: Some(step.state_after.clone()),
            attempts: step.attempts_before,
            attempts_after: step.attempts_after,
        }
    }

    /// A job of which only the id is recorded.
    pub fn unknown(id: String) -> RecordedJob {
        RecordedJob { id, ..RecordedJob::default() }
    }

    /// The first cells of its row in a table: id, queue, kind, owner, action.
    pub(super) fn cells(&self) -> Vec<Cell> {
        vec![
            self.id.as_str().into(),
            columns::text(self.queue.as_deref()),
            columns::text(self.kind.as_deref()),
            columns::text(self.owner.as_deref()),
            columns::text(self.action.map(Action::name)),
        ]
    }
}

/// What the row of a recorded step is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowNow {
    /// As the run left it: it was moved, and is unchanged since.
    Untouched,
    /// Neither as before the run nor as the run left it.
    Changed,
    /// As it was before the run: it was not moved, or it was reverted already.
    AsBefore,
    /// No longer there.
    Gone,
}

impl RowNow {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RowNow::Untouched => "untouched",
            RowNow::Changed => "changed",
            RowNow::AsBefore => "as_before",
            RowNow::Gone => "gone",
        }
    }

    /// What it says of a step whose outcome is unknown.
    pub fn as_outcome(self) -> &'static str {
        match self {
            RowNow::Untouched => "moved",
            RowNow::Changed => "changed",
            RowNow::AsBefore => "not_moved",
            RowNow::Gone => "gone",
        }
    }
}

/// How a step ended, in its tone; `lost_race` is that of `changed` and `gone`.
pub(super) fn outcome(outcome: Option<Outcome>, lost_race: Tone) -> Cell {
    let Some(outcome) = outcome else { return Cell::new("-", Tone::Dim) };
    let tone = match outcome {
        Outcome::Moved => Tone::Plain,
        Outcome::Changed | Outcome::Gone => lost_race,
        Outcome::Locked | Outcome::NotTried => Tone::Warn,
        Outcome::Refused | Outcome::Unknown => Tone::Bad,
    };
    Cell::new(outcome.name(), tone)
}
