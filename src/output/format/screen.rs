//! The screen, and paragraphs on it.

use super::cell::{Cell, Tone};
use super::inert::inert;
use super::width::wrap;
use unicode_width::UnicodeWidthStr;

/// The indent of the lines after the first, so that none of them can pass for another paragraph.
const INDENT: usize = 4;

/// The screen that output for people is laid out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Display cells per line; `None` is unlimited: then nothing is cut, dropped or wrapped.
    pub width: Option<usize>,
    /// Whether tones become colours.
    pub color: bool,
}

impl Screen {
    /// A heading on a line of its own, in the style of column titles.
    pub fn heading(&self, title: &str) -> String {
        format!("{}\n", self.strong(&inert(title).to_uppercase()))
    }

    /// A text in bold, where the screen has colours.
    pub fn strong(&self, text: &str) -> String {
        if self.color { Tone::Strong.paint(text) } else { text.to_owned() }
    }

    /// A sentence on lines of its own, inert, wrapped and indented.
    pub fn paragraph(&self, cell: &Cell) -> String {
        let text = inert(&cell.text);
        let lines = match self.width {
            Some(width) if text.width() > width => wrap(&text, width.saturating_sub(INDENT).max(1)),
            _ => vec![text.as_ref()],
        };
        let paint = |line: &str| if self.color { cell.tone.paint(line) } else { line.to_owned() };
        let set = |(n, line): (usize, &&str)| format!("{:1$}{2}\n", "", if n == 0 { 0 } else { INDENT }, paint(line));
        lines.iter().enumerate().map(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::format::Tone;

    #[test]
    fn what_does_not_fit_goes_on_below_and_stays_inert() {
        let cell = Cell::new("host web1\nFAKE vanished: 3 jobs", Tone::Bad);
        let screen = |width, color| Screen { width, color };
        assert_eq!(screen(None, false).paragraph(&cell), "host web1\\nFAKE vanished: 3 jobs\n");
        assert_eq!(screen(Some(24), false).paragraph(&cell), "host web1\\nFAKE\n    vanished: 3 jobs\n");
        assert_eq!(screen(None, true).paragraph(&"x".into()), "x\n");
        assert_eq!(screen(Some(2), false).paragraph(&"ab".into()), "ab\n");
        assert_eq!(screen(Some(1), false).paragraph(&"ab".into()), "a\n    b\n");
    }
}
