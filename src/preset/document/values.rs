//! What stored values mean: states, times, attempts, limits, and what is kept of finished jobs.

use crate::model::{Cell, Engine, parse_duration};
use crate::preset::encoding::{Encoding, Encodings, Zone};
use crate::preset::fields::{Field, Fragment, Read, Word, Written};
use crate::preset::node::Value;
use crate::preset::queue::{Counted, Exhausted, MaxCounts, StateValue, States};
use crate::preset::{SpecError, did_you_mean};
use std::collections::BTreeMap;
use std::time::Duration;

impl States {
    /// Reads `[states]`. A truth value is what that engine stores for it.
    pub(super) fn read(field: Field<'_>, engine: Engine) -> Result<States, SpecError> {
        let mut fields = field.table()?;
        let values = |field| state_values(field, engine);
        let mut take = |key| fields.take(key).map(values).transpose().map(Option::unwrap_or_default);
        let states = States {
            waiting: take("waiting")?,
            in_flight: take("in_flight")?,
            done: take("done")?,
            failed: take("failed")?,
            cancelled: take("cancelled")?,
            ignored: take("ignored")?,
        };
        fields.finish()?;
        Ok(states)
    }
}

/// States by their names, with what is stored for each where that is not the name itself.
fn state_values(field: Field<'_>, engine: Engine) -> Result<Vec<StateValue>, SpecError> {
    let stored = |field: &Field<'_>| match (field.value(), engine.has_strict_types()) {
        (Value::Text(text), _) => Ok(Cell::Text(text.clone())),
        (Value::Integer(number), _) => Ok(Cell::Integer(*number)),
        (Value::Boolean(truth), true) => Ok(Cell::Text(truth.to_string())),
        (Value::Boolean(truth), false) => Ok(Cell::Integer(i64::from(*truth))),
        _ => Err(field.error("must be the stored value: text, an integer, true or false")),
    };
    match field.value() {
        Value::Table(_) => {
            let entries = field.table()?.rest().into_iter();
            entries.map(|(name, field)| Ok(StateValue { name, stored: stored(&field)? })).collect()
        }
        _ => {
            let named = |field: Field<'_>| Ok(StateValue { stored: stored(&field)?, name: field.spelled().text()? });
            one_or_several(field)?.into_iter().map(named).collect()
        }
    }
}

/// How time columns are spelled: `[time]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    pub(crate) default: Option<Encodings>,
    pub(crate) columns: BTreeMap<String, Encodings>,
    /// Stored values that stand for "no value", by column.
    pub(crate) sentinels: BTreeMap<String, Vec<String>>,
}

impl Read for Zone {
    fn read(field: Field<'_>) -> Result<Zone, SpecError> {
        let written = field.written()?;
        Zone::parse(&written.text).map_err(|why| written.error(why))
    }
}

/// The one meaning that a sentinel has: no value.
#[derive(Clone, Copy)]
struct NoValue;

impl Word for NoValue {
    const WORDS: &'static [(&'static str, NoValue)] = &[("none", NoValue)];
}

impl Read for Times {
    fn read(field: Field<'_>) -> Result<Times, SpecError> {
        let mut fields = field.table()?;
        let default = fields.take("default").map(encodings).transpose()?;
        let mut times = Times { default, ..Times::default() };
        if let Some(field) = fields.take("sentinels") {
            for (column, field) in field.table()?.rest() {
                let raws = field.named::<NoValue>()?.into_iter().map(|(raw, _)| raw);
                times.sentinels.insert(column, raws.collect());
            }
        }
        for (column, field) in fields.rest() {
            times.columns.insert(column, encodings(field)?);
        }
        Ok(times)
    }
}

fn encodings(field: Field<'_>) -> Result<Encodings, SpecError> {
    let written = Vec::<Written>::read(field)?;
    let mut parsed = Vec::new();
    for text in &written {
        parsed.push(Encoding::parse(&text.text).map_err(|why| text.error(why))?);
    }
    let mut parsed = parsed.into_iter();
    let first = parsed.next().ok_or_else(|| SpecError::whole("time", "an empty list of encodings"))?;
    let encodings = Encodings::new(first, parsed.collect());
    match encodings.ambiguous().and_then(|at| written.get(at)) {
        Some(text) => Err(text.error(format!(
            "what is written as `{}` can be read in two ways as: {encodings}; leave out what the column does not hold",
            text.text
        ))),
        None => Ok(encodings),
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AttemptsDoc {
    pub(crate) column: Option<Written>,
    pub(crate) max: Option<MaxDoc>,
    pub(crate) stalls: Option<Written>,
    pub(crate) counted: Counted,
    pub(crate) exhausted: Exhausted,
    pub(crate) max_counts: MaxCounts,
    /// True if the column holds the attempts that are left.
    pub(crate) counts_down: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum MaxDoc {
    Number(i64),
    Column(Written),
}

impl Default for AttemptsDoc {
    fn default() -> AttemptsDoc {
        AttemptsDoc {
            column: None,
            max: None,
            stalls: None,
            counted: Counted::NotInTheTable,
            exhausted: Exhausted::Leave,
            max_counts: MaxCounts::Runs,
            counts_down: false,
        }
    }
}

impl Read for AttemptsDoc {
    fn read(field: Field<'_>) -> Result<AttemptsDoc, SpecError> {
        let mut fields = field.table()?;
        let attempts = AttemptsDoc {
            column: fields.get("column")?,
            max: fields.get("max")?,
            stalls: fields.get("stalls")?,
            counted: fields.must("counted")?,
            exhausted: fields.get("exhausted")?.unwrap_or(Exhausted::Fail),
            max_counts: fields.get("max_counts")?.unwrap_or(MaxCounts::Runs),
            counts_down: fields.get("direction")? == Some(Direction::Down),
        };
        fields.why()?;
        if attempts.counts_down && attempts.max.is_none() {
            return Err(fields.error("`direction = \"down\"` needs `max`: the number that a new job begins with"));
        }
        fields.finish()?;
        Ok(attempts)
    }
}

/// Where a counter of attempts goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

impl Word for Direction {
    const WORDS: &'static [(&'static str, Direction)] = &[("up", Direction::Up), ("down", Direction::Down)];
}

impl Read for MaxDoc {
    fn read(field: Field<'_>) -> Result<MaxDoc, SpecError> {
        match field.value() {
            Value::Integer(number) => Ok(MaxDoc::Number(*number)),
            _ => Ok(MaxDoc::Column(field.written()?)),
        }
    }
}

impl Word for Counted {
    const WORDS: &'static [(&'static str, Counted)] = &[
        ("at claim", Counted::AtClaim),
        ("at next claim", Counted::AtNextClaim),
        ("at end", Counted::AtEnd),
        ("on error", Counted::OnError),
        ("at reclaim", Counted::AtReclaim),
        ("not in the table", Counted::NotInTheTable),
    ];
}

