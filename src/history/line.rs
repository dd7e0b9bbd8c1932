//! The lines of a journal file.

use crate::model::{End, Outcome, RunHead, Step, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that a journal's first line names.
pub const SCHEMA: &str = "jobdoctor.journal/v2";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JournalLine {
    /// The first: which run this is.
    Head {
        /// Always [`SCHEMA`].
        schema: String,
        #[serde(flatten)]
        head: Box<RunHead>,
    },
    /// What a batch is about to commit.
    Intent {
        /// The batch, counted from 1. A batch that is tried again writes another intent with the same number.
        batch: u64,
        /// The clock of the transaction.
        at: Timestamp,
        /// The jobs that it moves, with their rows; their outcome is unknown until the commit is answered.
        steps: Vec<Step<End>>,
    },
    /// What became of a batch.
    Result {
        /// The batch, counted from 1.
        batch: u64,
        /// Every step of it, in order, without the rows, which the intent has.
        steps: Vec<Step<End>>,
        /// The places, counted from 0, of steps that a later batch tries once more: what becomes of them there counts.
        tried_again: Vec<usize>,
    },
    /// The last: the run came to its end.
    End(RunEnd),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    pub outcomes: Counts,
    /// Jobs that were moved, or may have been, and that no intent names, because it could not be written.
    pub unrecorded: u64,
    /// Why it stopped early, if it did.
    pub stop: Option<String>,
}

pub type Counts = BTreeMap<Outcome, u64>;
