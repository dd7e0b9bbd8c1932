use super::{Column, Expr, TimeColumn};
use crate::preset::template::Template;

/// See [`QueueSpec::claim`](super::QueueSpec::claim).
#[derive(Debug, Clone)]
pub struct ClaimSpec {
    /// The FROM clause, without the owner's join.
    pub from: Template,
    /// The alias whose rows are locked and moved.
    pub lock: String,
    /// The table behind that alias, by its logical name.
    pub lock_table: String,
    /// True where a join may give one job several rows: no unique index says that the joined table has one for each.
    pub may_repeat: bool,
    /// What identifies a job.
    pub key: Vec<Column>,
    /// Where the state is read.
    pub state: StateSource,
    /// What else makes a row in flight.
    pub filter: Option<Template>,
    /// The queue's name.
    pub queue: Option<Expr>,
    /// The kind of work.
    pub kind: Option<Expr>,
    /// When it was claimed.
    pub claimed_at: Option<TimeColumn>,
    /// What changes while a job is worked on, beside its signs of life; a snapshot file compares it.
    pub progress: Vec<Expr>,
    /// Everything that must be unchanged: the preset's own columns and all that a verdict reads.
    pub precondition: Vec<Expr>,
    /// What must come true for a row once it is locked, or its job is skipped as locked. It may have an effect: to take a
    /// lock that workers respect.
    pub guard: Option<Template>,
}

impl ClaimSpec {
    /// The column of the job's own row that holds its state: none where the row's place is its state, or where the state is
    /// joined from another table.
    #[must_use]
    pub fn own_state(&self) -> Option<&Column> {
        match &self.state {
            StateSource::Column(column) if column.alias == self.lock => Some(column),
            StateSource::Column(_) | StateSource::Place(_) => None,
        }
    }
}

/// Where a job's state is to be read.
#[derive(Debug, Clone, PartialEq)]
pub enum StateSource {
    /// In a column, whose in-flight values [`States`](super::States) names.
    Column(Column),
    /// The row's place is its state; this is what it is called.
    Place(String),
}
