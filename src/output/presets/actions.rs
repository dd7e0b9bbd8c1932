//! What an action does, column by column.

use super::page::{PresetFact as Line, name, word};
use super::words::{code, quoted};
use crate::model::AttemptsChange;
use crate::preset::{ActionProfile, Becomes, ColumnChange, DelayedProfile, StepProfile};

pub(super) fn action_named(action: &ActionProfile) -> Vec<Line> {
    if let Some(why) = &action.refused {
        return vec![word("never", why.as_str())];
    }
    let mut lines: Vec<Line> = action.to.iter().map(|to| word("to", code(to))).collect();
    let is_one = action.steps.len() == 1;
    for (n, step) in action.steps.iter().enumerate() {
        let number = format!("step {}", n + 1);
        match step {
            StepProfile::Update(changes) => {
                lines.extend((!is_one).then(|| word(number, "the row is updated:")));
                lines.extend(changes.iter().map(|change| {
                    let only = if change.is_optional { " (where the table has it)" } else { "" };
                    name(change.column.as_str(), format!("{}{only}", becomes(change)))
                }));
            }
            StepProfile::Sql { does, sql, .. } => {
                lines.push(word(number, does.clone().unwrap_or_else(|| code(sql))));
            }
        }
    }
    if action.steps.iter().any(|step| matches!(step, StepProfile::Update(_))) {
        lines.push(word("all other columns", "stay as they are"));
    }
    lines.extend(action.delayed.iter().flat_map(delayed));
    lines
}

/// What is different with `--delay`; nothing where only the time is.
fn delayed(delayed: &DelayedProfile) -> Option<Line> {
    let refused = delayed.refused.iter().map(|why| format!("refused: {why}"));
    let to = delayed.to.iter().map(|to| format!("to {}", code(to)));
    let changes = delayed.changes.iter().map(|change| format!("{} {}", code(&change.column), becomes(change)));
    let parts: Vec<String> = refused.chain(to).chain(changes).collect();
    (!parts.is_empty()).then(|| word("with --delay", parts.join("; ")))
}

fn becomes(change: &ColumnChange) -> String {
    match &change.becomes {
        Becomes::State(state) => format!("becomes {}", quoted(state)),
        Becomes::Attempts(AttemptsChange::Add(n)) if *n < 0 => format!("goes down by {}", n.unsigned_abs()),
        Becomes::Attempts(AttemptsChange::Add(n)) => format!("goes up by {n}"),
        Becomes::Attempts(AttemptsChange::Zero) => "goes back to 0".to_owned(),
        Becomes::Attempts(AttemptsChange::ToMax) => "goes up to its maximum: the job shall not run again".to_owned(),
        Becomes::Attempts(AttemptsChange::Keep) => "stays as it is".to_owned(),
        Becomes::Empty => "is emptied".to_owned(),
        Becomes::Now => "becomes the current time".to_owned(),
        Becomes::RunAt => "becomes the time of its next run: now, or later with --delay and --jitter".to_owned(),
        Becomes::Reason => "becomes the reason of the reclaim".to_owned(),
        Becomes::Constant(value) if value.is_empty() => "becomes the empty text".to_owned(),
        Becomes::Constant(value) => format!("becomes {}", quoted(value)),
        Becomes::Expression { words: Some(words), .. } => words.clone(),
        Becomes::Expression { sql, words: None } => format!("becomes {}", quoted(sql)),
    }
}
