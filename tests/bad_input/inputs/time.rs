//! Times as tables spell them. The first line says how they are spelled, the rest is one value; it is tried as each type that a
//! column may hand out.

use jobdoctor::model::{Cell, Reading, Timestamp};
use jobdoctor::preset::encoding::{Encoding, Encodings};
use std::cmp::Ordering;
use std::mem::discriminant;
use std::time::Duration;

/// What is spelled is read back as it was spelled, and a cut-off in SQL never loses a value on its side.
pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (spelling, value) = text.split_once('\n').unwrap_or((&text, ""));
    if let Some(at) = Timestamp::parse(value) {
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at), "{value:?}");
    }
    let mut encodings = Vec::new();
    for one in spelling.split('|') {
        let Ok(encoding) = Encoding::parse(one) else { return };
        assert_eq!(Encoding::parse(&encoding.to_string()).as_ref(), Ok(&encoding), "{one:?}");
        encodings.push(encoding);
    }
    let first = encodings.remove(0);
    let encodings = Encodings::new(first, encodings);
    if encodings.ambiguous().is_some() {
        // No document says so.
        return;
    }
    for cell in cells(value, bytes) {
        match encodings.decode(&cell) {
            Reading::At(at) => read(&encodings, &cell, at),
            Reading::Absent => assert!(cell.is_null(), "{cell:?}"),
            Reading::Unfit { why, .. } => assert!(!why.is_empty(), "{cell:?}"),
        }
    }
}

fn cells(text: &str, bytes: &[u8]) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Null,
        Cell::Text(text.to_owned()),
        Cell::BrokenText(bytes.to_vec()),
        Cell::Bytes(bytes.to_vec()),
        Cell::Infinity,
        Cell::NegativeInfinity,
    ];
    if let Ok(number) = text.parse() {
        cells.extend([Cell::Integer(number), Cell::Instant(number), Cell::WallClock(number)]);
    }
    cells.extend(text.parse().ok().map(Cell::Real));
    cells
}

fn read(encodings: &Encodings, cell: &Cell, at: Timestamp) {
    let written = encodings.encode(at);
    let Reading::At(again) = encodings.decode(&written) else {
        panic!("{cell:?} is {at} by {encodings}, and is written {written:?}, which nobody can read")
    };
    // Not always the same instant: a zone repeats an hour, and some spell whole seconds only.
    assert_eq!(encodings.encode(again), written, "{cell:?} is {at} by {encodings}");
    let second = Duration::from_secs(1);
    let (before, after) = (at.minus(second), at.plus(second));
    if after.micros() > at.micros() {
        is_within(cell, &encodings.before(after), Ordering::Less);
    }
    if before.micros() < at.micros() {
        is_within(cell, &encodings.after(before), Ordering::Greater);
    }
}

#[track_caller]
fn is_within(cell: &Cell, bounds: &[Cell], side: Ordering) {
    // A column hands out instants or readings of a clock, never both; the spelling has to fit it.
    let is_native = |cell: &Cell| matches!(cell, Cell::Instant(_) | Cell::WallClock(_));
    let fits = |bound: &&Cell| discriminant(*bound) == discriminant(cell);
    if is_native(cell) && !bounds.iter().any(|bound| fits(&bound)) {
        return;
    }
    let within = bounds.iter().any(|bound| compared(cell, bound) == Some(side));
    assert!(within, "{cell:?} is not {side:?} than any of {bounds:?}");
}

/// How a database compares a stored value with a parameter; `None` where it would not, or never finds one that way.
pub fn compared(stored: &Cell, bound: &Cell) -> Option<Ordering> {
    match (stored, bound) {
        (Cell::Integer(a), Cell::Integer(b))
        | (Cell::Instant(a), Cell::Instant(b))
        | (Cell::WallClock(a), Cell::WallClock(b)) => Some(a.cmp(b)),
        (Cell::Real(a), Cell::Real(b)) => a.partial_cmp(b),
        (Cell::Integer(a), Cell::Real(b)) => Some(exact(*a, *b)),
        (Cell::Real(a), Cell::Integer(b)) => Some(exact(*b, *a).reverse()),
        (Cell::Text(a), Cell::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        _ => None,
    }
}

/// An integer against a float, without rounding the integer.
fn exact(a: i64, b: f64) -> Ordering {
    let whole = b.floor().clamp(-1e30, 1e30) as i128;
    i128::from(a).cmp(&whole).then(if b > b.floor() { Ordering::Less } else { Ordering::Equal })
}
