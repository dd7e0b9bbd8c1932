//! What an action does to each column, with what authors do not write: the state and the attempts.

use super::delayed::delayed;
use super::sql::sql;
use super::tables::claims;
use super::{ActionProfile, Becomes, ColumnChange, StepProfile};
use crate::model::{Action, AttemptsChange};
use crate::preset::document::{ActionDoc, AttemptsWord, Document, StepDoc};
use crate::preset::fields::Written;
use crate::preset::template::{Marker, Piece, Template, is_name};

pub(super) fn actions(document: &Document) -> Vec<ActionProfile> {
    document.actions.iter().map(|(action, doc)| action_named(document, *action, doc)).collect()
}

/// What is done to jobs that wait: what authors do not write is that they lose no attempt.
pub(super) fn waiting(document: &Document) -> Vec<ActionProfile> {
    let of_one = |(action, doc): &(Action, ActionDoc)| {
        let attempts = doc.attempts.or(Some(AttemptsWord::Keep));
        // It has waited for long enough: --delay is about claims.
        ActionProfile { delayed: None, ..action_named(document, *action, &ActionDoc { attempts, ..doc.clone() }) }
    };
    document.waiting.iter().map(of_one).collect()
}

fn action_named(document: &Document, action: Action, doc: &ActionDoc) -> ActionProfile {
    // What authors do not write out goes into the first UPDATE of the row.
    let mut implied = implied(document, doc);
    let steps = doc.steps.iter().map(|step| match step {
        StepDoc::Sql { sql: statement, rows, does, .. } => {
            StepProfile::Sql { does: does.clone(), sql: sql(document, statement), rows: *rows }
        }
        StepDoc::Update { clear, stamp, set } => {
            let mut changes = std::mem::take(&mut implied);
            let mut add = |column: &str, becomes| changes.push(change(document, column, becomes));
            clear.iter().for_each(|column| add(&column.text, Becomes::Empty));
            stamp.iter().for_each(|column| add(&column.text, Becomes::Now));
            for (column, _, value) in set {
                add(column, becomes(document, column, value));
            }
            StepProfile::Update(changes)
        }
    });
    let steps: Vec<StepProfile> = if doc.refused.is_some() { Vec::new() } else { steps.collect() };
    let delayed = delayed(document, action, doc);
    ActionProfile {
        action,
        to: doc.to.as_ref().map(|to| to.text.clone()),
        refused: doc.refused.clone(),
        steps,
        delayed,
    }
}

/// The state and the attempts.
fn implied(document: &Document, doc: &ActionDoc) -> Vec<ColumnChange> {
    let mut changes = Vec::new();
    if let (Some(state), Some(to)) = (on_the_row(document, &document.claim.state), &doc.to) {
        let stored = document.states.all().find(|state| state.name == to.text);
        let stored = stored.map_or_else(|| to.text.clone(), |state| state.stored.to_string());
        changes.push(change(document, &state, Becomes::State(stored)));
    }
    let attempts = match doc.attempts {
        None => document.attempts.counted.change(),
        Some(AttemptsWord::Keep) => AttemptsChange::Keep,
        Some(AttemptsWord::Add(n)) => AttemptsChange::Add(n),
        Some(AttemptsWord::Zero) => AttemptsChange::Zero,
        Some(AttemptsWord::Max) => AttemptsChange::ToMax,
    };
    if let (Some(column), true) =
        (on_the_row(document, &document.attempts.column), !matches!(attempts, AttemptsChange::Keep))
    {
        changes.push(change(document, &column, Becomes::Attempts(attempts)));
    }
    changes
}

/// The bare name of a column of the claim's own row; `None` for literals, expressions and columns of other tables.
fn on_the_row(document: &Document, written: &Option<Written>) -> Option<String> {
    let text = &written.as_ref()?.text;
    let (_, row) = claims(document);
    let bare = match text.split_once('.') {
        Some((alias, column)) if alias == row => column,
        Some(_) => return None,
        None => text,
    };
    is_name(bare).then(|| bare.to_owned())
}

pub(super) fn change(document: &Document, column: &str, becomes: Becomes) -> ColumnChange {
    let is_optional = document.claim.optional.iter().any(|optional| optional == column);
    ColumnChange { column: column.to_owned(), is_optional, becomes }
}

pub(super) fn becomes(document: &Document, column: &str, value: &Template) -> Becomes {
    let words = document.words.iter().find(|(name, _)| name == column).map(|(_, words)| words.clone());
    match value.0.as_slice() {
        [Piece::Marker(Marker::Now(None))] => return Becomes::Now,
        [Piece::Marker(Marker::RunAt(None))] => return Becomes::RunAt,
        [Piece::Marker(Marker::Reason)] => return Becomes::Reason,
        // An author who has words for a constant knows why.
        [Piece::Text(text)] if words.is_none() => match constant(text.trim()) {
            Some(_) if text.trim().eq_ignore_ascii_case("null") => return Becomes::Empty,
            Some(constant) => return Becomes::Constant(constant),
            None => {}
        },
        _ => {}
    }
    Becomes::Expression { sql: sql(document, value), words }
}

/// What a literal stands for: a number, true or false, or a quoted text, perhaps with a cast behind it.
fn constant(text: &str) -> Option<String> {
    let bare = text.split("::").next().unwrap_or_default().trim();
    if let Some(inner) = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return (!inner.contains('\'')).then(|| inner.to_owned());
    }
    let is_constant =
        ["true", "false"].iter().any(|word| bare.eq_ignore_ascii_case(word)) || bare.parse::<f64>().is_ok();
    is_constant.then(|| bare.to_owned())
}
