//! A preset resolved against a real database: what the rest of the program works with.

use super::encoding::Encodings;
use super::template::Template;
use crate::model::{AttemptsChange, Cell, Engine, Move};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// One queue, as it stands in one database.
#[derive(Debug, Clone)]
pub struct QueueSpec {
    /// The preset's or mapping's name.
    pub preset: String,
    /// Its title, for people.
    pub title: String,
    /// The variants that the probes chose.
    pub variants: Vec<String>,
    /// The versions of the library it was checked against.
    pub checked: Vec<String>,
    /// How it was checked.
    pub proof: Proof,
    /// How a late worker's write is guarded.
    pub late_finish: LateFinish,
    /// The engine it was resolved for.
    pub engine: Engine,
    /// The schema its tables live in; `main` on SQLite.
    pub schema: String,
    /// The tables by the name the preset gives them.
    pub tables: BTreeMap<String, Table>,
    /// The states and what they mean.
    pub states: States,
    /// What makes a row a claim, and what is read of it.
    pub claim: ClaimSpec,
    /// Who holds it.
    pub owner: OwnerSpec,
    /// How life is told from death, best source first.
    pub liveness: Vec<Liveness>,
    /// How attempts are counted.
    pub attempts: Attempts,
    /// Rules about trouble.
    pub rules: Rules,
    /// What may be done to a job.
    pub moves: BTreeMap<Move, MoveSpec>,
    /// Conditions under which a step is kept back.
    pub holds: Vec<Hold>,
    /// How workers are woken after a commit.
    pub notify: Vec<Notify>,
    /// What the dry run prints.
    pub cautions: Vec<String>,
    /// Extra evidence: name and expression.
    pub show: Vec<(String, Expr)>,
}

/// How a preset was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Against the real library, run.
    Live,
    /// Against its tables only.
    Schema,
    /// Against what was read of it only.
    Facts,
}

/// How the write of a worker that comes back late is guarded by its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateFinish {
    /// By a token or owner: it misses.
    Fenced,
    /// By the job's state alone.
    ByState,
    /// By nothing but the id: it overwrites.
    ById,
    /// Nobody looked.
    Unknown,
}

/// A table in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its schema; `main` on SQLite.
    pub schema: String,
    /// Its name, exactly as the catalog has it.
    pub name: String,
}

/// A column of the claim's FROM clause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The alias of its table.
    pub alias: String,
    /// Its name, exactly as the catalog has it.
    pub name: String,
    /// Its type as the catalog has it; empty where it belongs to a sub-select.
    pub type_name: String,
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A time column and how it is spelled.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeColumn {
    /// The column.
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

/// See [`QueueSpec::claim`].
#[derive(Debug, Clone)]
pub struct ClaimSpec {
    /// The FROM clause, without the owner's join.
    pub from: Template,
    /// The alias whose rows are locked and moved.
    pub lock: String,
    /// The table behind that alias, by its logical name.
    pub lock_table: String,
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
    /// Everything that must be unchanged: the preset's own columns and all that a verdict reads.
    pub fence: Vec<Expr>,
}

/// Where a job's state is to be read.
#[derive(Debug, Clone, PartialEq)]
pub enum StateSource {
    /// In a column, whose in-flight values [`States`] names.
    Column(Column),
    /// The row's place is its state; this is what it is called.
    Place(String),
}

/// See [`QueueSpec::owner`].
#[derive(Debug, Clone, Default)]
pub struct OwnerSpec {
    /// Who holds the claim; `None` where the table does not say.
    pub id: Option<Expr>,
    /// The name people know the owner by.
    pub name: Option<Expr>,
    /// The owner's host.
    pub host: Option<Expr>,
    /// The owner's own row.
    pub row: Option<OwnerRowSpec>,
}

/// The owner's row in a table of its own. Its alias is always `o`.
#[derive(Debug, Clone)]
pub struct OwnerRowSpec {
    /// The table, by its logical name.
    pub table: String,
    /// The condition of the LEFT JOIN.
    pub on: JoinOn,
    /// A column of it that is never NULL.
    pub key: Column,
    /// Its heartbeat.
    pub heartbeat: Option<TimeColumn>,
    /// When the owner started.
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
    /// SQL.
    Sql(Template),
}

/// What an absent owner means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Absence {
    /// The claim is dead.
    Dead,
    /// The next liveness source is asked.
    Next,
    /// Nobody can tell.
    #[default]
    Unknown,
}

/// A source of liveness.
#[derive(Debug, Clone, PartialEq)]
pub enum Liveness {
    /// A lease that ends at `column`, or so many seconds after it as `plus` says.
    Lease {
        /// The end, or the instant that `plus` is added to.
        column: TimeColumn,
        /// Seconds on the row.
        plus: Option<Column>,
    },
    /// A heartbeat on the row.
    Heartbeat {
        /// The heartbeat.
        column: TimeColumn,
        /// How long a silence means death.
        silent_after: SilentAfter,
    },
    /// The owner's row.
    Owner {
        /// How long a silence of the owner means death.
        silent_after: SilentAfter,
    },
    /// Nothing but the time since some instant, the claim as a rule.
    Age {
        /// The instant.
        column: TimeColumn,
        /// How old means death.
        silent_after: SilentAfter,
    },
}

impl Liveness {
    /// The word for it in JSON and in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Liveness::Lease { .. } => "lease",
            Liveness::Heartbeat { .. } => "heartbeat",
            Liveness::Owner { .. } => "owner",
            Liveness::Age { .. } => "age",
        }
    }

    /// Its threshold; a lease has none.
    pub fn silent_after(&self) -> Option<&SilentAfter> {
        match self {
            Liveness::Lease { .. } => None,
            Liveness::Heartbeat { silent_after, .. }
            | Liveness::Owner { silent_after }
            | Liveness::Age { silent_after, .. } => Some(silent_after),
        }
    }

    /// The time column on the claim's own row that it reads.
    pub fn column(&self) -> Option<&TimeColumn> {
        match self {
            Liveness::Lease { column, .. } | Liveness::Heartbeat { column, .. } | Liveness::Age { column, .. } => {
                Some(column)
            }
            Liveness::Owner { .. } => None,
        }
    }
}

