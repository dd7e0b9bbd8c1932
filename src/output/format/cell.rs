//! The cells of tables: texts and their colours.

use anstyle::{AnsiColor, Style};

/// The colour of a cell; it only repeats what the words say, and can be read on a dark and on a light background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    /// Dimmed.
    Dim,
    /// Needs attention.
    Warn,
    /// Wrong, but less so than others.
    Amiss,
    Bad,
    /// Bold.
    Strong,
}

impl Tone {
    /// The text between the escape sequences of this tone; the text alone when plain.
    pub fn paint(self, text: &str) -> String {
        let style = match self {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Warn => AnsiColor::Magenta.on_default(),
            Tone::Amiss => AnsiColor::Red.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Strong => Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }
}

/// A piece of a table: a text, which rendering makes inert, and its tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    pub text: String,
    /// Its colour, where the screen has colours.
    pub tone: Tone,
    /// What it is ordered by, where its text does not tell.
    pub rank: Option<i64>,
}

impl Cell {
    pub fn new(text: impl Into<String>, tone: Tone) -> Cell {
        Cell { text: text.into(), tone, rank: None }
    }

    /// The cell with what it is ordered by.
    #[must_use]
    pub fn ranked(self, rank: i64) -> Cell {
        Cell { rank: Some(rank), ..self }
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
