//! How names, values and lists are spelled on a page.

use crate::preset::{Document, StateValue, Written};

pub(super) fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// SQL or a value, in backquotes; a backquote in it would end it.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// A column or an expression.
pub(super) fn column(document: &Document, written: &Written) -> String {
    quoted(&document.column_text(written))
}

/// The option, if the author wrote one.
pub(super) fn option(as_written: &str) -> Option<String> {
    as_written.strip_prefix("option ").map(|option| format!("the option {}", quoted(option)))
}

/// States as they are stored, each with its name where that is another one.
pub(super) fn stored(states: &[StateValue]) -> Vec<String> {
    let one = |state: &StateValue| match state.stored.to_string() {
        stored if stored == state.name => stored,
        stored => format!("{stored} ({})", state.name),
    };
    states.iter().map(one).collect()
}

/// Texts in backquotes: `a`, `a or b`, `a, b or c`.
pub(super) fn any_of(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    match texts.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
