//! What a verdict on a claim rests on: signs of life, thresholds, attempts, rules about trouble, and past run times.

use super::{Expr, StateValue, TimeColumn};
use crate::model::{AttemptsChange, is_threshold, parse_duration};
use crate::preset::encoding::Encodings;
use crate::preset::field::Written;
use crate::preset::lex::is_name;
use crate::preset::template::{Column, Piece, Template};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use strum::IntoStaticStr;

/// What shows life. Times, columns and SQL are those of live tables, or as their author wrote them.
#[derive(Debug, Clone, PartialEq, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename = "by", rename_all = "snake_case", deny_unknown_fields)]
#[serde(bound = "T: Deserialize<'de> + Default, C: Deserialize<'de> + From<Written>, Q: Deserialize<'de>")]
pub enum Liveness<T = TimeColumn, C = Column, Q = Template> {
    /// A lease that ends at `column`, or so many seconds after it as `plus` says.
    Lease {
        /// The end, or the instant that `plus` is added to.
        column: T,
        /// Seconds on the row.
        plus: Option<C>,
    },
    Heartbeat {
        column: T,
        silent_after: SilentAfter<C>,
    },
    Owner {
        silent_after: SilentAfter<C>,
    },
    /// Nothing but the time since some instant, the claim as a rule.
    Age {
        #[serde(default)]
        column: T,
        silent_after: SilentAfter<C>,
    },
    /// A lock that a live worker's session holds, and that the database releases when the session ends.
    Lock {
        /// True while a session holds it; NULL where this claim has no such lock.
        held: Q,
        free: Free,
        /// How long the claim and its owner must have been silent, too, before a free lock is death.
        silent_after: Option<SilentAfter<C>>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Free {
    Dead,
    Next,
}

impl Liveness {
    /// The name of the source that shows no life, only for how long a job has been claimed.
    pub const AGE: &'static str = "age";
}

impl<T, C, Q> Liveness<T, C, Q> {
    /// The word for it in presets, in JSON and in messages.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Its threshold; a lease and a lock have none of which the operator could say another.
    pub fn silent_after(&self) -> Option<&SilentAfter<C>> {
        match self {
            Liveness::Lease { .. } | Liveness::Lock { .. } => None,
            Liveness::Heartbeat { silent_after, .. }
            | Liveness::Owner { silent_after }
            | Liveness::Age { silent_after, .. } => Some(silent_after),
        }
    }

    /// The time column on the claim's own row that it reads.
    pub fn column(&self) -> Option<&T> {
        match self {
            Liveness::Lease { column, .. } | Liveness::Heartbeat { column, .. } | Liveness::Age { column, .. } => {
                Some(column)
            }
            Liveness::Owner { .. } | Liveness::Lock { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written", bound = "C: From<Written>")]
pub enum SilentAfter<C = Column> {
    /// Longer than this: the library's own default.
    Span(Duration),
    /// Longer than the row says, in seconds.
    Column(C),
    /// The preset knows no default: the operator must say.
    Required,
}

impl<C: From<Written>> TryFrom<Written> for SilentAfter<C> {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let text = written.text.as_str();
        if text == "required" {
            return Ok(SilentAfter::Required);
        }
        let is_plain = is_name(&text.replace('.', "_")) && !text.starts_with(|c: char| c.is_numeric());
        if is_plain || text.ends_with('"') {
            return Ok(SilentAfter::Column(written.into()));
        }
        // The library's own rule: so many heartbeats of so long each.
        let (count, each) = text.split_once(" * ").unwrap_or(("1", text));
        let count: u32 = count.parse().map_err(|_| format!("`{count}` is no number of heartbeats"))?;
        let span = parse_duration(each)?.saturating_mul(count);
        if !is_threshold(span) {
            return Err(format!("`{text}` is no threshold: the shortest is 1s, the longest 10y"));
        }
        Ok(SilentAfter::Span(span))
    }
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

#[derive(Debug, Clone, Deserialize)]
#[serde(remote = "Self", bound = "E: Deserialize<'de> + From<Written>")]
pub struct Attempts<E = Expr> {
    /// The number of attempts: the counter, or the maximum minus `left`.
    pub column: Option<E>,
    /// The counter where it counts down: the attempts that are left.
    #[serde(skip)]
    pub left: Option<Column>,
    /// The most there may be; `None` is no limit that the table knows.
    pub max: Option<Max<E>>,
    /// How often the job was lost before, where the row counts it; NULL there is never.
    pub stalls: Option<E>,
    pub counted: Counted,
    /// What becomes of a job that has used them up.
    #[serde(default)]
    pub exhausted: Exhausted,
    #[serde(default)]
    pub max_counts: MaxCounts,
    #[serde(default)]
    pub direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    Up,
    Down,
}

impl Default for Attempts<Written> {
    /// What holds where nothing is said of attempts.
    fn default() -> Self {
        Attempts {
            column: None,
            left: None,
            max: None,
            stalls: None,
            counted: Counted::NotInTheTable,
            exhausted: Exhausted::Leave,
            max_counts: MaxCounts::Runs,
            direction: Direction::Up,
        }
    }
}

impl Attempts {
    /// The maximum as SQL; empty where there is none.
    pub(in crate::preset) fn max_sql(&self) -> Vec<Piece> {
        match &self.max {
            Some(Max::Number(max)) => vec![Piece::Text(max.to_string())],
            Some(Max::Expr(Expr::Column(max))) => vec![Piece::Column(max.clone())],
            Some(Max::Expr(Expr::Sql(Template(pieces)))) => Template::around("(?)", &[pieces]).0,
            None => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Written", bound = "E: From<Written>")]
pub enum Max<E = Expr> {
    Number(i64),
    Expr(E),
}

impl<E: From<Written>> From<Written> for Max<E> {
    fn from(written: Written) -> Self {
        written.text.parse().map_or_else(|_| Max::Expr(written.into()), Max::Number)
    }
}

/// When a run is counted, so whether a lost one still has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Counted {
    /// When it begins: a lost run is counted already.
    #[serde(rename = "at claim")]
    AtClaim,
    /// When the next one begins, which will count it.
    #[serde(rename = "at next claim")]
    AtNextClaim,
    /// When it ends, which a lost one never does: the reclaim counts it.
    #[serde(rename = "at end")]
    AtEnd,
    /// When it ends badly: the reclaim counts it.
    #[serde(rename = "on error")]
    OnError,
    #[serde(rename = "at reclaim")]
    AtReclaim,
    /// Nowhere that SQL could reach.
    #[serde(rename = "not in the table")]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    #[default]
    Fail,
    /// It goes back all the same: the library itself will fail it.
    Leave,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxCounts {
    /// Runs: the job fails when attempts after the action reach the maximum.
    #[default]
    Runs,
    /// Retries: the job fails when attempts after the action exceed the maximum.
    Retries,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(bound = "T: Deserialize<'de>, E: Deserialize<'de>, C: Deserialize<'de> + From<Written>")]
pub struct Rules<T = TimeColumn, E = Expr, C = Column> {
    /// The instant after which the job is of no use.
    pub deadline: Option<T>,
    /// True where the job is to be cancelled; a column of any other type is NULL unless that was requested.
    pub cancel_requested: Option<E>,
    pub max_runtime: Option<MaxRuntime<C>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Written", bound = "C: From<Written>")]
pub enum MaxRuntime<C = Column> {
    Span(Duration),
    /// Seconds on the row.
    Column(C),
}

impl<C: From<Written>> From<Written> for MaxRuntime<C> {
    fn from(written: Written) -> Self {
        parse_duration(&written.text).map_or_else(|_| MaxRuntime::Column(written.into()), MaxRuntime::Span)
    }
}

/// What is known of jobs that the library failed because their worker died, beside what a claim has.
#[derive(Debug, Clone)]
pub struct InterruptedSpec {
    /// Counts the jobs that ended, well or not, since an instant, in the encodings that its markers ask for.
    pub ended: Option<(Template, BTreeMap<String, Encodings>)>,
    /// The library's own command where jobdoctor writes nothing, with `{ids}` or `{id}`.
    pub command: Option<String>,
}

/// What the tables keep of jobs that have ended well.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    Kept(Box<Runs>),
    /// No run times, and why: "it deletes jobs that have ended well".
    Untold(String),
}

impl Finished {
    pub fn kept(&self) -> Option<&Runs> {
        if let Finished::Kept(runs) = self { Some(runs) } else { None }
    }
}

/// Where the runs of jobs that have ended well are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The states of such a job; empty where `filter` alone decides, or where the state is a place.
    pub states: Vec<StateValue>,
    /// What else makes a row one of them.
    pub filter: Option<Template>,
    pub started: TimeColumn,
    pub at: TimeColumn,
}