impl Word for Exhausted {
    const WORDS: &'static [(&'static str, Exhausted)] = &[("fail", Exhausted::Fail), ("leave", Exhausted::Leave)];
}

impl Word for MaxCounts {
    const WORDS: &'static [(&'static str, MaxCounts)] = &[("runs", MaxCounts::Runs), ("retries", MaxCounts::Retries)];
}

#[derive(Debug, Clone, Default)]
pub(crate) struct RulesDoc {
    pub(crate) deadline: Option<Written>,
    pub(crate) cancel_requested: Option<Written>,
    pub(crate) max_runtime: Option<MaxRuntimeDoc>,
}

#[derive(Debug, Clone)]
pub(crate) enum MaxRuntimeDoc {
    Span(Duration),
    Column(Written),
}

impl Read for RulesDoc {
    fn read(field: Field<'_>) -> Result<RulesDoc, SpecError> {
        let mut fields = field.table()?;
        let max_runtime = fields.get::<Written>("max_runtime")?.map(|written| match parse_duration(&written.text) {
            Ok(span) => MaxRuntimeDoc::Span(span),
            Err(_) => MaxRuntimeDoc::Column(written),
        });
        let (deadline, cancel_requested) = (fields.get("deadline")?, fields.get("cancel_requested")?);
        fields.why()?;
        fields.finish()?;
        Ok(RulesDoc { deadline, cancel_requested, max_runtime })
    }
}

/// `[finished]`: where the beginning and the end of a run are still to be read once a job has ended well.
#[derive(Debug, Clone)]
pub(crate) enum FinishedDoc {
    Kept(Box<RunsDoc>),
    /// `none`: why they are not kept.
    Untold(String),
}

#[derive(Debug, Clone)]
pub(crate) struct RunsDoc {
    pub(crate) at: Written,
    /// Absent, it is where the time of the claim is.
    pub(crate) started: Option<Written>,
    /// Empty where `filter` alone decides.
    pub(crate) states: Vec<StateValue>,
    pub(crate) filter: Option<Fragment>,
}

impl FinishedDoc {
    pub(super) fn read(field: Field<'_>, known: &States) -> Result<FinishedDoc, SpecError> {
        let mut fields = field.table()?;
        let none = fields.text("none")?;
        let (at, started) = (fields.get("at")?, fields.get("started")?);
        let named = fields.take("states").map(names).transpose()?;
        let filter = fields.get("where")?;
        fields.why()?;
        let table = fields.at();
        // A misspelt key says more than that another one is missing.
        fields.finish()?;
        let says_more = started.is_some() || named.is_some() || filter.is_some();
        match (none, at) {
            (Some(why), None) if !says_more => Ok(FinishedDoc::Untold(why)),
            (None, Some(at)) => {
                let states = match named {
                    Some(named) => named.iter().map(|name| state(known, name)).collect::<Result<_, _>>()?,
                    None => known.done.clone(),
                };
                if states.is_empty() && filter.is_none() {
                    return Err(table.error("needs `states` or `where`: what makes a row one that has ended well?"));
                }
                Ok(FinishedDoc::Kept(Box::new(RunsDoc { at, started, states, filter })))
            }
            _ => Err(table.error(
                "needs either `at`, the column with the end of a run, or `none` alone, the reason why there is no such thing",
            )),
        }
    }
}

fn names(field: Field<'_>) -> Result<Vec<Written>, SpecError> {
    one_or_several(field)?.into_iter().map(|field| field.spelled().written()).collect()
}

fn one_or_several(field: Field<'_>) -> Result<Vec<Field<'_>>, SpecError> {
    if let Value::Array(_) = field.value() { field.items() } else { Ok(vec![field]) }
}

fn state(known: &States, name: &Written) -> Result<StateValue, SpecError> {
    let found = known.all().find(|state| state.name == name.text).cloned();
    found.ok_or_else(|| {
        let hint = did_you_mean(&name.text, known.all().map(|state| state.name.as_str()));
        name.error(format!("[states] has no state `{}`{hint}", name.text))
    })
}
