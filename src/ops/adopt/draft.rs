//! The draft under way: what the operator has answered, keys with their grades, and open questions.

use super::roles::is_among;
use super::rows::Rows;
use crate::model::Cell;
use crate::ops::OpsError;
use crate::output::{DraftKey, Grade, Question};
use crate::preset::ident::quoted;
use crate::preset::{did_you_mean, is_name};
use std::collections::BTreeMap;
use toml_edit::{Array, Value};

pub(super) struct Draft {
    pub(super) keys: Vec<DraftKey>,
    pub(super) questions: Vec<Question>,
}

/// A column of the jobs' table in an expression.
pub(super) fn of_job(column: &str) -> String {
    format!("j.{}", bare(column))
}

/// A column's name in an expression: quoted unless it is plain on both engines.
pub(super) fn bare(column: &str) -> String {
    if is_name(column) && column == column.to_lowercase() && column.is_ascii() {
        column.to_owned()
    } else {
        quoted(column)
    }
}

/// The rows that were sampled, counted, for reasons.
pub(super) fn counted(rows: &Rows, what: &str) -> String {
    match rows.len() {
        1 => format!("the one sampled row {what}"),
        rows => format!("all {rows} sampled rows {what}"),
    }
}

/// A column with its first values, for a question.
pub(super) fn sampled(column: &str, rows: &Rows) -> String {
    let values: Vec<String> = rows.values(column).take(3).map(Cell::to_string).collect();
    if values.is_empty() { column.to_owned() } else { format!("{column}: {}", values.join(", ")) }
}

/// Answers by key; `none` leaves a key out.
#[derive(Debug, Clone, Default)]
pub struct Answers(BTreeMap<String, String>);

/// The keys that can be answered; `time.COLUMN` can be, too.
const KEYS: &str = "schema fencing \
    states.waiting states.in_flight states.done states.failed states.cancelled states.ignored \
    claim.table claim.key claim.state claim.where claim.queue claim.kind claim.claimed_at claim.liveness claim.payload \
    claim.last_error claim.precondition \
    waiting.is waiting.due waiting.since \
    owner.id owner.name owner.host owner.table owner.heartbeat owner.started owner.rows owner.missing owner.unset \
    attempts.column attempts.max attempts.counted attempts.direction attempts.exhausted attempts.max_counts \
    action.requeue.to action.requeue.clear action.requeue.stamp action.fail.to action.fail.clear action.fail.stamp \
    action.fail.set action.cancel.to";
const LISTS: &str =
    "claim.key claim.precondition action.requeue.clear action.requeue.stamp action.fail.clear action.fail.stamp";

impl Answers {
    /// Answers to these keys; of one that is answered twice the last counts.
    pub fn new(given: &[(String, String)]) -> Result<Answers, OpsError> {
        for (key, _) in given {
            if !is_among(key, KEYS) && !key.starts_with("time.") {
                let hint = did_you_mean(key, KEYS.split(' '));
                return Err(OpsError::usage(
                    format!("`{key}` is not a key that can be answered{hint}"),
                    "the keys are those of a mapping: jobdoctor help mapping",
                ));
            }
        }
        Ok(Answers(given.iter().cloned().collect()))
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(super) fn list(&self, key: &str) -> Option<Vec<&str>> {
        self.get(key).map(|text| if text == "none" { Vec::new() } else { text.split(',').map(str::trim).collect() })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, answer)| (key.as_str(), answer.as_str()))
    }
}

/// A key as it was answered.
pub(super) fn answered(key: &str, answer: &str) -> DraftKey {
    DraftKey::new(key, answer_value(key, answer), Grade::Asked, "as answered")
}

fn answer_value(key: &str, answer: &str) -> Value {
    if is_among(key, LISTS) {
        return answer.split(',').map(str::trim).collect::<Array>().into();
    }
    let number = if key == "attempts.max" { answer.parse::<i64>().ok() } else { None };
    number.map_or_else(|| answer.into(), Value::from)
}
