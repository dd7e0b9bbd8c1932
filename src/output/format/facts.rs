use super::cell::{Cell, Tone};
use super::fit::GAP;
use super::grid::{Align, Grid, WIDEST};
use super::inert::inert;
use super::screen::Screen;
use super::width::{clip, wrap};
use std::mem::take;
use unicode_width::UnicodeWidthStr;

/// Facts for people: one `name: value` on each line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    facts: Vec<(String, Cell)>,
}

impl Facts {
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Adds a fact below the others.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<Cell>) -> &mut Facts {
        self.facts.push((name.into(), value.into()));
        self
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
