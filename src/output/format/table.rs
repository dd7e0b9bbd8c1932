//! Tables for people: rows under a header, fitted to the screen.

use super::cell::{Cell, Tone};
use super::fit::{Align, Grid, Measure, SECONDARY, WIDEST, fit};
use super::formats::Screen;
use super::inert::inert;
use super::width::{clip, clip_middle};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::zip;
use unicode_width::UnicodeWidthStr;

/// A column, and how it gives way on a narrow screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, shown in upper case.
    pub title: &'static str,
    pub align: Align,
    /// 0 is dropped last; a larger number is dropped earlier. From 3 on, it gives way before any other column is cut.
    pub importance: u8,
    /// The width to which it may shrink before columns are dropped; `None` never shrinks.
    pub shrinks_to: Option<usize>,
    pub cut: Cut,
}

/// Where a text that is too long is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    #[default]
    End,
    /// In its middle, for names that begin alike.
    Middle,
}

/// So many rows, or more, that say the same in a secondary column make that column needless.
const SAME: usize = 3;

/// Rows under a header, one line each, two spaces apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    pub columns: Vec<Column>,
    /// Cells in the order of the columns. Missing ones are empty; surplus ones are not shown.
    pub rows: Vec<Vec<Cell>>,
    /// True if there are more rows than these, in which other values may stand.
    pub are_examples: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) title: &'static str,
    pub(super) why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// Every row has this inert text in it.
    Always(String),
    /// No row has anything in it.
    Empty,
    /// The screen has no room for it.
    Narrow,
}

impl Table {
    /// The header and the rows, each exactly one line that ends in a line break and holds nothing but inert text.
    ///
    /// On a screen of limited width texts are cut with `…` and columns are left out, so that no line wraps: first those
    /// that are empty, or secondary and the same in at least three rows, then those without room.
    pub fn render(&self, screen: &Screen) -> String {
        self.lay_out(screen).0
    }

    /// The same, with the columns that are left out.
    pub(super) fn lay_out(&self, screen: &Screen) -> (String, Vec<LeftOut>) {
        let mut rows: Vec<&Vec<Cell>> = self.rows.iter().collect();
        let place = |name: &String| self.columns.iter().position(|column| column.title.replace(' ', "-") == *name);
        if let Some(at) = screen.sort.as_ref().and_then(place) {
            sort(&mut rows, at);
        }
        let texts: Vec<Vec<Cow<'_, str>>> = rows.iter().map(|row| self.texts(row)).collect();
        let mut named: Vec<usize> = screen.columns.iter().filter_map(place).collect();
        // Of a table with other columns, the first says what its rows are about.
        named.extend((named.is_empty() && !screen.columns.is_empty() && !self.columns.is_empty()).then_some(0));
        let measures = self.measures(&texts, !named.is_empty());
        let natural = |column: usize| (column, measures[column].natural.min(WIDEST));
        let (kept, left_out) = match screen.width {
            Some(width) if named.is_empty() => self.choose(&measures, &texts, width),
            Some(width) => {
                let kept = fit(&measures, named.clone(), width);
                named.retain(|column| kept.iter().all(|(kept, _)| kept != column));
                let narrow = |column: usize| LeftOut { title: self.columns[column].title, why: Why::Narrow };
                (kept, named.into_iter().map(narrow).collect())
            }
            None if named.is_empty() => ((0..measures.len()).map(natural).collect(), Vec::new()),
            None => (named.into_iter().map(natural).collect(), Vec::new()),
        };

        let mut grid = Grid::new(kept.iter().map(|&(column, width)| (width, self.columns[column].align)).collect());
        if !screen.no_header {
            let title = |column: usize| (self.columns[column].title.to_uppercase(), Tone::Strong);
            grid.push(self.clipped(&kept, title));
        }
        for (row, texts) in zip(&rows, &texts) {
            let cell = |column: usize| (&texts[column], row.get(column).map_or(Tone::Plain, |cell| cell.tone));
            grid.push(self.clipped(&kept, cell));
        }
        (grid.render(screen.color), left_out)
    }

