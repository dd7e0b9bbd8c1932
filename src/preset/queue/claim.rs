//! What makes a row a claim, who holds it, and how its columns are read.

use super::Jobs;
use crate::model::{Cell, Engine, HostSpelling};
use crate::preset::encoding::Encodings;
use crate::preset::field::{Field, Written};
use crate::preset::node::Value;
use crate::preset::template::{Column, Template};
use crate::preset::{SpecError, did_you_mean};
use serde::Deserialize;

#[derive(Debug, Clone)]
pub struct ClaimSpec {
    /// The FROM clause, without the owner's join.
    pub from: Template,
    pub lock: String,
    /// The table behind that alias, by its logical name.
    pub lock_table: String,
    /// True where a join may give one job several rows: no unique index says that the joined table has one for each.
    pub may_repeat: bool,
    /// True where a unique index proves that a key names one row, and no join may repeat it.
    pub has_unique_key: bool,
    pub key: Vec<Column>,
    /// The column of the lock table that is SQLite's rowid: rows lie in its order.
    pub rowid: Option<Column>,
    pub state: StateSource,
    /// What else makes a row in flight.
    pub filter: Option<Template>,
    pub queue: Option<Expr>,
    pub kind: Option<Expr>,
    pub claimed_at: Option<TimeColumn>,
    /// When it was created: it shows the zone of times.
    pub created_at: Option<TimeColumn>,
    /// What the job works on; read only if it is asked for.
    pub payload: Option<Expr>,
    /// The error of its last run that failed; read for named jobs.
    pub last_error: Option<Expr>,
    /// Columns other than its signs of life that change while a job is worked on; a snapshot file compares them.
    pub progress: Vec<Expr>,
    /// Everything that must be unchanged: the preset's own columns and all that a verdict reads.
    pub precondition: Vec<Expr>,
    /// What speaks for a claim that age alone condemns; `None` also where the role may not read it.
    pub veto: Option<Veto>,
    /// What the role may not read of a veto, as the end of a sentence.
    pub unread_veto: Option<String>,
    /// What must be true for a row once it is locked, or its job is skipped as locked. It may have an effect: acquire a
    /// lock that workers respect.
    pub guard: Option<Template>,
}

/// A row that only a living worker renews: while it is fresh, a claim that is too old is trouble and no death. Stale or
/// absent it says nothing.
#[derive(Debug, Clone)]
pub struct Veto {
    /// True while it is fresh.
    pub fresh: Expr,
    /// What that shows, in words.
    pub says: String,
    /// The tables that it reads, by their logical names.
    pub tables: Vec<String>,
}

