//! Thresholds of a target: `max_runtime`, and `[[target.NAME.threshold]]` for single queues and kinds.

use super::config::duration;
use super::settings::Settings;
use crate::output::EnvSetting;
use crate::policy::{Globs, Policy, Threshold, Thresholds};
use crate::preset::{Field, Fields, SpecError};
use std::time::Duration;

/// Reads the entries of a target.
///
/// # Errors
/// An entry that is about nothing or says nothing, a pattern or a duration that cannot be read, an unknown key.
pub(super) fn thresholds(field: Option<Field<'_>>) -> Result<Vec<Threshold>, SpecError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    field.items()?.into_iter().map(|item| threshold(item.table()?)).collect()
}

fn threshold(mut fields: Fields<'_>) -> Result<Threshold, SpecError> {
    let (queue, kind) = (glob(&mut fields, "queue")?, glob(&mut fields, "kind")?);
    let (older, max_runtime) = (duration(&mut fields, "older")?, duration(&mut fields, "max_runtime")?);
    let lacks = match (&queue, &kind, older, max_runtime) {
        (None, None, _, _) => {
            Some("needs `queue` or `kind`: whose jobs is it about? What holds for all stands in the target itself")
        }
        (_, _, None, None) => Some("needs `older` or `max_runtime`: how long is allowed?"),
        _ => None,
    };
    let lacks = lacks.map(|what| fields.error(what));
    // A misspelt key says more than that another one is missing.
    fields.finish()?;
    if let Some(error) = lacks {
        return Err(error);
    }
    Ok(Threshold { queue: queue.unwrap_or_default(), kind: kind.unwrap_or_default(), older, max_runtime })
}

pub(super) fn glob(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Globs>, SpecError> {
    let Some(written) = fields.take(key).map(Field::written).transpose()? else { return Ok(None) };
    Globs::new(std::slice::from_ref(&written.text)).map(Some).map_err(|why| written.error(why.0))
}

impl Settings {
    /// What is judged by: the target's word, unless `--older` says otherwise.
    pub fn policy(&self, older: Option<Duration>) -> Policy {
        let target = &self.target;
        let thresholds = Thresholds {
            target: self.target_name.clone().unwrap_or_default(),
            entries: target.thresholds.clone(),
            max_runtime: target.max_runtime,
            overruled: false,
        };
        let policy = Policy { older: target.older, thresholds, max_stalls: target.max_stalls, ..Policy::default() };
        let actions = target.rules.iter().filter_map(|(rule, action)| Some((*rule, (*action)?))).collect();
        let act_on = target.rules.iter().map(|(rule, _)| *rule).collect();
        Policy { act_on, actions, too_long: self.too_long(), ..policy }.with_older(older)
    }

    /// The entries, each as a setting.
    pub(super) fn shown_thresholds(&self) -> Vec<EnvSetting> {
        let one = |(n, entry): (usize, &Threshold)| {
            let globs = [("queue", &entry.queue), ("kind", &entry.kind)];
            let globs =
                globs.iter().flat_map(|(key, globs)| globs.patterns().iter().map(move |glob| (*key, glob.clone())));
            let spans = [("older", entry.older), ("max_runtime", entry.max_runtime)];
            let spans = spans.iter().filter_map(|(key, span)| Some((*key, spelled((*span)?))));
            let said: Vec<String> = globs.chain(spans).map(|(key, value)| format!("{key} {value}")).collect();
            EnvSetting { name: format!("threshold {}", n + 1), value: Some(said.join(", ")), origin: self.of_target() }
        };
        self.target.thresholds.iter().enumerate().map(one).collect()
    }
}

pub(super) fn spelled(span: Duration) -> String {
    humantime::format_duration(span).to_string()
}
