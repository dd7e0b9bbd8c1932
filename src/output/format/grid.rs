//! The layout of cells in lines of fixed columns, with comfy-table.

use super::cell::Cell;
use super::fit::GAP;
use comfy_table::ColumnConstraint::Absolute;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table, Width};
use std::iter::zip;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    #[default]
    Left,
    Right,
}

/// The widest column that comfy-table supports, its gap included.
pub(super) const WIDEST: usize = u16::MAX as usize - GAP;

/// Inert texts, cut to the known widths of their columns.
pub(super) struct Grid {
    columns: Vec<(usize, Align)>,
    rows: Vec<Vec<Cell>>,
}

impl Grid {
    pub(super) fn new(columns: Vec<(usize, Align)>) -> Grid {
        Grid { columns, rows: Vec::new() }
    }

    /// Adds a row, one cell per column.
    pub(super) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// One line per row, without spaces at its end.
    pub(super) fn render(&self, color: bool) -> String {
        let mut out = String::new();
        for (line, row) in zip(self.lay_out().lines(), &self.rows) {
            let line = line.trim_end_matches(' ');
            if color {
                paint(line, row, &mut out);
            } else {
                out.push_str(line);
            }
            out.push('\n');
        }
        out
    }

    fn lay_out(&self) -> Table {
        let mut table = Table::new();
        table.load_style(NOTHING);
        table.add_rows(self.rows.iter().map(|row| row.iter().map(|cell| &cell.text)));
        for (column, &(width, align)) in zip(table.column_iter_mut(), &self.columns) {
            column.set_padding((0, cells(GAP)));
            column.set_constraint(Absolute(Width::Fixed(cells(width + GAP))));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        table
    }
}

/// A width in comfy-table's type.
fn cells(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// Colours the texts of a line after its layout, so that escape sequences cannot disturb the widths. Only spaces stand
/// between the texts, so each text is found at its own place first.
fn paint(line: &str, row: &[Cell], out: &mut String) {
    let mut rest = line;
    for cell in row {
        let text = cell.text.trim_end_matches(' ');
        if text.is_empty() {
            continue;
        }
        if let Some((spaces, beyond)) = rest.split_once(text) {
            out.push_str(spaces);
            out.push_str(&cell.tone.paint(text));
            rest = beyond;
        }
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::format::Tone;

    fn grid() -> Grid {
        let mut grid = Grid::new(vec![(4, Align::Right), (5, Align::Left), (3, Align::Left)]);
        grid.push(vec!["42".into(), Cell::new("mail", Tone::Warn), "".into()]);
        grid.push(vec!["".into(), "".into(), Cell::new("4", Tone::Bad)]);
        grid.push(vec!["".into(), "".into(), " ".into()]);
        grid.push(vec![Cell::new("m", Tone::Bad), Cell::new(" m ", Tone::Amiss), Cell::new("m  ", Tone::Amiss)]);
        grid
    }

    #[test]
    fn rows_are_lines_without_spaces_at_the_end() {
        assert_eq!(grid().render(false), "  42  mail\n             4\n\n   m   m     m\n");
    }

    #[test]
    fn colour_goes_around_texts_only() {
        let painted = grid().render(true);
        let lines: Vec<&str> = painted.lines().collect();
        assert_eq!(lines[0], "  42  \x1b[35mmail\x1b[0m");
        assert_eq!(lines[3], "   \x1b[1m\x1b[31mm\x1b[0m  \x1b[31m m\x1b[0m     \x1b[31mm\x1b[0m");
    }
}
