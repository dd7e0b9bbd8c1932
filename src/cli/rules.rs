//! Rules of a target: `rules`, which of those about trouble are acted on, and `[[target.NAME.too_long]]`, how long a job may
//! be in a state.

use super::config::duration;
use super::settings::Settings;
use super::thresholds::{glob, spelled};
use crate::model::Action;
use crate::output::EnvSetting;
use crate::policy::{Proves, Rule, StateLimit, TooLong};
use crate::preset::{Field, Fields, SpecError, Value};

/// A rule to act on, and what is done where it fires, if not what is usual.
pub type RuleAction = (Rule, Option<Action>);

/// The rules that are acted on only where somebody says so, by their names.
pub fn to_be_switched_on() -> impl Iterator<Item = (&'static str, Rule)> {
    let switchable = |rule: &Rule| rule.proves() == Proves::Trouble && *rule != Rule::TooLong;
    Rule::ALL.into_iter().filter(switchable).map(|rule| (rule.name(), rule))
}

/// Reads `rules`.
///
/// # Errors
/// A rule or an action that there is not.
pub(super) fn rules(field: Option<Field<'_>>) -> Result<Vec<RuleAction>, SpecError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let known: Vec<(&str, Rule)> = to_be_switched_on().collect();
    let one = |item: Field<'_>| {
        if !matches!(item.value(), Value::Table(_)) {
            return Ok((item.word(&known)?, None));
        }
        let mut fields = item.table()?;
        let rule = fields.need("name")?.word(&known)?;
        let action = fields.need("action")?.word(&words(Action::Wake))?;
        fields.finish()?;
        Ok((rule, Some(action)))
    };
    field.items()?.into_iter().map(one).collect()
}

/// Reads `[[target.NAME.too_long]]`.
///
/// # Errors
/// An entry that lacks something, or says something that cannot be read or is not known.
pub(super) fn too_long(field: Option<Field<'_>>) -> Result<Vec<StateLimit>, SpecError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    field.items()?.into_iter().enumerate().map(|(n, item)| limit(n + 1, item.table()?)).collect()
}

fn limit(number: usize, mut fields: Fields<'_>) -> Result<StateLimit, SpecError> {
    let state = fields.take("state").map(Field::written).transpose()?;
    let (queue, kind) = (glob(&mut fields, "queue")?, glob(&mut fields, "kind")?);
    let after = duration(&mut fields, "after")?;
    let since = fields.take("since").map(Field::written).transpose()?;
    let every: Vec<(&str, Action)> = Action::ALL.iter().map(|action| (action.name(), *action)).collect();
    let action = fields.take("action").map(|field| field.word(&every)).transpose()?;
    let lacks = match (&state, after, action) {
        (None, _, _) => Some("needs `state`: how long may a job be in which state?"),
        (_, None, _) => Some("needs `after`: how long is allowed?"),
        (_, _, None) => Some("needs `action`: what is done then? requeue, fail, cancel, time_out or wake"),
        _ => None,
    };
    let lacks = lacks.map(|what| fields.error(what));
    // A misspelt key says more than that another one is missing.
    fields.finish()?;
    match (state, after, action, lacks) {
        (Some(state), Some(after), Some(action), None) => Ok(StateLimit {
            number,
            state,
            queue: queue.unwrap_or_default(),
            kind: kind.unwrap_or_default(),
            after,
            since,
            action,
        }),
        (.., Some(error)) => Err(error),
        (.., None) => Err(SpecError::whole("too_long", "an entry lacks something")),
    }
}

/// The actions by their names, but for one.
fn words(but: Action) -> Vec<(&'static str, Action)> {
    Action::ALL.into_iter().filter(|action| *action != but).map(|action| (action.name(), action)).collect()
}

impl Settings {
    /// What the target says of how long a job may be in a state.
    pub fn too_long(&self) -> TooLong {
        TooLong { target: self.target_name.clone().unwrap_or_default(), entries: self.target.too_long.clone() }
    }

    /// The rules that the target acts on, each with its action where it has one of its own.
    pub(super) fn shown_rules(&self) -> Option<String> {
        let one = |(rule, action): &RuleAction| match action {
            Some(action) => format!("{rule} ({action})"),
            None => rule.to_string(),
        };
        let rules: Vec<String> = self.target.rules.iter().map(one).collect();
        (!rules.is_empty()).then(|| rules.join(", "))
    }

    /// The limits for states, each as a setting.
    pub(super) fn shown_limits(&self) -> Vec<EnvSetting> {
        let one = |limit: &StateLimit| {
            let mut said = vec![format!("state {}", limit.state.text)];
            for (key, globs) in [("queue", &limit.queue), ("kind", &limit.kind)] {
                said.extend(globs.patterns().iter().map(|glob| format!("{key} {glob}")));
            }
            said.push(format!("after {}", spelled(limit.after)));
            said.extend(limit.since.iter().map(|since| format!("since {}", since.text)));
            said.push(format!("action {}", limit.action));
            EnvSetting {
                name: format!("too_long {}", limit.number),
                value: Some(said.join(", ")),
                origin: self.of_target(),
            }
        };
        self.target.too_long.iter().map(one).collect()
    }
}