impl ClaimSpec {
    /// The column of the job's own row that holds its state: none where the row's place is its state, or where the
    /// state is joined from another table.
    #[must_use]
    pub fn own_state(&self) -> Option<&Column> {
        match &self.state {
            StateSource::Column(column) if column.alias == self.lock => Some(column),
            StateSource::Column(_) | StateSource::Place(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum StateSource {
    /// In a column, whose in-flight values [`States`](super::States) names.
    Column(Column),
    /// The row's place is its state; this is what it is called.
    Place(String),
}

#[derive(Debug, Clone, Default)]
pub struct OwnerSpec {
    /// Who holds the claim; `None` where the table does not say.
    pub id: Option<Expr>,
    pub name: Option<Expr>,
    pub host: Option<Expr>,
    pub host_spelling: HostSpelling,
    pub row: Option<OwnerRowSpec>,
}

/// The owner's row in a table of its own. Its alias is always `o`.
#[derive(Debug, Clone)]
pub struct OwnerRowSpec {
    /// The table, by its logical name.
    pub table: String,
    pub on: JoinOn,
    /// A column of it that is never NULL.
    pub key: Column,
    /// True where a unique index says that no owner has two rows.
    pub is_unique: bool,
    /// False for a view whose rows the database cannot lock, and for a log, whose next row is not there yet.
    pub can_lock: bool,
    pub heartbeat: Option<TimeColumn>,
    pub started: Option<TimeColumn>,
    /// What it means that the claim names an owner which has no row.
    pub missing: Absence,
    /// What it means that the claim names no owner.
    pub unset: Absence,
}

/// The condition of the owner's join.
#[derive(Debug, Clone)]
pub enum JoinOn {
    /// Columns of the owner's row and what they equal.
    Match(Vec<(Column, Expr)>),
    /// The same, of a table that logs heartbeats: the owner's newest row by its heartbeat, which may be NULL.
    Newest { pairs: Vec<(Column, Expr)>, beat: Column, nullable: bool },
    /// A condition that the preset wrote.
    Sql(Template),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    Dead,
    /// The next liveness source decides.
    Next,
    #[default]
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateValue {
    pub name: String,
    /// The stored value: text or an integer.
    pub stored: Cell,
}

impl StateValue {
    /// A state that is stored as its name.
    pub(in crate::preset) fn plain(name: &str) -> StateValue {
        StateValue { name: name.to_owned(), stored: Cell::Text(name.to_owned()) }
    }
}

#[derive(Debug, Clone, Default)]
pub struct States {
    pub waiting: Vec<StateValue>,
    pub in_flight: Vec<StateValue>,
    /// Ended well.
    pub done: Vec<StateValue>,
    /// Ended badly, for good.
    pub failed: Vec<StateValue>,
    /// Ended by request.
    pub cancelled: Vec<StateValue>,
    /// Rows that are no matter of the queue: known, and never read.
    pub ignored: Vec<StateValue>,
}

impl States {
    pub fn all(&self) -> impl Iterator<Item = &StateValue> {
        let all = [&self.waiting, &self.in_flight, &self.done, &self.failed, &self.cancelled, &self.ignored];
        all.into_iter().flatten()
    }

    /// The state of a stored value that is spelled as the preset spells it.
    pub fn find(&self, stored: &Cell) -> Option<&StateValue> {
        // As text: a state that is declared as an integer may arrive cast.
        let text = stored.to_text();
        self.all().find(|state| state.stored.to_text() == text)
    }

    /// The queue's name for a stored value; the value itself where it has none.
    pub fn name_of(&self, stored: &Cell) -> String {
        self.find(stored).map_or_else(|| stored.to_string(), |state| state.name.clone())
    }

    pub(in crate::preset) fn named(&self, name: &Written) -> Result<StateValue, SpecError> {
        let hint = || did_you_mean(&name.text, self.all().map(|state| state.name.as_str()));
        let found = self.all().find(|state| state.name == name.text).cloned();
        found.ok_or_else(|| name.error(format!("[states] has no state `{}`{}", name.text, hint())))
    }

    pub(in crate::preset) fn waiting_named(&self, name: &Written) -> Result<StateValue, SpecError> {
        let hint = || did_you_mean(&name.text, self.waiting.iter().map(|state| state.name.as_str()));
        let found = self.waiting.iter().find(|state| state.name == name.text).cloned();
        found.ok_or_else(|| name.error(format!("`{}` is not one of the waiting states{}", name.text, hint())))
    }

    /// Reads `[states]`. A truth value is what that engine stores for it.
    pub(in crate::preset) fn read(field: &Field<'_>, engine: Engine) -> Result<States, SpecError> {
        field.knows(&["waiting", "in_flight", "done", "failed", "cancelled", "ignored"])?;
        let take = |key| field.child(key).map_or_else(|| Ok(Vec::new()), |field| state_values(&field, engine));
        Ok(States {
            waiting: take("waiting")?,
            in_flight: take("in_flight")?,
            done: take("done")?,
            failed: take("failed")?,
            cancelled: take("cancelled")?,
            ignored: take("ignored")?,
        })
    }
}

impl Jobs {
    /// The queue's name for the stored value of a job that the database says is one of these. A collation may call a value
    /// one of their states that is spelled otherwise.
    pub fn state_named(&self, stored: &Cell) -> String {
        let folded = |cell: &Cell| cell.to_text().map(|text| text.to_lowercase());
        let alike = || self.states.iter().find(|state| folded(&state.stored) == folded(stored));
        self.queue.states.find(stored).or_else(alike).map_or_else(|| stored.to_string(), |state| state.name.clone())
    }
}

/// Reads states by their names, with what is stored for each where that is not the name itself.
fn state_values(field: &Field<'_>, engine: Engine) -> Result<Vec<StateValue>, SpecError> {
    let stored = |field: &Field<'_>| match (&field.node.value, engine.has_strict_types()) {
        (Value::Text(text), _) => Ok(Cell::Text(text.clone())),
        (Value::Integer(number), _) => Ok(Cell::Integer(*number)),
        (Value::Boolean(truth), true) => Ok(Cell::Text(truth.to_string())),
        (Value::Boolean(truth), false) => Ok(Cell::Integer(i64::from(*truth))),
        _ => Err(field.error("must be the stored value: text, an integer, true or false")),
    };
    let of_its_name = |field: &Field<'_>| Ok(StateValue { stored: stored(field)?, name: field.spelled()? });
    match &field.node.value {
        Value::Table(_) => {
            let named =
                |(name, field): (&str, Field<'_>)| Ok(StateValue { name: name.to_owned(), stored: stored(&field)? });
            field.entries()?.into_iter().map(named).collect()
        }
        Value::Array(_) => field.items()?.iter().map(of_its_name).collect(),
        _ => Ok(vec![of_its_name(field)?]),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its schema; `main` on SQLite.
    pub schema: String,
    /// Its name, exactly as the catalog has it.
    pub name: String,
    /// True if it declares what becomes of a row that violates a constraint (`ON CONFLICT REPLACE`, say), on SQLite: a
    /// statement that writes to it says `OR ABORT`, or the declaration would decide, up to the deletion of another job.
    pub declares_conflict: bool,
    /// True if it has triggers. SQLite carries the `OR` of a statement into them.
    pub has_triggers: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TimeColumn {
    pub column: Column,
    /// Its encodings: any is read, the first is written.
    pub encodings: Encodings,
    /// Stored values that stand for "no value".
    pub sentinels: Vec<String>,
}

/// A value that is read: a column, or any expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column, which an index may serve.
    Column(Column),
    /// SQL over the claim's aliases.
    Sql(Template),
}
