use super::{EvidenceRow, Key, Precondition, RowChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use strum::{Display, IntoStaticStr};

/// Why jobdoctor fails a job, as the code that it leaves where the queue has room for one: only what its worker's death
/// failed is ever brought back as interrupted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum FailCode {
    /// Its worker is dead, and it has no attempt left.
    WorkerLost,
    /// A rule of the config file, a deadline or the stall budget fails it, whether its worker lives or not.
    LimitExceeded,
    /// The operator asked for it.
    #[default]
    ByOperator,
    /// Another job holds the unique key that its requeue needs.
    KeyTaken,
}

impl FailCode {
    /// Those of a decision: what they fail stays failed.
    pub const DECIDED: [FailCode; 3] = [FailCode::LimitExceeded, FailCode::ByOperator, FailCode::KeyTaken];

    /// The text that `:fail_code` stands for in a preset.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is done to a job.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, IntoStaticStr, Display,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
        self.into()
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

/// What an action does to the attempts counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptsChange {
    /// The lost run is counted elsewhere, or not in the table at all.
    #[default]
    Keep,
    /// The lost run costs one attempt, and nothing else would count it.
    Add(i64),
    Zero,
    /// Up to the maximum: how a queue without a failed state marks a job that shall not run again.
    ToMax,
}

impl AttemptsChange {
    /// The counter after the action; `None` when it would leave the range of 64 bits, or goes to a maximum that there
    /// is not.
    pub fn after(self, before: i64, max: Option<i64>) -> Option<i64> {
        match self {
            AttemptsChange::Keep => Some(before),
            AttemptsChange::Add(n) => before.checked_add(n),
            AttemptsChange::Zero => Some(0),
            AttemptsChange::ToMax => max,
        }
    }
}

/// One action on one job. It is this type when it is planned, applied, recorded, listed and reverted; what its `stage`
/// holds is known then: a [`Write`] before it is tried, its [`End`] afterwards. A journal line, a ledger row and an
/// item of `history` are a `Step<End>`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step<S = Write> {
    /// The job, as people see it.
    pub id: String,
    /// Its key, exactly: a list of stored values.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub key: Key,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it; after an undo, who holds it again as far as the row says.
    pub owner: Option<String>,
    /// What is done; of an undo, the action that is reverted.
    pub action: Action,
    /// The state before, in the queue's own words.
    pub state: String,
    /// The state after.
    pub state_after: String,
    /// Attempts before, where the table has a counter.
    pub attempts: Option<i64>,
    /// Attempts after.
    pub attempts_after: Option<i64>,
    /// The rules that it was judged by.
    pub rules: Vec<String>,
    /// What is known of it at this stage.
    #[serde(flatten)]
    pub stage: S,
}

/// What a planned step writes, and what must be unchanged until then. It may hold tokens, and is never recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Write {
    /// The preset's own statements.
    Act {
        /// What must be unchanged.
        #[schemars(with = "String")]
        precondition: Precondition,
        /// The owner's row, which must be unchanged too.
        #[schemars(with = "serde_json::Value")]
        evidence_row: EvidenceRow,
        /// Why it fails; of a saved plan it is drafted anew.
        #[serde(skip)]
        fail_code: FailCode,
        /// True for a requeue that becomes a fail where a unique key refuses it and the job that holds the key is seen.
        #[serde(default)]
        or_fail: bool,
        /// Of such a fail, what refused the requeue.
        #[serde(skip)]
        refusal: Option<RowError>,
    },
    /// The values that a row had before a run, if the row is still what that run left.
    Restore(RowChange),
}

/// How a step ended. Losing a race is a normal end, not an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// The end; until a commit is answered it is [`Outcome::Unknown`].
    pub outcome: Outcome,
    /// The reason of [`Outcome::Refused`]; of a fail in the place of a requeue, what refused the requeue. A record has
    /// no message: the database's words may hold anything.
    pub error: Option<RowError>,
    /// The row before and after; null where the step moved nothing, or is more than one UPDATE of the claim's own
    /// table, so that nothing short of the queue's own knowledge would revert it. A line without the field is refused.
    #[serde(deserialize_with = "Option::deserialize")]
    pub row: Option<RowChange>,
}

impl<S> Step<S> {
    pub fn at<T>(&self, stage: T) -> Step<T> {
        Step {
            id: self.id.clone(),
            key: self.key.clone(),
            queue: self.queue.clone(),
            kind: self.kind.clone(),
            owner: self.owner.clone(),
            action: self.action,
            state: self.state.clone(),
            state_after: self.state_after.clone(),
            attempts: self.attempts,
            attempts_after: self.attempts_after,
            rules: self.rules.clone(),
            stage,
        }
    }
}

