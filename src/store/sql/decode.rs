//! Reads the values of a row.

use crate::model::{Cell, LockSign, Reading};
use crate::preset::TimeColumn;
use std::time::Duration;

/// Decodes a time; a sentinel counts as absent.
pub(super) fn reading(time: &TimeColumn, cell: &Cell) -> Reading {
    let is_sentinel = !time.sentinels.is_empty() && cell.to_text().is_some_and(|text| time.sentinels.contains(&text));
    if is_sentinel { Reading::Absent } else { time.encodings.decode(cell) }
}

/// A lease made of an instant and seconds on the row; without seconds there is no lease.
pub(super) fn plus(at: Reading, cell: &Cell) -> Reading {
    match (at, cell) {
        (Reading::At(_), Cell::Null) => Reading::Absent,
        (Reading::At(at), _) => match seconds(cell) {
            Some(span) => Reading::At(at.plus(span)),
            None => Reading::Unfit { raw: cell.to_string(), why: "is no number of seconds".to_owned() },
        },
        (at, _) => at,
    }
}

/// How often a job was lost; NULL counts as never, a value that is no count as unknown.
pub(super) fn stalls(cell: &Cell) -> Option<i64> {
    let count = match cell {
        Cell::Null => Some(0),
        Cell::Integer(count) => Some(*count),
        // On Postgres every expression is read as text.
        Cell::Text(text) => text.parse().ok(),
        _ => None,
    };
    count.filter(|count| *count >= 0)
}

/// A counter. A column of REAL affinity turns integers into reals: a real that is whole and exact is read as the
/// integer.
pub(super) fn count(cell: Cell) -> Cell {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match cell {
        Cell::Real(real) if real.fract() == 0.0 && real.abs() < EXACT => Cell::Integer(real as i64),
        other => other,
    }
}

/// A threshold on a row; `None` for NULL. Any value that is no span counts as none at all, which the judge does not
/// take.
pub(super) fn threshold(cell: &Cell) -> Option<Duration> {
    (!cell.is_null()).then(|| seconds(cell).unwrap_or_default())
}

/// Seconds on a row; `None` for NULL, a negative number and text.
pub(super) fn seconds(cell: &Cell) -> Option<Duration> {
    match cell {
        Cell::Integer(seconds) => u64::try_from(*seconds).ok().map(Duration::from_secs),
        Cell::Real(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
        _ => None,
    }
}

/// The value of a boolean expression, a flag or a "requested at" column: NULL, false and zero are false.
pub(super) fn truth(cell: &Cell) -> bool {
    !matches!(cell, Cell::Null | Cell::Integer(0))
}

pub(super) fn lock_sign(cell: &Cell) -> LockSign {
    match cell {
        Cell::Text(text) if text == "held" => LockSign::Held,
        Cell::Text(text) if text == "free" => LockSign::Free,
        Cell::Text(_) => LockSign::OutOfSight,
        _ => LockSign::Absent,
    }
}

/// The text at a place of a row; empty for NULL.
pub fn text(row: &[Cell], n: usize) -> String {
    row.get(n).and_then(Cell::to_text).unwrap_or_default()
}
