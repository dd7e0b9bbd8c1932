//! The cells of tables: texts and their colours.

use anstyle::{AnsiColor, Style};

/// The colour of a cell; it only repeats what the words say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// No colour.
    #[default]
    Plain,
    /// Dimmed.
    Dim,
    /// As it should be.
    Good,
    /// Needs attention.
    Warn,
    /// Wrong.
    Bad,
    /// Bold.
    Strong,
}

impl Tone {
    /// The text between the escape sequences of this tone; the text alone when plain.
    pub(super) fn paint(self, text: &str) -> String {
        let style = match self {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warn => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Strong => Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }
}

/// A piece of a table: a text, which rendering makes inert, and its tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The text, not yet inert.
    pub text: String,
    /// Its colour, where the screen has colours.
    pub tone: Tone,
}

impl Cell {
    /// A cell in a tone.
    pub fn new(text: impl Into<String>, tone: Tone) -> Cell {
        Cell { text: text.into(), tone }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::new(text, Tone::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(text, Tone::Plain)
    }
}

/// The text, or a dash for one that is missing or empty.
pub fn or_dash(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_adds_nothing() {
        assert_eq!(Tone::Plain.paint("web1"), "web1");
        assert_eq!(Tone::Good.paint("web1"), "\x1b[32mweb1\x1b[0m");
    }

    #[test]
    fn a_missing_text_is_a_dash() {
        assert_eq!(or_dash(None), "-");
        assert_eq!(or_dash(Some("")), "-");
        assert_eq!(or_dash(Some("web1")), "web1");
    }
}
