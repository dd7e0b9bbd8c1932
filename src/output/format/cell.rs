//! The cells of tables: texts and their colours.

use anstyle::{AnsiColor, Style};

/// The colour of a cell; it only repeats what the words say, and can be read on a dark and on a light background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// No colour.
    #[default]
    Plain,
    /// Dimmed.
    Dim,
    /// Needs attention.
    Warn,
    /// Wrong, but less so than others.
    Amiss,
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
    /// The text, not yet inert.
    pub text: String,
    /// Its colour, where the screen has colours.
    pub tone: Tone,
    /// What it is ordered by, where its text does not tell.
    pub rank: Option<i64>,
}

impl Cell {
    /// A cell in a tone.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_adds_nothing() {
        assert_eq!(Tone::Plain.paint("web1"), "web1");
        assert_eq!(Tone::Warn.paint("web1"), "\x1b[35mweb1\x1b[0m");
    }

    /// Of xterm's eight colours, only red and magenta have a contrast of 3 with black and with white.
    #[test]
    fn every_tone_can_be_read_on_black_and_on_white() {
        let luminance = |rgb: [f64; 3]| {
            let linear = rgb.map(|part| ((part / 255.0 + 0.055) / 1.055).powf(2.4));
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        const XTERM: [[f64; 3]; 8] = [
            [0.0, 0.0, 0.0],
            [205.0, 0.0, 0.0],
            [0.0, 205.0, 0.0],
            [205.0, 205.0, 0.0],
            [0.0, 0.0, 238.0],
            [205.0, 0.0, 205.0],
            [0.0, 205.0, 205.0],
            [229.0, 229.0, 229.0],
        ];
        for tone in [Tone::Plain, Tone::Dim, Tone::Warn, Tone::Amiss, Tone::Bad, Tone::Strong] {
            let painted = tone.paint("");
            let colors = painted.split("\x1b[3").skip(1).map(|code| code.as_bytes()[0] - b'0');
            for light in colors.map(|color| luminance(XTERM[usize::from(color)])) {
                let (on_black, on_white) = ((light + 0.05) / 0.05, 1.05 / (light + 0.05));
                assert!(on_black > 3.0 && on_white > 3.0, "{tone:?}: {on_black:.1} on black, {on_white:.1} on white");
            }
        }
    }

    #[test]
    fn a_missing_text_is_a_dash() {
        assert_eq!(or_dash(None), "-");
        assert_eq!(or_dash(Some("")), "-");
        assert_eq!(or_dash(Some("web1")), "web1");
    }
}
