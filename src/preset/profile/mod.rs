//! What a preset says of its queue before any database is looked at: for lists and pages, never for a verdict.
//!
//! Thresholds, maxima, options and the conditions of variants are taken as their author wrote them. What they mean was
//! checked when the document was typed, and a page repeats them rather than deciding anything.

mod actions;
mod delayed;
mod liveness;
mod read;
mod sql;
mod tables;
mod variants;

pub use delayed::DelayedProfile;

use super::queue::{Absence, Counted, Exhausted, Fencing, MaxCounts, Rows, States};
use super::{Preset, SpecError};
use crate::model::{Action, AttemptsChange, Engine};
use std::time::Duration;

/// A preset on one engine: as it is, or with one variant laid over it.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The engine.
    pub engine: Engine,
    /// The variant; `None` is the preset as it is.
    pub variant: Option<VariantProfile>,
    /// What it says then; `None` for a variant that is refused.
    pub profile: Option<Profile>,
}

/// A variant and how it is recognised.
#[derive(Debug, Clone)]
pub struct VariantProfile {
    /// Its name.
    pub name: String,
    /// What must all hold.
    pub conditions: Vec<Condition>,
    /// Why a queue of this kind is refused, if it is.
    pub refused: Option<String>,
}

/// One condition of a variant, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The probe's key: `table`, `no_column`, `type` and so on.
    pub probe: String,
    /// What it asks about.
    pub subject: String,
    /// What it compares with, where it does.
    pub values: Vec<String>,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The schema that the library uses unless told otherwise.
    pub schema: Option<String>,
    /// The tables, in the order of the document.
    pub tables: Vec<TableProfile>,
    /// What makes a row a claim.
    pub claim: ClaimProfile,
    /// What the states mean.
    pub states: States,
    /// How times are spelled.
    pub times: Vec<TimeProfile>,
    /// Who holds a claim.
    pub owner: OwnerProfile,
    /// How life is told from death, best source first.
    pub liveness: Vec<LifeSign>,
    /// Rules about trouble, and how a request to cancel is told.
    pub rules: RulesProfile,
    /// How attempts are counted.
    pub attempts: AttemptsProfile,
    /// What is kept of jobs that have ended well; `None` where the document does not say.
    pub finished: Option<FinishedProfile>,
    /// What may be done to a job.
    pub actions: Vec<ActionProfile>,
    /// What may be done to a job that waits.
    pub waiting: Vec<ActionProfile>,
    /// What keeps a step back.
    pub skips: Vec<SkipProfile>,
    /// What `check` counts besides.
    pub checks: Vec<CheckProfile>,
    /// How workers are woken.
    pub wake_ups: Vec<WakeUp>,
    /// What the dry run prints, by name.
    pub cautions: Vec<(String, String)>,
    /// How the write of a worker that comes back late is guarded.
    pub fencing: Fencing,
    /// The library's own remedy.
    pub advice: Option<AdviceProfile>,
    /// Plain words of the document for what becomes of a column, by column.
    pub words: Vec<(String, String)>,
}

/// A table and what it is for.
#[derive(Debug, Clone)]
pub struct TableProfile {
    /// The name that the document gives it.
    pub logical: String,
    /// Its name in the database.
    pub physical: String,
    /// What it is for; empty if it is looked at for recognition alone.
    pub roles: Vec<TableRole>,
}

/// What a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableRole {
    /// Its rows are the claims.
    Claims,
    /// Its rows are the owners.
    Owners,
    /// It is read beside the claims.
    Read,
    /// It is asked whether a step must be kept back.
    Asked,
    /// An action writes to it.
    Written,
    /// A row in it wakes workers.
    Woken,
}

/// What makes a row a claim.
#[derive(Debug, Clone)]
pub struct ClaimProfile {
    /// The table whose rows are locked and moved.
    pub table: String,
    /// What is read, where that is more than one table.
    pub from: Option<String>,
    /// What identifies a job.
    pub key: Vec<String>,
    /// The column with the state; `None` where a row's place is its state.
    pub state: Option<String>,
    /// What else makes a row in flight, as SQL.
    pub filter: Option<String>,
    /// Where the queue's name is.
    pub queue: Option<String>,
    /// Where the kind of work is.
    pub kind: Option<String>,
    /// When it was claimed.
    pub claimed_at: Option<String>,
    /// What shows progress: columns or expressions.
    pub progress: Vec<String>,
    /// What must come true once a row is locked, as SQL.
    pub guard: Option<String>,
}

/// How times are spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeProfile {
    /// In this column; `None` is all columns that are not named.
    pub column: Option<String>,
    /// The encodings: any is read, the first is written.
    pub encodings: Vec<String>,
}

/// Who holds a claim.
#[derive(Debug, Clone)]
pub struct OwnerProfile {
    /// The column or expression that says who.
    pub id: Option<String>,
    /// The name people know the owner by.
    pub name: Option<String>,
    /// The owner's host.
    pub host: Option<String>,
    /// The table of owners.
    pub table: Option<String>,
    /// Its heartbeat.
    pub heartbeat: Option<String>,
    /// When the owner started.
    pub started: Option<String>,
    /// What it means that an owner has no row.
    pub missing: Absence,
    /// What it means that no owner is named.
    pub unset: Absence,
}

/// A source of liveness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifeSign {
    /// `lease`, `heartbeat`, `owner`, `lock` or `age`.
    pub by: String,
    /// The column it reads; for owners the heartbeat's.
    pub column: Option<String>,
    /// A column with seconds that are added to a lease's.
    pub plus: Option<String>,
    /// How long a silence means death.
    pub silent_after: Option<Threshold>,
    /// For a lock: what is true while it is held, as SQL.
    pub held: Option<String>,
    /// For a lock: whether its being free is death; otherwise the next source is asked.
    pub free_is_dead: bool,
}