    /// The columns to show with their widths, and the others with the reason.
    fn choose(
        &self,
        measures: &[Measure],
        texts: &[Vec<Cow<'_, str>>],
        width: usize,
    ) -> (Vec<(usize, usize)>, Vec<LeftOut>) {
        let needless: Vec<Option<Why>> = (0..measures.len()).map(|column| self.needless(column, texts)).collect();
        let told = (0..measures.len()).filter(|column| needless[*column].is_none()).collect();
        let kept = fit(measures, told, width);
        let is_kept = |column: usize| kept.iter().any(|(kept, _)| *kept == column);
        let left_out = needless.into_iter().enumerate().filter(|(column, _)| !is_kept(*column));
        let left_out = left_out
            .map(|(column, why)| LeftOut { title: self.columns[column].title, why: why.unwrap_or(Why::Narrow) })
            .collect();
        (kept, left_out)
    }

    /// Why a column tells nothing, if that is so. The first one says what the row is about.
    fn needless(&self, column: usize, texts: &[Vec<Cow<'_, str>>]) -> Option<Why> {
        let first = texts.first().filter(|_| column > 0)?.get(column)?;
        let are_all = |is: &dyn Fn(&str) -> bool| texts.iter().all(|row| is(&row[column]));
        if are_all(&|text| matches!(text, "" | "-")) {
            return Some(Why::Empty);
        }
        let may_go = !self.are_examples && self.columns[column].importance >= SECONDARY && texts.len() >= SAME;
        (may_go && are_all(&|text| text == first)).then(|| Why::Always(first.to_string()))
    }

    /// Takes out the column of that title.
    pub fn remove(&mut self, title: &str) {
        if let Some(at) = self.columns.iter().position(|column| column.title == title) {
            self.columns.remove(at);
            self.rows.iter_mut().filter(|row| at < row.len()).for_each(|row| drop(row.remove(at)));
        }
    }

    fn texts<'a>(&self, row: &'a [Cell]) -> Vec<Cow<'a, str>> {
        let text = |column| row.get(column).map_or(Cow::Borrowed(""), |cell: &Cell| inert(&cell.text));
        (0..self.columns.len()).map(text).collect()
    }

    /// The widths of the columns, of which all are as important if they were asked for.
    fn measures(&self, texts: &[Vec<Cow<'_, str>>], are_asked_for: bool) -> Vec<Measure> {
        let measure = |(at, column): (usize, &Column)| {
            let cells = || texts.iter().map(|row| row[at].as_ref());
            let widest = cells().map(UnicodeWidthStr::width).max().unwrap_or(0);
            // comfy-table has no columns of width 0.
            let natural = widest.max(column.title.to_uppercase().width()).max(1);
            Measure {
                natural,
                floor: column.shrinks_to.unwrap_or(natural).clamp(1, natural),
                importance: if are_asked_for { 0 } else { column.importance },
            }
        };
        self.columns.iter().enumerate().map(measure).collect()
    }

    /// The cells of one line, cut to the widths of the columns that are kept.
    fn clipped<T: AsRef<str>>(&self, kept: &[(usize, usize)], cell: impl Fn(usize) -> (T, Tone)) -> Vec<Cell> {
        let clipped = |&(column, width): &(usize, usize)| {
            let (text, tone) = cell(column);
            let clip = if self.columns[column].cut == Cut::Middle { clip_middle } else { clip };
            Cell::new(clip(text.as_ref(), width), tone)
        };
        kept.iter().map(clipped).collect()
    }
}

/// Sorts rows by the cell at that place: numbers and spans largest first, then texts in their order, then what is
/// empty.
pub(super) fn sort(rows: &mut [&Vec<Cell>], at: usize) {
    rows.sort_by(|a, b| order(a.get(at), b.get(at)));
}

fn order(a: Option<&Cell>, b: Option<&Cell>) -> Ordering {
    let (a, b) = (key(a), key(b));
    // Largest first: the sides are swapped.
    b.0.cmp(&a.0).then_with(|| a.1.is_empty().cmp(&b.1.is_empty())).then_with(|| a.1.cmp(b.1))
}

/// The number that a cell stands for, if it is one, and its text.
fn key(cell: Option<&Cell>) -> (Option<i64>, &str) {
    let text = cell.map_or("", |cell| cell.text.as_str());
    // Attempts are `4/5`, counts `12,345`.
    let number = || text.split('/').next().and_then(|number| number.replace(',', "").parse().ok());
    (cell.and_then(|cell| cell.rank).or_else(number), if text == "-" { "" } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        let sorted = |cells: &[Cell]| {
            let rows: Vec<Vec<Cell>> = cells.iter().map(|cell| vec![cell.clone()]).collect();
            let mut rows: Vec<&Vec<Cell>> = rows.iter().collect();
            sort(&mut rows, 0);
            rows.iter().map(|row| row[0].text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(&["9".into(), "1,000".into(), "-".into(), "10".into()]), ["1,000", "10", "9", "-"]);
        assert_eq!(sorted(&["2/5".into(), "-".into(), "10/25".into()]), ["10/25", "2/5", "-"]);
        assert_eq!(sorted(&["web2".into(), "".into(), "mail".into()]), ["mail", "web2", ""]);
        let spans = [Cell::from("59s").ranked(59), Cell::from("2h 5m").ranked(7500), "?".into()];
        assert_eq!(sorted(&spans), ["2h 5m", "59s", "?"]);
    }
}
