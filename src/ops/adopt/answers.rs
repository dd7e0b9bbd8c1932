//! What the operator has answered, by keys of the mapping.

use crate::ops::OpsError;
use crate::preset::did_you_mean;
use std::collections::BTreeMap;
use toml_edit::{Array, Value};

/// Answers by key; `none` leaves a key out.
#[derive(Debug, Clone, Default)]
pub struct Answers(BTreeMap<String, String>);

/// The keys that can be answered, besides `time.COLUMN`.
const KEYS: [&str; 42] = [
    "actions",
    "states.waiting",
    "states.in_flight",
    "states.done",
    "states.failed",
    "states.cancelled",
    "states.ignored",
    "claim.table",
    "claim.key",
    "claim.state",
    "claim.where",
    "claim.queue",
    "claim.kind",
    "claim.claimed_at",
    "claim.liveness",
    "claim.payload",
    "claim.last_error",
    "claim.precondition",
    "owner.id",
    "owner.name",
    "owner.host",
    "owner.table",
    "owner.heartbeat",
    "owner.started",
    "owner.rows",
    "owner.missing",
    "owner.unset",
    "attempts.column",
    "attempts.max",
    "attempts.counted",
    "attempts.direction",
    "attempts.exhausted",
    "attempts.max_counts",
    "fencing",
    "action.requeue.to",
    "action.requeue.clear",
    "action.requeue.stamp",
    "action.fail.to",
    "action.fail.clear",
    "action.fail.stamp",
    "action.cancel.to",
    "schema",
];
/// Keys whose values are lists.
const LISTS: [&str; 6] = [
    "claim.key",
    "claim.precondition",
    "action.requeue.clear",
    "action.requeue.stamp",
    "action.fail.clear",
    "action.fail.stamp",
];

impl Answers {
    /// Answers to these keys; of one that is answered twice the last counts.
    pub fn new(given: &[(String, String)]) -> Result<Answers, OpsError> {
        for (key, _) in given {
            if !KEYS.contains(&key.as_str()) && !key.starts_with("time.") {
                let hint = did_you_mean(key, KEYS);
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

pub(super) fn value(key: &str, answer: &str) -> Value {
    if LISTS.contains(&key) {
        return answer.split(',').map(str::trim).collect::<Array>().into();
    }
    let number = if key == "attempts.max" { answer.parse::<i64>().ok() } else { None };
    number.map_or_else(|| answer.into(), Value::from)
}
