//! The lines of a journal file. Additions only within v1.

use crate::model::{Outcome, RecordedStep, RunHead, StepResult, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that a journal's first line names.
pub const SCHEMA: &str = "jobdoctor.journal/v1";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JournalLine {
    /// The first: which run this is.
    Head {
        /// Always [`SCHEMA`].
        schema: String,
        /// The run.
        #[serde(flatten)]
        head: Box<RunHead>,
    },
    /// What a batch is about to commit.
    Intent {
        /// The batch, counted from 1. A batch that is tried again writes another intent with the same number.
        batch: u64,
        /// The clock of the transaction.
        at: Timestamp,
        /// The jobs that it moves.
        changes: Vec<RecordedStep>,
    },
    /// What became of a batch.
    Result {
        /// The batch, counted from 1.
        batch: u64,
        /// One for each step of it, in order.
        steps: Vec<StepEnd>,
    },
    /// The last: the run came to its end.
    End(RunEnd),
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// How many steps ended how.
    pub outcomes: Counts,
    /// Jobs that were moved, or may have been, and that no intent names, because it could not be written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u64,
    /// Why it stopped early, if it did.
    pub stop: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How one step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEnd {
    /// The id as people see it.
    pub id: String,
    /// How.
    pub outcome: Outcome,
    /// The code of the database's error, where it refused the row; its words may hold anything, and are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlstate: Option<String>,
    /// The constraint that was in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// True where a later batch tries the job once more: what becomes of it there counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried_again: bool,
}

impl StepEnd {
    pub(super) fn of(id: &str, result: &StepResult, tried_again: bool) -> StepEnd {
        let error = result.error.as_ref();
        StepEnd {
            id: id.to_owned(),
            outcome: result.outcome,
            sqlstate: error.and_then(|error| error.sqlstate.clone()),
            constraint: error.and_then(|error| error.constraint.clone()),
            tried_again,
        }
    }
}

/// How many steps ended how.
pub type Counts = BTreeMap<Outcome, u64>;
