//! What a target in the config file says about judging: thresholds, rules that are switched on, limits for states.

use crate::model::{Action, parse_duration};
use crate::policy::{Globs, Proves, Rule, StateLimit, Threshold};
use crate::preset::{Field, Fields, SpecError, Value};
use std::time::Duration;

/// A rule to act on, and the action where it is not the usual one.
pub type RuleAction = (Rule, Option<Action>);

/// The rules that are acted on only where the operator switches them on, by name.
pub fn switchable_rules() -> impl Iterator<Item = (&'static str, Rule)> {
    let switchable = |rule: &Rule| rule.proves() == Proves::Trouble && *rule != Rule::TooLong;
    Rule::ALL.into_iter().filter(switchable).map(|rule| (rule.name(), rule))
}

pub(super) fn rules(field: Field<'_>) -> Result<Vec<RuleAction>, SpecError> {
    let known: Vec<(&str, Rule)> = switchable_rules().collect();
    let one = |item: Field<'_>| {
        if !matches!(item.value(), Value::Table(_)) {
            return Ok((item.word(&known)?, None));
        }
        let mut fields = item.table()?;
        let rule = fields.need("name")?.word(&known)?;
        let action = fields.need("action")?.word(&actions_except(Action::Wake))?;
        fields.finish()?;
        Ok((rule, Some(action)))
    };
    field.items()?.into_iter().map(one).collect()
}

/// The switched-on rules, each with its action where it is not the usual one; `None` if there are none.
pub(super) fn rules_in_words(rules: &[RuleAction]) -> Option<String> {
    let one = |(rule, action): &RuleAction| match action {
        Some(action) => format!("{rule} ({action})"),
        None => rule.to_string(),
    };
    (!rules.is_empty()).then(|| rules.iter().map(one).collect::<Vec<_>>().join(", "))
}

pub(super) fn too_long(field: Field<'_>) -> Result<Vec<StateLimit>, SpecError> {
    field.items()?.into_iter().enumerate().map(|(n, item)| limit(n + 1, item.table()?)).collect()
}

fn limit(number: usize, mut fields: Fields<'_>) -> Result<StateLimit, SpecError> {
    let state = fields.take("state").map(Field::written).transpose()?;
    let (queue, kind) = (glob(&mut fields, "queue")?, glob(&mut fields, "kind")?);
    let after = duration(&mut fields, "after")?;
    let since = fields.take("since").map(Field::written).transpose()?;
    let every: Vec<(&str, Action)> = Action::ALL.iter().map(|action| (action.name(), *action)).collect();
    let action = fields.take("action").map(|field| field.word(&every)).transpose()?;
    let lacks = |what: &str| fields.error(what);
    let (no_state, no_after, no_action) = (
        lacks("needs `state`: the state in which a job may be too long"),
        lacks("needs `after`: how long a job may be in that state"),
        lacks("needs `action`: what is done then: requeue, fail, cancel, time_out or wake"),
    );
    // The error about a misspelt key comes first: it explains why another key is missing.
    fields.finish()?;
    Ok(StateLimit {
        number,
        state: state.ok_or(no_state)?,
        queue: queue.unwrap_or_default(),
        kind: kind.unwrap_or_default(),
        after: after.ok_or(no_after)?,
        since,
        action: action.ok_or(no_action)?,
    })
}

/// All actions but one, by name.
fn actions_except(but: Action) -> Vec<(&'static str, Action)> {
    Action::ALL.into_iter().filter(|action| *action != but).map(|action| (action.name(), action)).collect()
}

pub(super) fn thresholds(field: Field<'_>) -> Result<Vec<Threshold>, SpecError> {
    field.items()?.into_iter().map(|item| threshold(item.table()?)).collect()
}

fn threshold(mut fields: Fields<'_>) -> Result<Threshold, SpecError> {
    let (queue, kind) = (glob(&mut fields, "queue")?, glob(&mut fields, "kind")?);
    let (older, max_runtime) = (duration(&mut fields, "older")?, duration(&mut fields, "max_runtime")?);
    let lacks = match (&queue, &kind, older, max_runtime) {
        (None, None, _, _) => Some("needs `queue` or `kind`; a threshold for all jobs stands in the target itself"),
        (_, _, None, None) => Some("needs `older` or `max_runtime`"),
        _ => None,
    };
    let lacks = lacks.map(|what| fields.error(what));
    // The error about a misspelt key comes first: it explains why another key is missing.
    fields.finish()?;
    if let Some(error) = lacks {
        return Err(error);
    }
    Ok(Threshold { queue: queue.unwrap_or_default(), kind: kind.unwrap_or_default(), older, max_runtime })
}

fn glob(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Globs>, SpecError> {
    let Some(written) = fields.take(key).map(Field::written).transpose()? else { return Ok(None) };
    Globs::new(std::slice::from_ref(&written.text)).map(Some).map_err(|why| written.error(why.0))
}

fn duration(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Duration>, SpecError> {
    fields.take(key).map(|field| span(field, parse_duration)).transpose()
}

/// Reads a duration within the bounds of its parser.
pub(super) fn span(field: Field<'_>, parse: fn(&str) -> Result<Duration, String>) -> Result<Duration, SpecError> {
    let written = field.written()?;
    parse(&written.text).map_err(|why| written.error(why))
}
