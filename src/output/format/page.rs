//! A report for people, and which columns its tables leave out.

use super::cell::{Cell, Tone};
use super::fit::{Align, GAP, Grid, WIDEST};
use super::formats::Screen;
use super::inert::inert;
use super::table::{LeftOut, Table, Why};
use super::width::{clip, wrap};
use std::fmt::{self, Write};
use std::mem::take;
use unicode_width::UnicodeWidthStr;

/// The text of a report, with the columns that its tables leave out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    text: String,
    left_out: Vec<LeftOut>,
    /// The jobs of its tables, each with its line.
    jobs: Vec<(usize, String)>,
}

impl Page {
    /// Adds a text, which ends in a line break.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Sets what follows apart from what is above it.
    pub fn apart(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// The jobs of its tables, each with the number of its line, from 0.
    pub fn jobs(&self) -> &[(usize, String)] {
        &self.jobs
    }

    /// Adds a table after a blank line, under a heading if there is one.
    pub fn table(&mut self, heading: &str, table: &Table, screen: &Screen) {
        self.apart();
        self.text.push_str(heading);
        self.rows(table, std::iter::empty(), screen);
    }

    /// Adds a table of these jobs.
    pub fn rows<'j>(&mut self, table: &Table, jobs: impl Iterator<Item = &'j str>, screen: &Screen) {
        let (text, left_out) = table.lay_out(screen);
        let first = self.text.lines().count() + usize::from(!screen.no_header);
        self.jobs.extend(jobs.enumerate().map(|(n, id)| (first + n, id.to_owned())));
        self.text.push_str(&text);
        for column in left_out {
            // Of several tables, a column is named once; why it is left out differs.
            match self.left_out.iter_mut().find(|known| known.title == column.title) {
                Some(known) if known.why != column.why => known.why = Why::Narrow,
                Some(_) => {}
                None => self.left_out.push(column),
            }
        }
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
        Page { text, ..Page::default() }
    }
}

/// Facts for people: one `name: value` on each line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    facts: Vec<(String, Cell)>,
}

impl Facts {
    pub fn new() -> Facts {
        Facts::default()
    }

    pub fn add(&mut self, name: impl Into<String>, value: impl Into<Cell>) -> &mut Facts {
        self.facts.push((name.into(), value.into()));
        self
    }

    pub fn add_some(&mut self, name: &str, value: Option<impl Into<Cell>>) {
        self.facts.extend(value.map(|value| (name.to_owned(), value.into())));
    }

    /// The facts in two columns. A value that is too long for the screen is wrapped in its column, so that no part of
    /// it can pass for another fact.
    pub fn render(&self, screen: &Screen) -> String {
        let room = screen.width.unwrap_or(usize::MAX);
        // A fact without a name continues the one above it.
        let label = |name: &str| if name.is_empty() { String::new() } else { format!("{}:", inert(name)) };
        let names: Vec<String> = self.facts.iter().map(|(name, _)| label(name)).collect();
        // A column has one cell at least.
        let widest = names.iter().map(|name| name.width()).max().unwrap_or(0).max(1);
        let name_width = widest.min(room / 2).min(WIDEST);
        let value_width = room.saturating_sub(name_width + GAP).clamp(1, WIDEST);

        let mut grid = Grid::new(vec![(name_width, Align::Left), (value_width, Align::Left)]);
        for (name, (_, value)) in names.iter().zip(&self.facts) {
            let mut name = clip(name, name_width).into_owned();
            for line in wrap(&inert(&value.text), value_width) {
                grid.push(vec![Cell::new(take(&mut name), Tone::Dim), Cell::new(line, value.tone)]);
            }
        }
        grid.render(screen.color)
    }
}
