//! What the lines of a journal say. Additions only within v1.

use crate::model::value;
use crate::model::{Action, Fingerprint, Key, Outcome, RowChange, Timestamp, ValueChange};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a journal's first line calls itself.
pub const SCHEMA: &str = "jobdoctor.journal/v1";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// The first: which run this is.
    Head(Box<Head>),
    /// What a batch is about to commit.
    Intent(Intent),
    /// What became of a batch.
    Result {
        /// The batch, counted from 1.
        batch: u64,
        /// One for each step of it, in order.
        steps: Vec<StepEnd>,
    },
    /// The last: the run came to its end.
    End(End),
}

/// Which run it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Always `jobdoctor.journal/v1`.
    pub schema: String,
    /// The run.
    pub run_id: String,
    /// The store's time of the snapshot that the run rests on.
    pub time: Timestamp,
    /// `reclaim`, `sweep` or `undo`.
    pub command: String,
    /// The version of this program.
    pub version: String,
    /// Who ran it.
    pub actor: Actor,
    /// On which host.
    pub host: Option<String>,
    /// Why, in the words of who ran it.
    pub reason: Option<String>,
    /// The run that this one takes back.
    pub undoes: Option<String>,
    /// On which queue.
    pub target: Target,
    /// The columns of the jobs' table that the fingerprints cover.
    pub columns: Vec<String>,
    /// The fingerprint of the plan.
    pub digest: Option<String>,
    /// How many steps it had.
    pub planned: u64,
}

/// Who ran it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Actor {
    /// The user's name, where the system knows one.
    pub user: Option<String>,
    /// The user's number.
    pub uid: Option<u32>,
}

/// Which queue: no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The preset or mapping.
    pub preset: String,
    /// The variants of it.
    pub variants: Vec<String>,
    /// The target's name in the config file.
    pub name: Option<String>,
    /// What the database is called in front of people.
    pub database: String,
    /// What tells it from every other one, whatever it is called; `None` where that is not known.
    pub identity: Option<String>,
    /// Schema and name of the jobs' table.
    pub table: String,
    /// The columns that identify a job.
    pub key: Vec<String>,
}

/// What a batch is about to commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The batch, counted from 1. Tried again, it is told of again.
    pub batch: u64,
    /// The clock of the transaction.
    pub at: Timestamp,
    /// The jobs that it moves.
    pub changes: Vec<Entry>,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many steps ended how.
    pub outcomes: Counts,
    /// Jobs that were moved, or may have been, and that no intent names, because it could not be written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u64,
    /// Why it stopped early, if it did.
    pub stop: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What is done to one job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Which step of its batch, counted from 0.
    pub step: usize,
    /// The id as people see it.
    pub id: String,
    /// The key, exactly.
    pub key: Key,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it.
    pub owner: Option<String>,
    /// What is done; of a run that takes another back, the action that is taken back.
    pub action: Action,
    /// The state before.
    pub state_before: String,
    /// The state after.
    pub state_after: String,
    /// Attempts before.
    pub attempts_before: Option<i64>,
    /// Attempts after.
    pub attempts_after: Option<i64>,
    /// The rules that it was judged by.
    pub rules: Vec<String>,
    /// The row before and after; null where it cannot be taken back.
    #[serde(serialize_with = "row_out", deserialize_with = "row_in")]
    pub row: Option<RowChange>,
}

/// How one step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEnd {
    /// The id as people see it.
    pub id: String,
    /// How.
    pub outcome: Outcome,
    /// The code of the database's error, where it refused the row; its words may hold anything, and are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlstate: Option<String>,
    /// The constraint that was in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
}

/// How many steps ended how.
pub type Counts = BTreeMap<Outcome, u64>;

/// The ends of a batch's steps.
pub type Outcomes = Vec<StepEnd>;

/// A row before and after, as a line spells it.
#[derive(Serialize, Deserialize)]
struct Row {
    before: Value,
    after: Value,
    fingerprint_before: Fingerprint,
    fingerprint_after: Fingerprint,
}

fn row_out<S: Serializer>(row: &Option<RowChange>, serializer: S) -> Result<S::Ok, S::Error> {
    let spelled = row.as_ref().map(|row| Row {
        before: value::values_to_json(row.values.iter().map(|value| (value.column.as_str(), &value.before))),
        after: value::values_to_json(row.values.iter().map(|value| (value.column.as_str(), &value.after))),
        fingerprint_before: row.before.clone(),
        fingerprint_after: row.after.clone(),
    });
    spelled.serialize(serializer)
}

fn row_in<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RowChange>, D::Error> {
    let Some(row) = Option::<Row>::deserialize(deserializer)? else { return Ok(None) };
    let values = pairs(&row.before, &row.after);
    let values = values.ok_or_else(|| serde::de::Error::custom("`before` and `after` are no stored values"))?;
    Ok(Some(RowChange { values, before: row.fingerprint_before, after: row.fingerprint_after }))
}

/// Two objects with the same columns in the same order, as one list.
pub(super) fn pairs(before: &Value, after: &Value) -> Option<Vec<ValueChange>> {
    let (before, after) = (value::values_from_json(before)?, value::values_from_json(after)?);
    if before.len() != after.len() {
        return None;
    }
    let pair = |((column, before), (same, after))| (column == same).then_some(ValueChange { column, before, after });
    before.into_iter().zip(after).map(pair).collect()
}

impl Entry {
    /// The row from the two objects of a ledger.
    pub fn row_of(before: &str, after: &str, fingerprints: (String, String)) -> Option<RowChange> {
        let (before, after) = (serde_json::from_str(before).ok()?, serde_json::from_str(after).ok()?);
        let values = pairs(&before, &after)?;
        Some(RowChange { values, before: Fingerprint(fingerprints.0), after: Fingerprint(fingerprints.1) })
    }
}
