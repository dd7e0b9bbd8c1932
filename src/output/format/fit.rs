//! Which columns of a table fit on the screen, and how wide.

/// Spaces between two columns.
pub(super) const GAP: usize = 2;

/// The measures of a column for the layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// The width of its widest text.
    pub(super) natural: usize,
    /// The width to which it shrinks before another column is dropped.
    pub(super) floor: usize,
    /// 0 is dropped last; a larger number is dropped earlier.
    pub(super) importance: u8,
    /// True if it is empty in every row.
    pub(super) blank: bool,
}

/// The columns that fit into so many cells, in order, each with its width.
///
/// Columns shrink to their floors, the widest first; then the least important is dropped, and the others start again at full width.
/// When no column may be dropped, they shrink below their floors; when not even one cell each fits, the last is dropped: a wrapped row is
/// harder to read than a missing column.
pub(super) fn fit(measures: &[Measure], room: usize) -> Vec<(usize, usize)> {
    let mut kept: Vec<usize> = (0..measures.len()).collect();
    loop {
        if let Some(widths) = squeeze(&kept, room, |column| measures[column]) {
            return widths;
        }
        let Some(least) = least(&kept, measures) else { break };
        kept.retain(|column| *column != least);
    }
    loop {
        if let Some(widths) = squeeze(&kept, room, |column| Measure { floor: 1, ..measures[column] }) {
            return widths;
        }
        kept.pop();
    }
}

/// The column to drop next: an empty one, then one with a larger number, then one further right. A single column stays.
fn least(kept: &[usize], measures: &[Measure]) -> Option<usize> {
    if kept.len() < 2 {
        return None;
    }
    let droppable = kept.iter().copied().filter(|column| measures[*column].importance > 0);
    droppable.max_by_key(|column| (measures[*column].blank, measures[*column].importance, *column))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(natural: usize, floor: usize, importance: u8) -> Measure {
        Measure { natural, floor, importance, blank: false }
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
    fn a_column_that_says_nothing_goes_first() {
        let columns = [measure(10, 10, 0), Measure { blank: true, ..measure(9, 9, 1) }, measure(9, 9, 5)];
        assert_eq!(fit(&columns, 25), [(0, 10), (2, 9)]);
    }

    #[test]
    fn as_a_last_resort_what_stays_shrinks_below_its_floor() {
        assert_eq!(fit(&[measure(10, 10, 0), measure(10, 10, 0)], 8), [(0, 3), (1, 3)]);
        assert_eq!(fit(&[measure(9, 9, 0); 10], 20).len(), 7);
        assert_eq!(fit(&[measure(9, 9, 1), measure(9, 9, 2)], 8), [(0, 8)]);
        assert_eq!(fit(&[measure(9, 9, 0)], 0), []);
        assert_eq!(fit(&[], 80), []);
    }
}
