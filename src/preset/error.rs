use crate::model::Remedy;
use std::fmt;

/// Something is wrong with a preset, a mapping or the way it fits the live tables.
///
/// The message says what, and how to correct it; the place says where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct SpecError {
    pub at: WrittenAt,
    pub message: String,
    /// The table that it is about, if it is one of these.
    pub table: Option<Box<TableInError>>,
    /// What to do about it, where that needs an option or a command.
    pub remedy: Option<Remedy>,
}

impl SpecError {
    pub fn whole(document: &str, message: impl Into<String>) -> SpecError {
        WrittenAt { document: document.to_owned(), ..WrittenAt::default() }.error(message)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenAt {
    /// The document: "preset river", or the path of a config file and the mapping's name.
    pub document: String,
    /// The key path inside it, such as `action.requeue.to`; empty for the document as a whole.
    pub key: String,
    /// The line, counted from 1, where one is known.
    pub line: Option<usize>,
}

/// The table that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableInError {
    /// No schema has it.
    Missing(String),
    /// It looks most like a queue, where none was recognised.
    Lookalike(String),
}

impl WrittenAt {
    pub(super) fn new(document: &str, key: &str, line: usize) -> WrittenAt {
        WrittenAt { document: document.to_owned(), key: key.to_owned(), line: Some(line).filter(|line| *line > 0) }
    }

    /// The built-in preset whose lines are cited: its file is in the program alone.
    pub fn built_in(&self) -> Option<&str> {
        self.line.and_then(|_| self.document.strip_prefix("preset "))
    }

    pub fn error(&self, message: impl Into<String>) -> SpecError {
        SpecError { at: self.clone(), message: message.into(), table: None, remedy: None }
    }
}

impl fmt::Display for WrittenAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.document)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ", key `{}`", self.key)?;
        }
        Ok(())
    }
}

/// A closing ", did you mean `x`?" where one of the known words is close to what was written.
pub fn did_you_mean<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    known
        .into_iter()
        .map(|word| (likeness(written, word), word))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| format!(", did you mean `{word}`?"))
        .unwrap_or_default()
}

/// From 0 to 1. Jaro-Winkler misses a letter left out of a short word, which counts as likely here.
fn likeness(written: &str, word: &str) -> f64 {
    let one_slip = strsim::damerau_levenshtein(written, word) <= 1;
    strsim::jaro_winkler(written, word).max(if one_slip { 0.9 } else { 0.0 })
}
