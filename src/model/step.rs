use super::{EvidenceRow, Key, Precondition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What is done to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Back to the queue.
    Requeue,
    /// To the failed state, for good.
    Fail,
    /// To the cancelled state, because that had been requested.
    Cancel,
    /// To a state of its own for jobs that took too long, where the table has one.
    TimeOut,
    /// Nowhere: the job stays as it is, and the queue's workers are notified once more.
    Wake,
}

impl Action {
    /// Every action, in the order in which they are listed to people.
    pub const ALL: [Action; 5] = [Action::Requeue, Action::Fail, Action::Cancel, Action::TimeOut, Action::Wake];

    /// The name used in presets, in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Action::Requeue => "requeue",
            Action::Fail => "fail",
            Action::Cancel => "cancel",
            Action::TimeOut => "time_out",
            Action::Wake => "wake",
        }
    }

    /// What was done, for sentences: `requeued 3 jobs`.
    pub fn past(self) -> &'static str {
        match self {
            Action::Requeue => "requeued",
            Action::Fail => "failed",
            Action::Cancel => "cancelled",
            Action::TimeOut => "timed out",
            Action::Wake => "woke the workers of",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an action does to the attempts counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptsChange {
    /// The lost run is counted elsewhere, or not in the table at all.
    Keep,
    /// The lost run costs one attempt, and nothing else would count it.
    Add(i64),
    /// Back to zero.
    Zero,
    /// Up to the maximum: how a queue without a failed state marks a job that shall not run again.
    ToMax,
}

impl AttemptsChange {
    /// The counter after the action; `None` when it would leave the range of 64 bits, or goes to a maximum that there is not.
    pub fn after(self, before: i64, max: Option<i64>) -> Option<i64> {
        match self {
            AttemptsChange::Keep => Some(before),
            AttemptsChange::Add(n) => before.checked_add(n),
            AttemptsChange::Zero => Some(0),
            AttemptsChange::ToMax => max,
        }
    }
}

/// One action on one job, with the precondition that must still hold when it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Which job.
    pub key: Key,
    /// Its queue, for wake-ups.
    pub queue: Option<String>,
    /// What is done to it.
    pub action: Action,
    /// The state it will have, in the queue's own words.
    pub state_after: String,
    /// The counter afterwards, where the table has one.
    pub attempts_after: Option<i64>,
    /// What must be unchanged.
    pub precondition: Precondition,
    /// The owner's row, which must be unchanged too.
    pub evidence_row: EvidenceRow,
}

/// Steps that are executed together: one transaction, one kind of action.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<'a> {
    /// What is done.
    pub action: Action,
    /// The steps, all of that action.
    pub steps: &'a [Step],
    /// Why, for the column where the queue keeps its last error.
    pub reason: &'a str,
    /// For each step, how long after the transaction's now its job may run again, where the action says when; a step without
    /// one goes back at once.
    pub waits: &'a [Duration],
    /// For each step of a fail in the place of a requeue, the unique key that refused the requeue: the job is failed only while the
    /// row that holds that key is seen. Empty otherwise.
    pub instead: &'a [RowError],
}

/// How one step ended. Losing a race is a normal end, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The database committed it.
    Moved,
    /// The row or its evidence row was no longer what had been judged. It was skipped.
    Changed,
    /// The row was no longer there.
    Gone,
    /// Another session holds the row or its evidence row. It was skipped.
    Locked,
    /// The database refused it, because of this row's data.
    Refused,
    /// It was not reached.
    NotTried,
    /// The connection was lost while the commit was under way, and the database could not be asked since.
    Unknown,
}

impl Outcome {
    /// Every outcome, in the order of the documents.
    pub const ALL: [Outcome; 7] = [
        Outcome::Moved,
        Outcome::Changed,
        Outcome::Gone,
        Outcome::Locked,
        Outcome::Refused,
        Outcome::NotTried,
        Outcome::Unknown,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Moved => "moved",
            Outcome::Changed => "changed",
            Outcome::Gone => "gone",
            Outcome::Locked => "locked",
            Outcome::Refused => "refused",
            Outcome::NotTried => "not_tried",
            Outcome::Unknown => "unknown",
        }
    }
}

/// Why the database refused a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowError {
    /// The SQLSTATE, or SQLite's name for the result code.
    pub sqlstate: Option<String>,
    /// The constraint in the way, where the database names it.
    pub constraint: Option<String>,
    /// The database's own words.
    pub message: String,
}

impl RowError {
    /// True if another row holds a unique key that the row would get.
    pub fn is_of_unique_key(&self) -> bool {
        let codes = ["23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"];
        self.sqlstate.as_deref().is_some_and(|code| codes.contains(&code))
    }
}

/// How one step ended, and why where it was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepResult {
    /// The end.
    pub outcome: Outcome,
    /// The reason of [`Outcome::Refused`]; of a fail in the place of a requeue, what refused the requeue.
    pub error: Option<RowError>,
}

impl StepResult {
    /// A result that needs no reason.
    pub fn of(outcome: Outcome) -> StepResult {
        StepResult { outcome, error: None }
    }

    /// A row that the database refused.
    pub fn refused(error: RowError) -> StepResult {
        StepResult { outcome: Outcome::Refused, error: Some(error) }
    }
}

/// What became of a batch: exactly one result a step, in order, whatever happened.
#[derive(Debug)]
pub struct BatchReport<E> {
    /// One result for each step.
    pub results: Vec<StepResult>,
    /// Why no further batch should be tried, if so.
    pub stop: Option<E>,
    /// Things that went wrong after the commit and change nothing about it (a wake-up that failed).
    pub warnings: Vec<String>,
    /// How long its statements took in the transaction that ended it, without the beginning and the commit.
    pub took: Duration,
}

impl<E> BatchReport<E> {
    /// Whether nothing was written because the commit was refused on account of some row: each half is to be tried by itself.
    pub fn is_to_be_split(&self) -> bool {
        let is_not_tried = |result: &StepResult| result.outcome == Outcome::NotTried;
        self.stop.is_none() && self.results.len() > 1 && self.results.iter().all(is_not_tried)
    }
}
