//! Sampled rows, and what their values have in common.

use crate::model::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a table, each with the values of these columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// The defaults that stand for no value, such as `-` for no owner, by column.
    pub(super) absent: BTreeMap<String, String>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn at(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    pub(super) fn values(&self, column: &str) -> impl Iterator<Item = &Cell> {
        let at = self.at(column);
        self.rows.iter().filter_map(move |row| row.get(at?))
    }

    /// Whether a value of the column stands for none.
    pub(super) fn is_none(&self, column: &str, cell: &Cell) -> bool {
        is_unset(cell) || self.absent.get(column).is_some_and(|absent| *absent == cell.to_string())
    }

    /// The values that stand for something.
    pub(super) fn set(&self, column: &str) -> impl Iterator<Item = &Cell> {
        self.values(column).filter(move |cell| !self.is_none(column, cell))
    }

    /// True if there are rows and the column holds nothing in all of them.
    pub(super) fn is_free(&self, column: &str) -> bool {
        !self.is_empty() && self.set(column).next().is_none()
    }

    /// True if there are rows and the column holds something in all of them.
    pub(super) fn is_held(&self, column: &str) -> bool {
        !self.is_empty() && self.set(column).count() == self.len()
    }

    /// The value that all rows agree on, if there are rows and they do.
    pub(super) fn agreed(&self, column: &str) -> Option<&Cell> {
        let first = self.values(column).next()?;
        self.values(column).all(|value| value == first).then_some(first)
    }

    /// The rows whose value in the column is so.
    pub(super) fn only(&self, column: &str, is_so: impl Fn(&Cell) -> bool) -> Rows {
        let at = self.at(column);
        let rows = self.rows.iter().filter(|row| at.and_then(|at| row.get(at)).is_some_and(&is_so));
        Rows { columns: self.columns.clone(), rows: rows.cloned().collect(), absent: self.absent.clone() }
    }

    /// The rows in which the column holds something.
    pub(super) fn with(&self, column: &str) -> Rows {
        self.only(column, |cell| !self.is_none(column, cell))
    }

    /// The rows in which the column holds nothing.
    pub(super) fn without(&self, column: &str) -> Rows {
        self.only(column, |cell| self.is_none(column, cell))
    }

    /// What tells the rows apart: their values in the columns of a key, nothing where there is no key.
    pub(super) fn ids(&self, key: &[String]) -> Vec<Vec<String>> {
        let at: Vec<usize> = key.iter().filter_map(|key| self.at(key)).collect();
        self.rows.iter().map(|row| at.iter().filter_map(|at| row.get(*at)).map(Cell::to_string).collect()).collect()
    }

    /// The rows without those that were read twice, by their key; all where there is none.
    pub(super) fn distinct(mut self, key: &[String]) -> Rows {
        let (mut ids, mut seen) = (self.ids(key).into_iter(), BTreeSet::new());
        self.rows.retain(|_| ids.next().is_none_or(|id| id.is_empty() || seen.insert(id)));
        self
    }

    pub(super) fn and(&self, other: &Rows) -> Rows {
        let first = if self.columns.is_empty() { other } else { self };
        let rows = self.rows.iter().chain(&other.rows).cloned().collect();
        Rows { columns: first.columns.clone(), rows, absent: first.absent.clone() }
    }
}

/// Tells whether a value stands for none: NULL, a blank text, zero, false, or the first or last time of a calendar.
pub(super) fn is_unset(cell: &Cell) -> bool {
    const DAY: i64 = 86_400_000_000;
    const YEAR_9000: i64 = 221_845_392_000_000_000;
    const SENTINELS: [&str; 4] = ["0000-00-00", "0001-01-01", "1970-01-01", "9999-12-31"];
    match cell {
        Cell::Null | Cell::Infinity | Cell::NegativeInfinity | Cell::Integer(0) => true,
        Cell::Text(text) => text.trim().is_empty() || SENTINELS.iter().any(|sentinel| text.starts_with(sentinel)),
        Cell::Instant(micros) | Cell::WallClock(micros) => *micros < DAY || *micros > YEAR_9000,
        _ => false,
    }
}
