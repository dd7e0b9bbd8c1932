//! What a verdict on a claim rests on: signs of life, thresholds, attempts, rules about trouble, and past run times.

use super::{Expr, StateValue, TimeColumn};
use crate::model::AttemptsChange;
use crate::preset::template::Column;
use crate::preset::template::{Piece, Template};
use std::time::Duration;

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
        column: TimeColumn,
        /// How long a silence means death.
        silent_after: SilentAfter,
    },
    Owner {
        /// How long a silence of the owner means death.
        silent_after: SilentAfter,
    },
    /// Nothing but the time since some instant, the claim as a rule.
    Age {
        column: TimeColumn,
        /// How old means death.
        silent_after: SilentAfter,
    },
    /// A lock that a live worker's session holds, and that the database releases when the session ends.
    Lock {
        /// True while a session holds it; NULL where this claim has no such lock.
        held: Template,
        /// What a free lock means.
        free: Free,
    },
}

/// What it means that a claim's lock is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Free {
    Dead,
    /// Nothing: the next source decides.
    Next,
}

impl Liveness {
    /// The name of the source that shows no life, only for how long a job has been claimed.
    pub const AGE: &'static str = "age";

    /// The word for it in JSON and in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Liveness::Lease { .. } => "lease",
            Liveness::Heartbeat { .. } => "heartbeat",
            Liveness::Owner { .. } => "owner",
            Liveness::Age { .. } => Liveness::AGE,
            Liveness::Lock { .. } => "lock",
        }
    }

    /// Its threshold; a lease and a lock have none.
    pub fn silent_after(&self) -> Option<&SilentAfter> {
        match self {
            Liveness::Lease { .. } | Liveness::Lock { .. } => None,
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
            Liveness::Owner { .. } | Liveness::Lock { .. } => None,
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

/// Instants before 2001-01-01T00:00:00Z are another unit read wrongly, not instants. In microseconds since the epoch.
pub const EARLIEST_MICROS: i64 = 978_307_200_000_000;

/// A lease that ends further ahead than this is implausible.
pub const LEASE_AHEAD: Duration = Duration::from_secs(366 * 24 * 3600);

/// How long a source may be silent before that means death: the operator's value, else the row's, else the preset's.
/// `None` where none of them has one. A lease has no such threshold: its end is one.
///
/// One function for the judge and for the pre-filter, so that the two cannot differ.
pub fn silence_allowed(source: &Liveness, older: Option<Duration>, on_row: Option<Duration>) -> Option<Duration> {
    match (source.silent_after()?, older) {
        (_, Some(older)) => Some(older),
        (SilentAfter::Span(span), None) => Some(*span),
        (SilentAfter::Column(_), None) => on_row,
        (SilentAfter::Required, None) => None,
    }
}

#[derive(Debug, Clone)]
pub struct Attempts {
    /// The number of attempts: the counter, or the maximum minus `left`.
    pub column: Option<Expr>,
    /// The counter where it counts down: the attempts that are left.
    pub left: Option<Column>,
    /// The most there may be; `None` is no limit that the table knows.
    pub max: Option<Max>,
    /// How often the job was lost before, where the row counts it; NULL there is never.
    pub stalls: Option<Expr>,
    /// When a run is counted.
    pub counted: Counted,
    /// What becomes of a job that has used them up.
    pub exhausted: Exhausted,
    pub max_counts: MaxCounts,
}

impl Attempts {
    /// The maximum as SQL; empty where there is none.
    pub(in crate::preset) fn max_sql(&self) -> Vec<Piece> {
        match &self.max {
            Some(Max::Number(max)) => vec![Piece::Text(max.to_string())],
            Some(Max::Expr(Expr::Column(max))) => vec![Piece::Column(max.clone())],
            Some(Max::Expr(Expr::Sql(Template(pieces)))) => {
                let bracket = |text: &str| Piece::Text(text.to_owned());
                [bracket("(")].into_iter().chain(pieces.iter().cloned()).chain([bracket(")")]).collect()
            }
            None => Vec::new(),
        }
    }
}

/// Where the maximum of attempts is.
#[derive(Debug, Clone, PartialEq)]
pub enum Max {
    /// One number for all jobs.
    Number(i64),
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
    AtReclaim,
    /// Nowhere that SQL could reach.
    NotInTheTable,
}

impl Counted {
    /// What a reclaim does to the counter unless the action says otherwise.
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
    Fail,
    /// It goes back all the same: the library itself will fail it.
    Leave,
}

/// What the maximum of attempts counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxCounts {
    /// Runs: the job fails when attempts after the action reach the maximum.
    Runs,
    /// Retries: the job fails when attempts after the action exceed the maximum.
    Retries,
}

#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The instant after which the job is of no use.
    pub deadline: Option<TimeColumn>,
    /// How a request to cancel the job is read.
    pub cancel_requested: Option<CancelRequested>,
    /// The longest it may run.
    pub max_runtime: Option<MaxRuntime>,
}

/// How a request to cancel is read.
#[derive(Debug, Clone, PartialEq)]
pub enum CancelRequested {
    /// A column that is NULL or false unless it was requested.
    Column(Column),
    Sql(Template),
}

/// The longest a job may run.
#[derive(Debug, Clone, PartialEq)]
pub enum MaxRuntime {
    /// One span for all jobs.
    Span(Duration),
    /// Seconds on the row.
    Column(Column),
}

/// What the tables keep of jobs that have ended well.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// When their last run began and ended.
    Kept(Box<Runs>),
    /// No run times, and why: "it deletes jobs that have ended well".
    Untold(String),
}

/// Where the runs of jobs that have ended well are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The states of such a job; empty where `filter` alone decides, or where the state is a place.
    pub states: Vec<StateValue>,
    /// What else makes a row one of them.
    pub filter: Option<Template>,
    /// When its last run began.
    pub started: TimeColumn,
    pub at: TimeColumn,
}
