use super::{Column, StateValue};
use crate::model::{Action, AttemptsChange};
use crate::preset::WrittenAt;
use crate::preset::encoding::Encodings;
use crate::preset::template::Template;
use std::collections::BTreeMap;

/// What an action does.
#[derive(Debug, Clone)]
pub struct ActionSpec {
    /// The state it leads to.
    pub to: StateValue,
    /// What happens to the attempts counter.
    pub attempts: AttemptsChange,
    /// The statements, in order; none where the action is refused.
    pub steps: Vec<StepSpec>,
    /// Why it is never done, if so.
    pub refused: Option<String>,
    /// True if the row must be locked as for a delete: the action deletes rows, or changes a unique or partition column.
    pub locks_for_update: bool,
    /// What is done instead where the job is to run later, if that is not the same.
    pub delayed: Option<Box<ActionSpec>>,
    /// Where the preset or mapping says so.
    pub at: WrittenAt,
}

/// One statement of an action.
#[derive(Debug, Clone)]
pub enum StepSpec {
    /// An UPDATE of the claim's row.
    Update(Vec<Assignment>),
    /// Any statement.
    Sql {
        /// The statement.
        sql: Template,
        /// How many rows it must touch.
        rows: Rows,
        /// The encodings that `:now.column` and `:run_at.column` may ask for.
        encodings: BTreeMap<String, Encodings>,
        /// Where the preset or mapping says so.
        at: WrittenAt,
    },
}

/// `column = value` in an UPDATE.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The column.
    pub column: Column,
    /// The value.
    pub value: Template,
    /// How `:now` and `:run_at` are spelled in it.
    pub encodings: Option<Encodings>,
    /// Where the preset or mapping says so.
    pub at: WrittenAt,
}

/// How many rows a statement must touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// One for each key.
    Each,
    /// At most one for each key.
    AtMostEach,
    /// Any number.
    Any,
}

/// A condition under which a step is kept back.
#[derive(Debug, Clone)]
pub struct Skip {
    /// Its name.
    pub name: String,
    /// The condition, over the claim's aliases.
    pub condition: Template,
    /// The actions it keeps back.
    pub actions: Vec<Action>,
    /// Why.
    pub reason: String,
}

/// A wake-up, sent once for each distinct queue after the commit.
#[derive(Debug, Clone)]
pub enum Notify {
    /// `pg_notify`.
    Channel {
        /// The channel.
        channel: Template,
        /// What is sent.
        payload: Template,
        /// Where the preset or mapping says so.
        at: WrittenAt,
    },
    /// A statement.
    Sql {
        /// The statement.
        sql: Template,
        /// Where the preset or mapping says so.
        at: WrittenAt,
    },
}

impl Notify {
    /// Where the preset or mapping says so.
    pub fn at(&self) -> &WrittenAt {
        match self {
            Notify::Channel { at, .. } | Notify::Sql { at, .. } => at,
        }
    }
}
