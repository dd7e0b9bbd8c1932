//! Which columns of a table fit on the screen, and how wide.

use super::cell::Cell;
use comfy_table::ColumnConstraint::Absolute;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table, Width};
use std::iter::zip;

pub(super) const GAP: usize = 2;

#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// The width of its widest text.
    pub(super) natural: usize,
    /// The width to which it shrinks before another column is dropped.
    pub(super) floor: usize,
    /// 0 is dropped last; a larger number is dropped earlier.
    pub(super) importance: u8,
}

/// Columns of this importance and above give way before any other is cut, and are left out where they say the same in
/// every row.
pub(super) const SECONDARY: u8 = 3;

/// Those of the columns that fit into so many cells, each with its width.
///
/// Columns shrink to their floors, the widest first; then the least important is dropped, and the others start again at
/// full width. As long as there are secondary columns, only they shrink. When no column may be dropped, they shrink
/// below their floors; when not even one cell each fits, the last is dropped: a wrapped row is harder to read than a
/// missing column.
pub(super) fn fit(measures: &[Measure], mut kept: Vec<usize>, room: usize) -> Vec<(usize, usize)> {
    let is_secondary = |column: usize| measures[column].importance >= SECONDARY;
    let squeezed = |kept: &[usize]| {
        let has_secondary = kept.iter().any(|column| is_secondary(*column));
        let rigid = |column: usize| Measure { floor: measures[column].natural, ..measures[column] };
        squeeze(
            kept,
            room,
            |column| if has_secondary && !is_secondary(column) { rigid(column) } else { measures[column] },
        )
    };
    let mut dropped = Vec::new();
    loop {
        if let Some(mut widths) = squeezed(&kept) {
            // A narrow column may fit where a wider one did not.
            for column in dropped.into_iter().rev() {
                let at = kept.partition_point(|other| *other < column);
                kept.insert(at, column);
                match squeezed(&kept) {
                    Some(wider) => widths = wider,
                    None => drop(kept.remove(at)),
                }
            }
            return widths;
        }
        let Some(least) = least(&kept, measures) else { break };
        kept.retain(|column| *column != least);
        dropped.push(least);
    }
    loop {
        if let Some(widths) = squeeze(&kept, room, |column| Measure { floor: 1, ..measures[column] }) {
            return widths;
        }
        kept.pop();
    }
}

/// The column to drop next: one with a larger number, then one further right. A single column stays.
fn least(kept: &[usize], measures: &[Measure]) -> Option<usize> {
    if kept.len() < 2 {
        return None;
    }
    let droppable = kept.iter().copied().filter(|column| measures[*column].importance > 0);
    droppable.max_by_key(|column| (measures[*column].importance, *column))
}

/// The columns with widths that fit, shrunk from the widest first; `None` if the floors do not allow it.
fn squeeze(kept: &[usize], room: usize, measure: impl Fn(usize) -> Measure) -> Option<Vec<(usize, usize)>> {
    let room = room.saturating_sub(GAP * kept.len().saturating_sub(1));
    // No column is wider than the screen: starting there keeps the loop short for a long text.
    let start = |column| measure(column).natural.min(room.max(measure(column).floor));
    let mut widths: Vec<(usize, usize)> = kept.iter().map(|&column| (column, start(column))).collect();
    while widths.iter().map(|(_, width)| width).sum::<usize>() > room {
        let shrinkable = widths.iter_mut().filter(|(column, width)| *width > measure(*column).floor);
        shrinkable.max_by_key(|(_, width)| *width)?.1 -= 1;
    }
    Some(widths)
}

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

    fn measure(natural: usize, floor: usize, importance: u8) -> Measure {
        Measure { natural, floor, importance }
    }

    fn fit(measures: &[Measure], room: usize) -> Vec<(usize, usize)> {
        super::fit(measures, (0..measures.len()).collect(), room)
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(fit(&[measure(10, 10, 0), measure(8, 4, 1)], 20), [(0, 10), (1, 8)]);
    }

    #[test]
    fn the_widest_shrinks_first_and_to_its_floor_only() {
        assert_eq!(fit(&[measure(12, 4, 0), measure(8, 4, 0)], 20), [(0, 10), (1, 8)]);
        assert_eq!(fit(&[measure(12, 4, 0), measure(8, 4, 0)], 16), [(0, 7), (1, 7)]);
        assert_eq!(fit(&[measure(12, 11, 0), measure(8, 4, 0)], 18), [(0, 11), (1, 5)]);
        assert_eq!(fit(&[measure(100_000_000, 4, 0)], 18), [(0, 18)]);
    }

    #[test]
    fn the_least_goes_next_and_the_others_recover() {
        let columns = [measure(10, 10, 0), measure(9, 3, 1), measure(9, 9, 2)];
        assert_eq!(fit(&columns, 25), [(0, 10), (1, 9)]);
        assert_eq!(fit(&columns, 12), [(0, 10)]);
    }

    #[test]
    fn secondary_columns_give_way_before_others_are_cut() {
        let columns = [measure(2, 2, 0), measure(40, 16, 3), measure(30, 10, 0)];
        assert_eq!(fit(&columns, 60), [(0, 2), (1, 24), (2, 30)]);
        assert_eq!(fit(&columns, 50), [(0, 2), (2, 30)]);
        assert_eq!(fit(&columns, 20), [(0, 2), (2, 16)]);
    }

    #[test]
    fn a_narrow_column_takes_the_room_of_a_wide_one() {
        let columns = [measure(10, 10, 0), measure(12, 12, 1), measure(4, 4, 2)];
        assert_eq!(fit(&columns, 18), [(0, 10), (2, 4)]);
        assert_eq!(fit(&columns, 24), [(0, 10), (1, 12)]);
    }

    #[test]
    fn as_a_last_resort_what_stays_shrinks_below_its_floor() {
        assert_eq!(fit(&[measure(10, 10, 0), measure(10, 10, 0)], 8), [(0, 3), (1, 3)]);
        assert_eq!(fit(&[measure(9, 9, 0); 10], 20).len(), 7);
        assert_eq!(fit(&[measure(9, 9, 1), measure(9, 9, 2)], 8), [(0, 8)]);
        assert_eq!(fit(&[measure(9, 9, 0)], 0), []);
        assert_eq!(fit(&[], 80), []);
    }

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