/// How long a silence means death.
#[derive(Debug, Clone, PartialEq)]
pub enum SilentAfter {
    /// Longer than this: the library's own default.
    Span(Duration),
    /// Longer than the row says, in seconds.
    Column(Column),
    /// The preset knows no default: the operator must say.
    Required,
}

/// See [`QueueSpec::attempts`].
#[derive(Debug, Clone)]
pub struct Attempts {
    /// The counter.
    pub column: Option<Expr>,
    /// The most there may be; `None` is no limit that the table knows.
    pub max: Option<Max>,
    /// When a run is counted.
    pub counted: Counted,
    /// What becomes of a job that has used them up.
    pub exhausted: Exhausted,
    /// What the maximum counts.
    pub max_counts: MaxCounts,
}

/// Where the maximum of attempts is.
#[derive(Debug, Clone, PartialEq)]
pub enum Max {
    /// The same for all.
    Number(i64),
    /// On the row.
    Expr(Expr),
}

/// When a run is counted, so whether a lost one still has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// When it begins: a lost run is counted already.
    AtClaim,
    /// When the next one begins, which will count it.
    AtNextClaim,
    /// When it ends, which a lost one never does: the reclaim counts it.
    AtEnd,
    /// When it ends badly: the reclaim counts it.
    OnError,
    /// By the reclaim.
    AtReclaim,
    /// Nowhere that SQL could reach.
    NotInTheTable,
}

impl Counted {
    /// What a reclaim does to the counter unless the move says otherwise.
    pub fn change(self) -> AttemptsChange {
        match self {
            Counted::AtClaim | Counted::AtNextClaim | Counted::NotInTheTable => AttemptsChange::Keep,
            Counted::AtEnd | Counted::OnError | Counted::AtReclaim => AttemptsChange::Add(1),
        }
    }
}

/// What becomes of a job that has used up its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// It fails.
    Fail,
    /// It goes back all the same: the library itself will fail it.
    Leave,
}

/// What the maximum of attempts counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxCounts {
    /// Runs: the job fails when attempts after the move reach the maximum.
    Runs,
    /// Retries: the job fails when attempts after the move exceed the maximum.
    Retries,
}

/// Rules that tell trouble.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The instant after which the job is of no use.
    pub deadline: Option<TimeColumn>,
    /// Whether somebody asked for the job to be cancelled.
    pub cancel_requested: Option<CancelRequested>,
    /// The longest it may run.
    pub max_runtime: Option<MaxRuntime>,
}

/// How a request to cancel is told.
#[derive(Debug, Clone, PartialEq)]
pub enum CancelRequested {
    /// A column that is NULL or false unless it was requested.
    Column(Column),
    /// A boolean expression.
    Sql(Template),
}

/// The longest a job may run.
#[derive(Debug, Clone, PartialEq)]
pub enum MaxRuntime {
    /// The same for all.
    Span(Duration),
    /// Seconds on the row.
    Column(Column),
}

/// A state: what it is called and how it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StateValue {
    /// The queue's own name for it.
    pub name: String,
    /// The stored value: text or an integer.
    pub stored: Cell,
}

/// The states of a queue, by meaning.
#[derive(Debug, Clone, Default)]
pub struct States {
    /// Not claimed yet.
    pub waiting: Vec<StateValue>,
    /// Held by some owner.
    pub in_flight: Vec<StateValue>,
    /// Ended well.
    pub done: Vec<StateValue>,
    /// Ended badly, for good.
    pub failed: Vec<StateValue>,
    /// Ended because somebody asked.
    pub cancelled: Vec<StateValue>,
}

impl States {
    /// Every state.
    pub fn all(&self) -> impl Iterator<Item = &StateValue> {
        [&self.waiting, &self.in_flight, &self.done, &self.failed, &self.cancelled].into_iter().flatten()
    }

    /// The queue's name for a stored value; the value itself where it has none.
    pub fn name_of(&self, stored: &Cell) -> String {
        self.all().find(|state| state.stored == *stored).map_or_else(|| stored.to_string(), |state| state.name.clone())
    }
}

/// What a move does.
#[derive(Debug, Clone)]
pub struct MoveSpec {
    /// The state it leads to.
    pub to: StateValue,
    /// What happens to the attempts counter.
    pub attempts: AttemptsChange,
    /// The statements, in order; none where the move is refused.
    pub steps: Vec<StepSpec>,
    /// Why it is never done, if so.
    pub refused: Option<String>,
    /// True if the row must be locked as for a delete: the move deletes rows, or changes a unique or partition column.
    pub locks_for_update: bool,
}

/// One statement of a move.
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
        /// The encodings that `:now.column` may ask for.
        encodings: BTreeMap<String, Encodings>,
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
pub struct Hold {
    /// Its name.
    pub name: String,
    /// The condition, over the claim's aliases.
    pub condition: Template,
    /// The moves it keeps back.
    pub moves: Vec<Move>,
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
    },
    /// A statement.
    Sql(Template),
}

impl QueueSpec {
    /// The name of an in-flight state, of which there may be several.
    pub fn in_flight_names(&self) -> Vec<String> {
        match &self.claim.state {
            StateSource::Column(_) => self.states.in_flight.iter().map(|state| state.name.clone()).collect(),
            StateSource::Place(name) => vec![name.clone()],
        }
    }
}
