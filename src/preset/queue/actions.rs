//! What is done to a job: the statements of an action, what stands in its way, what a record of it keeps, and how
//! workers are woken.

use super::{Jobs, Queue, StateValue};
use crate::model::{Action, AttemptsChange};
use crate::preset::WrittenAt;
use crate::preset::encoding::Encodings;
use crate::preset::template::{Column, Marker, Template};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct ActionSpec {
    pub to: StateValue,
    pub attempts: AttemptsChange,
    pub steps: Vec<StepSpec>,
    /// The reason why jobdoctor refuses it, if it does.
    pub refused: Option<String>,
    /// True if the row must be locked as for a delete: the action deletes rows, or changes a unique or partition
    /// column.
    pub locks_for_update: bool,
    /// What is done instead where the job is to run later, if that is not the same.
    pub delayed: Option<Box<ActionSpec>>,
    /// True if its jobs are to wait for a worker again; else they have ended.
    pub requeues: bool,
    /// True for a requeue whose jobs are failed where a unique key refuses it.
    pub fails_refused: bool,
    pub at: WrittenAt,
}

#[derive(Debug, Clone)]
pub enum StepSpec {
    /// An UPDATE of the claim's row.
    Update(Vec<Assignment>),
    /// A statement that the preset wrote, with the encodings that `:now.column` and `:run_at.column` may ask for.
    Sql { sql: Template, rows: Rows, encodings: BTreeMap<String, Encodings>, at: WrittenAt },
}

impl StepSpec {
    pub fn sql(&self) -> Option<&Template> {
        if let StepSpec::Sql { sql, .. } = self { Some(sql) } else { None }
    }
}

/// `column = value` in an UPDATE.
#[derive(Debug, Clone)]
pub struct Assignment {
    pub column: Column,
    pub value: Template,
    pub encodings: Option<Encodings>,
    pub at: WrittenAt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    Each,
    #[serde(rename = "at most each")]
    AtMostEach,
    Any,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Skip<Q = Template> {
    /// The condition, over the claim's aliases.
    #[serde(rename = "if")]
    pub condition: Q,
    #[serde(default = "every_action")]
    pub actions: Vec<Action>,
    pub reason: String,
}

fn every_action() -> Vec<Action> {
    Action::ALL.to_vec()
}

/// A wake-up, sent once for each distinct queue after the commit.
#[derive(Debug, Clone)]
pub struct Notify {
    pub sql: Template,
    pub at: WrittenAt,
}

/// Jobs that never run, or not for hours, although no worker holds them, so that no listing has them: `[check.NAME]`.
#[derive(Debug, Clone, Deserialize)]
pub struct CheckSpec<Q = Template> {
    #[serde(skip)]
    pub name: String,
    /// A query that returns their number: one row, one integer.
    pub sql: Q,
    /// What the number counts, as the beginning of a sentence.
    pub finds: String,
    pub remedy: String,
}

impl Jobs {
    /// The columns that an action assigns, which a record of it keeps; `None` where it cannot be undone: it is more
    /// than one UPDATE of the claim's own table, or this role may not read all that it writes.
    pub fn recorded(&self, action: Action) -> Option<Vec<&Column>> {
        self.written_by(self.actions.get(&action)?)
    }

    /// The columns that an undo of that action may restore: those that it assigns to claims, to jobs that wait, or to
    /// interrupted ones, with a delay too; `None` where none of it can be undone.
    pub fn revertible(&self, action: Action) -> Option<Vec<&Column>> {
        let Queue { waited_actions, retry, .. } = &*self.queue;
        let of_both = [&self.actions, waited_actions].into_iter().filter_map(|actions| actions.get(&action));
        let of_all = of_both.chain(retry.as_ref().filter(|_| action == Action::Requeue));
        let delayed = of_all.flat_map(|action| std::iter::once(action).chain(action.delayed.as_deref()));
        let written: Vec<Vec<&Column>> = delayed.filter_map(|action| self.written_by(action)).collect();
        (!written.is_empty()).then(|| written.concat())
    }

    fn written_by(&self, action: &ActionSpec) -> Option<Vec<&Column>> {
        let [StepSpec::Update(assignments)] = action.steps.as_slice() else { return None };
        let of_row = |name: &str| self.row.iter().find(|column| column.name == name);
        assignments.iter().map(|assignment| of_row(&assignment.column.name)).collect()
    }

    /// How a job is requeued that is to run later.
    /// The error is a clause that says why that is impossible: the job would run at once, or never.
    pub fn delayed_requeue(&self) -> Result<ActionSpec, String> {
        let requeue = self.actions.get(&Action::Requeue).ok_or("it has no requeue")?;
        if let Some(why) = &requeue.refused {
            return Err(why.clone());
        }
        let delayed = requeue.delayed.as_deref().unwrap_or(requeue);
        match &delayed.refused {
            Some(why) => Err(why.clone()),
            None if delayed.asks(&|marker| matches!(marker, Marker::RunAt(_))) => Ok(delayed.clone()),
            None => {
                let table = self.queue.tables.get(&self.claim.lock_table);
                let table = table.map_or_else(String::new, |table| format!(" in {}.{}", table.schema, table.name));
                Err(format!("it has no column{table} that says when a job may run"))
            }
        }
    }
}

impl ActionSpec {
    /// True if it does no more than one UPDATE of the claim's own table.
    pub fn is_one_update(&self) -> bool {
        matches!(self.steps.as_slice(), [StepSpec::Update(_)])
    }

    /// What is wrong with it if it leaves a job elsewhere than it says: that one, or any.
    pub fn astray(&self, id: Option<&str>) -> String {
        let job = id.map_or_else(|| "a job".to_owned(), |id| format!("job {id}"));
        let (where_to, columns) = if self.requeues {
            (
                "where no worker takes it: still in flight (`claim.where`), or not waiting (`waiting.is`)",
                "makes a row wait",
            )
        } else {
            (
                "where it has not ended: in flight (`claim.where`), waiting (`waiting.is`), or outside `ended.where`",
                "ends a job",
            )
        };
        format!("would leave {job} {where_to}. Set here what {columns}, or mend the condition")
    }

    /// True if something that it writes asks for such a value.
    pub fn asks(&self, wanted: &dyn Fn(&Marker) -> bool) -> bool {
        let asks = |sql: &Template| sql.markers().any(wanted);
        self.steps.iter().any(|step| match step {
            StepSpec::Update(assignments) => assignments.iter().any(|assignment| asks(&assignment.value)),
            StepSpec::Sql { sql, .. } => asks(sql),
        })
    }
}
