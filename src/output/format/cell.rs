use anstyle::{AnsiColor, Style};

/// What a cell says by its colour. Colour only repeats what the words already say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// As it comes.
    #[default]
    Plain,
    /// In the background.
    Dim,
    /// All is well.
    Good,
    /// Worth a snapshot.
    Warn,
    /// Wrong.
    Bad,
    /// In the foreground.
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

/// A piece of a table: a text as it came, which rendering makes inert, and its tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The text, as it came.
    pub text: String,
    /// How it is coloured where there is colour.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_adds_nothing() {
        assert_eq!(Tone::Plain.paint("web1"), "web1");
        assert_eq!(Tone::Good.paint("web1"), "\x1b[32mweb1\x1b[0m");
    }
}