/// How long a silence means death, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threshold {
    /// So long.
    Span(Duration),
    /// So many seconds as the row says.
    Column(String),
    /// As an option says.
    Option(String),
    /// Only the operator can say.
    Required,
}

/// Rules about trouble.
#[derive(Debug, Clone, Default)]
pub struct RulesProfile {
    /// The instant after which the job is of no use.
    pub deadline: Option<String>,
    /// How a request to cancel is told.
    pub cancel_requested: Option<String>,
    /// The longest it may run: a column with seconds, or a duration.
    pub max_runtime: Option<String>,
}

/// What is kept of jobs that have ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishedProfile {
    /// When their last run began and ended.
    Kept {
        /// The column with its beginning.
        started: Option<String>,
        /// The column with its end.
        at: String,
        /// What makes a row one of them, as SQL, where its state does not tell.
        filter: Option<String>,
        /// The states that tell, as they are stored.
        states: Vec<String>,
    },
    /// Nothing that a run time could be told from, and why.
    Untold(String),
}

/// How attempts are counted.
#[derive(Debug, Clone)]
pub struct AttemptsProfile {
    /// The counter.
    pub column: Option<String>,
    /// The most there may be: a number, a column, an expression or `option x`.
    pub max: Option<String>,
    /// How often a job was lost before.
    pub stalls: Option<String>,
    /// When a run is counted.
    pub counted: Counted,
    /// What becomes of a job that has used them up.
    pub exhausted: Exhausted,
    /// What the maximum counts.
    pub max_counts: MaxCounts,
}

/// What an action does.
#[derive(Debug, Clone)]
pub struct ActionProfile {
    /// The action.
    pub action: Action,
    /// The state it leads to.
    pub to: Option<String>,
    /// Why it is never done, if so.
    pub refused: Option<String>,
    /// Its statements in order; empty if it is refused.
    pub steps: Vec<StepProfile>,
    /// What is otherwise where the job is to run later; of a requeue only.
    pub delayed: Option<DelayedProfile>,
}

/// One statement of an action.
#[derive(Debug, Clone)]
pub enum StepProfile {
    /// The claim's row is updated; what is not named stays as it is.
    Update(Vec<ColumnChange>),
    /// Any statement.
    Sql {
        /// What it does, in plain words.
        does: Option<String>,
        /// The statement.
        sql: String,
        /// How many rows it must touch.
        rows: Rows,
    },
}

/// What becomes of a column.
#[derive(Debug, Clone)]
pub struct ColumnChange {
    /// The column.
    pub column: String,
    /// True if a table of this kind may lack it.
    pub is_optional: bool,
    /// What becomes of it.
    pub becomes: Becomes,
}

/// What a column becomes.
#[derive(Debug, Clone)]
pub enum Becomes {
    /// A state, by its stored value.
    State(String),
    /// The counter of attempts, changed so.
    Attempts(AttemptsChange),
    /// Empty.
    Empty,
    /// The current time.
    Now,
    /// The time of the next run.
    RunAt,
    /// The reason of the reclaim.
    Reason,
    /// A constant, without its quotes.
    Constant(String),
    /// The value of an expression.
    Expression {
        /// As SQL.
        sql: String,
        /// In plain words.
        words: Option<String>,
    },
}

/// What keeps a step back.
#[derive(Debug, Clone)]
pub struct SkipProfile {
    /// Its name.
    pub name: String,
    /// The actions it keeps back.
    pub actions: Vec<Action>,
    /// The condition, as SQL.
    pub condition: String,
    /// Why.
    pub reason: String,
}

/// Jobs that never run although no worker holds them, which `check` warns of.
#[derive(Debug, Clone)]
pub struct CheckProfile {
    /// Its name.
    pub name: String,
    /// The query that counts them, as SQL.
    pub sql: String,
    /// What is counted.
    pub finds: String,
    /// What the library offers against it.
    pub remedy: String,
}

/// How workers are woken.
#[derive(Debug, Clone)]
pub enum WakeUp {
    /// A notification.
    Channel {
        /// The channel, as SQL.
        channel: String,
        /// What is sent, as SQL.
        payload: String,
    },
    /// A statement.
    Sql(String),
}

/// The library's own remedy.
#[derive(Debug, Clone)]
pub struct AdviceProfile {
    /// In words.
    pub text: Option<String>,
    /// As SQL.
    pub sql: Option<String>,
}

impl Profile {
    /// The best source first: `lease`, `heartbeat`, `owner`, `lock`, `age`.
    pub fn life_signs(&self) -> Vec<&str> {
        self.liveness.iter().map(|sign| sign.by.as_str()).collect()
    }
}

impl Preset {
    /// The preset on each of its engines, each time as it is and then with each of its variants.
    ///
    /// # Errors
    /// Never for a preset that was read: its documents were typed then.
    pub fn shapes(&self) -> Result<Vec<Shape>, SpecError> {
        let mut shapes = Vec::new();
        for engine in &self.engines {
            let base = self.for_engine(*engine)?;
            let profile = self.profile(base.clone())?;
            let variants = variants::variants(&base, &profile.tables);
            shapes.push(Shape { engine: *engine, variant: None, profile: Some(profile) });
            for (variant, overlay) in variants.into_iter().filter(|(variant, _)| variant.is_on(*engine)) {
                let mut node = base.clone();
                node.overlay(overlay);
                let profile = if variant.refused.is_some() { None } else { Some(self.profile(node)?) };
                shapes.push(Shape { engine: *engine, variant: Some(variant), profile });
            }
        }
        Ok(shapes)
    }
}
