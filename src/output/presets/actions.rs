//! What an action does, column by column.

use super::fact::{PresetFact, fact, name_fact, why};
use super::words::{code, quoted};
use crate::model::{Action, AttemptsChange};
use crate::preset::{ActionDoc, Document, Marker, Piece, StepDoc, Template};

/// What an action does to a claim.
pub(super) fn claim_action(document: &Document, action: Action, doc: &ActionDoc) -> Vec<PresetFact> {
    let mut facts = action_facts(document, doc);
    if action == Action::Requeue && doc.refused.is_none() {
        facts.extend(delayed(document, doc));
        facts.extend(doc.delayed.iter().filter_map(|delayed| why("with --delay", &delayed.why)));
    }
    facts
}

/// What an action does, whether to a claim or to a job that waits. `--delay` is about claims only.
pub(super) fn action_facts(document: &Document, doc: &ActionDoc) -> Vec<PresetFact> {
    if let Some(reason) = &doc.refused {
        return [fact("never", reason.as_str())].into_iter().chain(why("why", &doc.why)).collect();
    }
    let mut facts: Vec<PresetFact> = doc.to.iter().map(|to| fact("to", code(&to.text))).collect();
    let is_one = doc.steps.len() == 1;
    // What authors do not write out goes into the first UPDATE of the row.
    let mut implied = implied(document, doc);
    for (n, step) in doc.steps.iter().enumerate() {
        let number = format!("step {}", n + 1);
        match step {
            StepDoc::Sql { does, sql, .. } => {
                facts.push(fact(number, does.clone().unwrap_or_else(|| code(&document.sql_text(&sql.sql)))));
            }
            StepDoc::Update { clear, stamp, set } => {
                facts.extend((!is_one).then(|| fact(number, "the row is updated:")));
                let mut changes = std::mem::take(&mut implied);
                changes.extend(clear.iter().map(|column| (column.text.clone(), EMPTIED.to_owned())));
                changes.extend(stamp.iter().map(|column| (column.text.clone(), STAMPED.to_owned())));
                changes
                    .extend(set.iter().map(|(column, value)| (column.clone(), becomes(document, column, &value.sql))));
                facts.extend(changes.into_iter().map(|(column, becomes)| {
                    let is_optional = document.claim.optional.contains(&column);
                    let only = if is_optional { " (where the table has it)" } else { "" };
                    name_fact(column, format!("{becomes}{only}"))
                }));
            }
        }
    }
    if doc.steps.iter().any(|step| matches!(step, StepDoc::Update { .. })) {
        facts.push(fact("all other columns", "stay as they are"));
    }
    facts.extend(why("why", &doc.why));
    facts
}

const EMPTIED: &str = "is emptied";
const STAMPED: &str = "becomes the current time";

/// What becomes of the state and of the attempts.
fn implied(document: &Document, doc: &ActionDoc) -> Vec<(String, String)> {
    let mut changes = Vec::new();
    if let (Some(column), Some(to)) = (document.row_column(&document.claim.state), &doc.to) {
        let stored = document.states.all().find(|state| state.name == to.text);
        let stored = stored.map_or_else(|| to.text.clone(), |state| state.stored.to_string());
        changes.push((column, format!("becomes {}", quoted(&stored))));
    }
    let attempts = match document.attempts_change(doc) {
        AttemptsChange::Keep => None,
        AttemptsChange::Zero if document.attempts.counts_down => Some("goes back to its maximum".to_owned()),
        AttemptsChange::ToMax if document.attempts.counts_down => {
            Some("goes down to 0: the job does not run again".to_owned())
        }
        AttemptsChange::Add(n) if (n < 0) != document.attempts.counts_down => {
            Some(format!("goes down by {}", n.unsigned_abs()))
        }
        AttemptsChange::Add(n) => Some(format!("goes up by {}", n.unsigned_abs())),
        AttemptsChange::Zero => Some("goes back to 0".to_owned()),
        AttemptsChange::ToMax => Some("goes up to its maximum: the job does not run again".to_owned()),
    };
    changes.extend(document.row_column(&document.attempts.column).zip(attempts));
    changes
}

/// What is different with `--delay`; nothing where only the time is.
fn delayed(document: &Document, doc: &ActionDoc) -> Option<PresetFact> {
    let says_when = |sql: &Template| document.whole(sql).markers().any(|marker| matches!(marker, Marker::RunAt(_)));
    let parts: Vec<String> = match &doc.delayed {
        Some(delayed) => {
            let refused = delayed.refused.iter().map(|why| format!("refused: {why}"));
            let to = delayed.to.iter().map(|to| format!("to {}", code(&to.text)));
            let set = delayed.set.iter();
            let changes =
                set.map(|(column, value)| format!("{} {}", code(column), becomes(document, column, &value.sql)));
            refused.chain(to).chain(changes).collect()
        }
        None if doc.steps.iter().any(|step| match step {
            StepDoc::Sql { sql, .. } => says_when(&sql.sql),
            StepDoc::Update { set, .. } => set.iter().any(|(_, value)| says_when(&value.sql)),
        }) =>
        {
            Vec::new()
        }
        None => vec!["refused: no column says when a job may run".to_owned()],
    };
    (!parts.is_empty()).then(|| fact("with --delay", parts.join("; ")))
}

fn becomes(document: &Document, column: &str, value: &Template) -> String {
    let words = document.words_for(column);
    match value.0.as_slice() {
        [Piece::Marker(Marker::Now(None))] => STAMPED.to_owned(),
        [Piece::Marker(Marker::RunAt(None))] => {
            "becomes the time of its next run: now, or later with --delay and --jitter".to_owned()
        }
        [Piece::Marker(Marker::Reason)] => "becomes the reason of the reclaim".to_owned(),
        // An author who has words for a constant knows why.
        _ => match (words, value.constant()) {
            (Some(words), _) => words.to_owned(),
            (None, Some("")) => "becomes the empty text".to_owned(),
            (None, Some(constant)) => format!("becomes {}", quoted(constant)),
            (None, None) => format!("becomes {}", quoted(&document.sql_text(value))),
        },
    }
}
