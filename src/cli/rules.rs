//! What a target in the config file says about judging: thresholds, rules that are switched on, limits for states.

use crate::model::{Action, parse_duration};
use crate::policy::{Globs, Proves, Rule, StateLimit, Threshold};
use crate::preset::{Field, SpecError, Value, Written};
use std::time::Duration;

/// A rule to act on, and the action where it is not the usual one.
pub type RuleAction = (Rule, Option<Action>);

/// The rules that are acted on only where the operator switches them on, by name.
pub fn switchable_rules() -> impl Iterator<Item = (&'static str, Rule)> {
    let switchable = |rule: &Rule| rule.proves() == Proves::Trouble && *rule != Rule::TooLong;
    Rule::ALL.into_iter().filter(switchable).map(|rule| (rule.name(), rule))
}

pub(super) fn rules(field: &Field<'_>) -> Result<Vec<RuleAction>, SpecError> {
    let known: Vec<(&str, Rule)> = switchable_rules().collect();
    let one = |item: &Field<'_>| {
        if !matches!(item.node.value, Value::Table(_)) {
            return Ok((item.word(&known)?, None));
        }
        item.knows(&["name", "action"])?;
        let rule = item.need("name")?.word(&known)?;
        Ok((rule, Some(item.need("action")?.word(&actions_except(Action::Wake))?)))
    };
    field.items()?.iter().map(one).collect()
}

/// The switched-on rules, each with its action where it is not the usual one; `None` if there are none.
pub(super) fn rules_in_words(rules: &[RuleAction]) -> Option<String> {
    let one = |(rule, action): &RuleAction| match action {
        Some(action) => format!("{rule} ({action})"),
        None => rule.to_string(),
    };
    (!rules.is_empty()).then(|| rules.iter().map(one).collect::<Vec<_>>().join(", "))
}

pub(super) fn too_long(field: &Field<'_>) -> Result<Vec<StateLimit>, SpecError> {
    field.items()?.iter().enumerate().map(|(n, item)| limit(n + 1, item)).collect()
}

fn limit(number: usize, field: &Field<'_>) -> Result<StateLimit, SpecError> {
    // The error about a misspelt key comes first: it explains why another key is missing.
    field.knows(&["state", "queue", "kind", "after", "since", "action"])?;
    let lacks = |what: &str| field.error(what);
    Ok(StateLimit {
        number,
        queue: glob(field, "queue")?.unwrap_or_default(),
        kind: glob(field, "kind")?.unwrap_or_default(),
        since: field.get("since")?,
        state: field.get("state")?.ok_or_else(|| lacks("needs `state`: the state in which a job may be too long"))?,
        after: duration(field, "after")?.ok_or_else(|| lacks("needs `after`: how long a job may be in that state"))?,
        action: field
            .get("action")?
            .ok_or_else(|| lacks("needs `action`: what is done then: requeue, fail, cancel, time_out or wake"))?,
    })
}

/// All actions but one, by name.
fn actions_except(but: Action) -> Vec<(&'static str, Action)> {
    Action::ALL.into_iter().filter(|action| *action != but).map(|action| (action.name(), action)).collect()
}

pub(super) fn thresholds(field: &Field<'_>) -> Result<Vec<Threshold>, SpecError> {
    field.items()?.iter().map(threshold).collect()
}

fn threshold(field: &Field<'_>) -> Result<Threshold, SpecError> {
    // The error about a misspelt key comes first: it explains why another key is missing.
    field.knows(&["queue", "kind", "older", "max_runtime"])?;
    let (queue, kind) = (glob(field, "queue")?, glob(field, "kind")?);
    let (older, max_runtime) = (duration(field, "older")?, duration(field, "max_runtime")?);
    match (&queue, &kind, older, max_runtime) {
        (None, None, _, _) => {
            Err(field.error("needs `queue` or `kind`; a threshold for all jobs belongs in the target itself"))
        }
        (_, _, None, None) => Err(field.error("needs `older` or `max_runtime`")),
        _ => Ok(Threshold { queue: queue.unwrap_or_default(), kind: kind.unwrap_or_default(), older, max_runtime }),
    }
}

fn glob(field: &Field<'_>, key: &str) -> Result<Option<Globs>, SpecError> {
    let Some(written) = field.get::<Written>(key)? else { return Ok(None) };
    Globs::new(std::slice::from_ref(&written.text)).map(Some).map_err(|why| written.error(why.0))
}

fn duration(field: &Field<'_>, key: &str) -> Result<Option<Duration>, SpecError> {
    field.child(key).map(|field| span(&field, parse_duration)).transpose()
}

/// Reads a duration within the bounds of its parser.
pub(super) fn span(field: &Field<'_>, parse: fn(&str) -> Result<Duration, String>) -> Result<Duration, SpecError> {
    parse(&field.read::<String>()?).map_err(|why| field.error(why))
}