impl Step<Write> {
    /// The text that must be unchanged: the precondition, or the fingerprint of the row that a run left.
    pub fn precondition(&self) -> &str {
        match &self.stage {
            Write::Act { precondition, .. } => &precondition.0,
            Write::Restore(row) => &row.after.0,
        }
    }

    pub fn evidence_row(&self) -> &EvidenceRow {
        match &self.stage {
            Write::Act { evidence_row, .. } => evidence_row,
            Write::Restore(_) => &EvidenceRow::None,
        }
    }

    pub fn fail_code(&self) -> FailCode {
        match &self.stage {
            Write::Act { fail_code, .. } => *fail_code,
            Write::Restore(_) => FailCode::default(),
        }
    }

    /// True for a requeue that becomes a fail where a unique key refuses it.
    pub fn fails_if_refused(&self) -> bool {
        matches!(self.stage, Write::Act { or_fail: true, .. }) && self.action == Action::Requeue
    }

    /// Of a fail in the place of a requeue, what refused the requeue.
    pub fn refusal(&self) -> Option<&RowError> {
        match &self.stage {
            Write::Act { refusal, .. } => refusal.as_ref(),
            Write::Restore(_) => None,
        }
    }

    /// The row to restore, where the step reverts another one.
    pub fn restores(&self) -> Option<&RowChange> {
        if let Write::Restore(row) = &self.stage { Some(row) } else { None }
    }
}

impl Step<End> {
    /// True if the job was moved, or may have been, and its row is recorded.
    pub fn is_undoable(&self) -> bool {
        self.stage.may_have_moved() && self.stage.row.is_some()
    }

    /// Plans the step that reverts this one, from where it led to where it began; `None` where its row is not recorded.
    pub fn reverted(&self) -> Option<Step> {
        let step = self.at(Write::Restore(self.stage.row.clone()?));
        Some(Step {
            state: self.state_after.clone(),
            state_after: self.state.clone(),
            attempts: self.attempts_after,
            attempts_after: self.attempts,
            rules: Vec::new(),
            ..step
        })
    }
}

/// Steps that are executed together: one transaction, one kind of action. Either all of them restore rows, with values
/// of the same columns, or none does.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<'a> {
    pub action: Action,
    pub steps: &'a [Step],
    /// Why, for the column where the queue keeps its last error.
    pub reason: &'a str,
    /// For each step, how long after the transaction's now its job may run again, where the action says when; a step
    /// without one goes back at once.
    pub waits: &'a [Duration],
}

/// The end of a step in one word.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Why the database refused a row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl End {
    pub fn of(outcome: Outcome) -> End {
        End { outcome, error: None, row: None }
    }

    pub fn refused(error: RowError) -> End {
        End { error: Some(error), ..End::of(Outcome::Refused) }
    }

    /// True unless it is known that the job was not moved.
    pub fn may_have_moved(&self) -> bool {
        matches!(self.outcome, Outcome::Moved | Outcome::Unknown)
    }

    /// For a record: the database's words may hold anything, and are not kept.
    #[must_use]
    pub fn without_message(mut self) -> End {
        self.error.iter_mut().for_each(|error| error.message.clear());
        self
    }
}

/// What became of a batch: exactly one end a step, in order, whatever happened.
#[derive(Debug)]
pub struct BatchReport<E> {
    pub results: Vec<End>,
    /// Why no further batch should be tried, if so.
    pub stop: Option<E>,
    /// Things that went wrong after the commit and change nothing about it (a wake-up that failed).
    pub warnings: Vec<String>,
    pub cost: Cost,
}

/// What the statements of a batch cost in the transaction that ended it, without the beginning and the commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// How long they took, and held locks.
    pub took: Duration,
    /// How long of that they kept the database busy.
    pub busy: Duration,
    /// The bytes of its log that a server wrote meanwhile; 0 where it does not say.
    pub logged: u64,
}

impl<E> BatchReport<E> {
    /// Whether nothing was written because the commit was refused on account of some row: each half is to be tried by
    /// itself.
    pub fn is_to_be_split(&self) -> bool {
        let is_not_tried = |result: &End| result.outcome == Outcome::NotTried;
        self.stop.is_none() && self.results.len() > 1 && self.results.iter().all(is_not_tried)
    }
}
