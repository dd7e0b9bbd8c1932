//! Tables for people: rows under a header, fitted to the screen.

use super::cell::{Cell, Tone};
use super::fit::{Measure, fit};
use super::grid::{Align, Grid, WIDEST};
use super::inert::inert;
use super::screen::Screen;
use super::width::clip;
use std::borrow::Cow;
use std::iter::zip;
use unicode_width::UnicodeWidthStr;

/// A column, and how it gives way on a narrow screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, shown in upper case.
    pub title: &'static str,
    /// The alignment of its cells.
    pub align: Align,
    /// 0 is dropped last; a larger number is dropped earlier.
    pub importance: u8,
    /// The width to which it may shrink before columns are dropped; `None` never shrinks.
    pub shrinks_to: Option<usize>,
}

/// Rows under a header, one line each, two spaces apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// From left to right.
    pub columns: Vec<Column>,
    /// Cells in the order of the columns. Missing ones are empty; surplus ones are not shown.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// The header and the rows, each exactly one line that ends in a line break and holds nothing but inert text.
    ///
    /// On a screen of limited width texts are cut with `…` and columns are dropped, so that no line wraps.
    pub fn render(&self, screen: &Screen) -> String {
        let texts: Vec<Vec<Cow<'_, str>>> = self.rows.iter().map(|row| self.texts(row)).collect();
        let measures = self.measures(&texts);
        let kept = match screen.width {
            Some(width) => fit(&measures, width),
            None => measures.iter().map(|measure| measure.natural.min(WIDEST)).enumerate().collect(),
        };

        let mut grid = Grid::new(kept.iter().map(|&(column, width)| (width, self.columns[column].align)).collect());
        let title = |column: usize| (self.columns[column].title.to_uppercase(), Tone::Strong);
        grid.push(clipped(&kept, title));
        for (row, texts) in zip(&self.rows, &texts) {
            grid.push(clipped(&kept, |column| (&texts[column], row.get(column).map_or(Tone::Plain, |cell| cell.tone))));
        }
        grid.render(screen.color)
    }

    /// One inert text per column.
    fn texts<'a>(&self, row: &'a [Cell]) -> Vec<Cow<'a, str>> {
        let text = |column| row.get(column).map_or(Cow::Borrowed(""), |cell: &Cell| inert(&cell.text));
        (0..self.columns.len()).map(text).collect()
    }

    fn measures(&self, texts: &[Vec<Cow<'_, str>>]) -> Vec<Measure> {
        let measure = |(at, column): (usize, &Column)| {
            let cells = || texts.iter().map(|row| row[at].as_ref());
            let widest = cells().map(UnicodeWidthStr::width).max().unwrap_or(0);
            // comfy-table has no columns of width 0.
            let natural = widest.max(column.title.to_uppercase().width()).max(1);
            Measure {
                natural,
                floor: column.shrinks_to.unwrap_or(natural).clamp(1, natural),
                importance: column.importance,
                blank: cells().all(|text| matches!(text, "" | "-")),
            }
        };
        self.columns.iter().enumerate().map(measure).collect()
    }
}

/// The cells of one line, cut to the widths of the columns that are kept.
fn clipped<T: AsRef<str>>(kept: &[(usize, usize)], cell: impl Fn(usize) -> (T, Tone)) -> Vec<Cell> {
    let clipped = |&(column, width): &(usize, usize)| {
        let (text, tone) = cell(column);
        Cell::new(clip(text.as_ref(), width), tone)
    };
    kept.iter().map(clipped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &'static str, importance: u8, shrinks_to: Option<usize>) -> Column {
        Column { title, align: Align::Left, importance, shrinks_to }
    }

    fn table() -> Table {
        Table {
            columns: vec![
                Column { align: Align::Right, ..column("id", 0, None) },
                column("kind", 2, Some(6)),
                column("note", 9, None),
                column("owner", 1, Some(5)),
            ],
            rows: vec![
                vec!["42".into(), "SendMail".into(), "-".into(), Cell::new("web1:4211", Tone::Bad)],
                vec!["1000".into(), "漢字かな".into(), "".into(), "a\n\x1b[31mb".into()],
            ],
        }
    }

    fn rendered(width: usize) -> String {
        table().render(&Screen { width: Some(width), color: false })
    }

    #[test]
    fn a_wide_screen_shows_everything() {
        let all = "  ID  KIND      NOTE  OWNER\n  \
                   42  SendMail  -     web1:4211\n\
                   1000  漢字かな        a\\n\\x1b[31mb\n";
        assert_eq!(table().render(&Screen { width: None, color: false }), all);
        assert_eq!(rendered(80), all);
    }

    #[test]
    fn a_narrow_one_shrinks_then_drops() {
        let cases = [
            (30, "  ID  KIND      NOTE  OWNER\n  42  SendMail  -     web1:42…\n1000  漢字かな        a\\n\\x1b…\n"),
            (24, "  ID  KIND      OWNER\n  42  SendMail  web1:42…\n1000  漢字かな  a\\n\\x1b…\n"),
            (20, "  ID  KIND    OWNER\n  42  SendM…  web1:…\n1000  漢字…   a\\n\\x…\n"),
            (12, "  ID  OWNER\n  42  web1:…\n1000  a\\n\\x…\n"),
            (4, "  ID\n  42\n1000\n"),
            (3, " ID\n 42\n10…\n"),
        ];
        for (width, shown) in cases {
            assert_eq!(rendered(width), shown, "in {width}");
        }
    }

    #[test]
    fn rows_may_be_ragged_or_missing() {
        let mut table = table();
        table.rows = vec![vec!["1".into()], vec!["2".into(); 9]];
        assert_eq!(
            table.render(&Screen { width: None, color: false }),
            "ID  KIND  NOTE  OWNER\n 1\n 2  2     2     2\n"
        );
        table.rows.clear();
        assert_eq!(table.render(&Screen { width: Some(80), color: false }), "ID  KIND  NOTE  OWNER\n");
        assert_eq!(Table::default().render(&Screen { width: Some(80), color: true }), "");
    }

    #[test]
    fn colour_does_not_move_anything() {
        let mut table = table();
        table.columns.truncate(1);
        table.rows.truncate(1);
        table.rows[0][0].tone = Tone::Dim;
        let screen = Screen { width: Some(80), color: true };
        assert_eq!(table.render(&screen), "\x1b[1mID\x1b[0m\n\x1b[2m42\x1b[0m\n");
    }
}
