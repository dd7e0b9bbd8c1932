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
        let title = inert(title).to_uppercase();
        format!("{}\n", if self.color { Tone::Strong.paint(&title) } else { title })
    }
}
