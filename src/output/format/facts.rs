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
    /// No facts yet.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Adds a fact below the others.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<Cell>) -> &mut Facts {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// The facts in two columns. A value that is too long for the screen is wrapped in its column, so that no part of it can pass for
    /// another fact.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(width: Option<usize>) -> String {
        let mut facts = Facts::new();
        facts.add("owner", "web1:4211").add("evidence", "heartbeat_at is 13m 32s old").add("note", "a\nstate: fine");
        facts.render(&Screen { width, color: false, ..Screen::default() })
    }

    #[test]
    fn values_are_aligned_and_inert() {
        let block = "owner:     web1:4211\nevidence:  heartbeat_at is 13m 32s old\nnote:      a\\nstate: fine\n";
        assert_eq!(rendered(None), block);
        assert_eq!(rendered(Some(80)), block);
    }

    #[test]
    fn long_values_hang_below_themselves() {
        let block = "owner:     web1:4211\n\
                     evidence:  heartbeat_at\n           is 13m 32s\n           old\n\
                     note:      a\\nstate:\n           fine\n";
        assert_eq!(rendered(Some(24)), block);
    }

    #[test]
    fn long_names_leave_room_for_values() {
        let mut facts = Facts::new();
        facts.add("a very long name indeed", "1234567890");
        let screen = Screen { width: Some(20), color: false, ..Screen::default() };
        assert_eq!(facts.render(&screen), "a very lo…  12345678\n            90\n");
    }

    #[test]
    fn a_very_long_value_is_kept_whole() {
        let mut facts = Facts::new();
        facts.add("payload", "x".repeat(200_000));
        let block = facts.render(&Screen { width: None, color: false, ..Screen::default() });
        assert_eq!(block.matches('x').count(), 200_000);
    }

    #[test]
    fn names_step_back_in_colour() {
        let mut facts = Facts::new();
        facts.add("verdict", Cell::new("stuck", Tone::Bad));
        let block = facts.render(&Screen { width: Some(80), color: true, ..Screen::default() });
        assert_eq!(block, "\x1b[2mverdict:\x1b[0m  \x1b[1m\x1b[31mstuck\x1b[0m\n");
    }
}
