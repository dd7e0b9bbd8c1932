use super::cell::Tone;
use super::inert::inert;

/// Where human output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Display cells per line; `None` is unlimited: nothing is cut, dropped or wrapped.
    pub width: Option<usize>,
    /// Whether tones become colours.
    pub color: bool,
}

impl Screen {
    /// A heading on a line of its own, as the titles of a table's columns are.
    pub fn heading(&self, title: &str) -> String {
        format!("{}\n", self.strong(&inert(title).to_uppercase()))
    }

    /// What should be seen first, where there are colours.
    pub fn strong(&self, text: &str) -> String {
        if self.color { Tone::Strong.paint(text) } else { text.to_owned() }
    }
}
