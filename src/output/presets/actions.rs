//! Moves column by column.

use super::words::quoted;
use super::{PresetAction, PresetChange, PresetDelayed, PresetStep};
use crate::model::AttemptsChange;
use crate::spec::{ActionProfile, Becomes, ColumnChange, StepProfile};

pub(super) fn action_named(profile: &ActionProfile) -> PresetAction {
    PresetAction {
        action: profile.action.name().to_owned(),
        to: profile.to.clone(),
        refused: profile.refused.clone(),
        steps: profile.steps.iter().map(step).collect(),
        delayed: profile.delayed.as_ref().map(|delayed| PresetDelayed {
            refused: delayed.refused.clone(),
            to: delayed.to.clone(),
            changes: delayed.changes.iter().map(change).collect(),
        }),
    }
}

fn step(step: &StepProfile) -> PresetStep {
    match step {
        StepProfile::Update(changes) => {
            PresetStep { changes: changes.iter().map(change).collect(), does: None, sql: None }
        }
        StepProfile::Sql { does, sql, .. } => {
            PresetStep { changes: Vec::new(), does: does.clone(), sql: Some(sql.clone()) }
        }
    }
}

fn change(change: &ColumnChange) -> PresetChange {
    let (detail, sql) = match &change.becomes {
        Becomes::State(state) => (format!("becomes {}", quoted(state)), None),
        Becomes::Attempts(AttemptsChange::Add(n)) if *n < 0 => (format!("goes down by {}", n.unsigned_abs()), None),
        Becomes::Attempts(AttemptsChange::Add(n)) => (format!("goes up by {n}"), None),
        Becomes::Attempts(AttemptsChange::Zero) => ("goes back to 0".to_owned(), None),
        Becomes::Attempts(AttemptsChange::ToMax) => {
            ("goes up to its maximum: the job shall not run again".to_owned(), None)
        }
        Becomes::Attempts(AttemptsChange::Keep) => ("stays as it is".to_owned(), None),
        Becomes::Empty => ("is emptied".to_owned(), None),
        Becomes::Now => ("becomes the current time".to_owned(), None),
        Becomes::RunAt => {
            ("becomes the time of its next run: now, or later with --delay and --jitter".to_owned(), None)
        }
        Becomes::Reason => ("becomes the reason of the reclaim".to_owned(), None),
        Becomes::Constant(value) if value.is_empty() => ("becomes the empty text".to_owned(), None),
        Becomes::Constant(value) => (format!("becomes {}", quoted(value)), None),
        Becomes::Expression { sql, words: Some(words) } => (words.clone(), Some(sql.clone())),
        Becomes::Expression { sql, words: None } => (format!("becomes {}", quoted(sql)), Some(sql.clone())),
    };
    PresetChange { column: change.column.clone(), optional: change.is_optional, detail, sql }
}
