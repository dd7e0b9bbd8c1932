//! A report for people, and which columns its tables leave out.

use super::{Screen, Table};
use std::fmt::{self, Write};

/// The text of a report, with the columns that its tables leave out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    text: String,
    left_out: Vec<LeftOut>,
}

/// A column that a table leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) title: &'static str,
    pub(super) why: Why,
}

/// Why a table leaves a column out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// Every row has this inert text in it.
    Always(String),
    /// No row has anything in it.
    Empty,
    /// The screen has no room for it.
    Narrow,
}

impl Page {
    /// Adds a text, which ends in a line break.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a table after a blank line, under a heading if there is one.
    pub fn table(&mut self, heading: &str, table: &Table, screen: &Screen) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let (text, left_out) = table.lay_out(screen);
        self.text.push_str(heading);
        self.text.push_str(&text);
        let new: Vec<LeftOut> = left_out.into_iter().filter(|column| !self.left_out.contains(column)).collect();
        self.left_out.extend(new);
    }

    /// The sentence about the columns that are left out, with the values that would be the same in every row; none
    /// where all of them are empty.
    pub fn left_out(&self) -> Option<String> {
        if self.left_out.iter().all(|column| column.why == Why::Empty) {
            return None;
        }
        let mut sentence = String::new();
        for LeftOut { title, why } in &self.left_out {
            let title = title.to_uppercase();
            // Writing to a String cannot fail.
            let _ = match why {
                Why::Always(value) => write!(sentence, ", {title} (always {value})"),
                Why::Empty => write!(sentence, ", {title} (empty)"),
                Why::Narrow => write!(sentence, ", {title}"),
            };
        }
        sentence.strip_prefix(", ").map(|columns| format!("columns left out: {columns}"))
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Page {
    fn from(text: String) -> Page {
        Page { text, left_out: Vec::new() }
    }
}
