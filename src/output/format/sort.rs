//! The order of rows by one column.

use super::cell::Cell;
use std::cmp::Ordering;

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
