//! How a column spells time: the one spelling that fits all its values, and whether its zone is certain.

use super::roles::Class;
use crate::model::{Cell, Reading, Timestamp};
use crate::preset::encoding::{Encoding, Encodings};
use std::time::Duration;

/// How far behind the database's now the newest value may be to show that a column without a zone is in UTC.
const NEAR: Duration = Duration::from_secs(300);
/// How far ahead of it: clocks differ.
const AHEAD: Duration = Duration::from_secs(60);

/// What the values of a time column say about their spelling.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Spelling {
    /// Certain, with the reason.
    Known(String, String),
    /// The unit or the pattern is, the zone is not: the spelling if it were UTC, and what was seen.
    NoZone(String, Vec<String>),
    /// No value fits, or there is none.
    None,
}

/// How these values of a column are spelled. A lease ends an unknown while ahead, so that its values never show a zone.
pub(super) fn spelling<'c>(
    type_name: &str,
    class: Class,
    values: impl Iterator<Item = &'c Cell>,
    now: Timestamp,
    is_lease: bool,
) -> Spelling {
    if class == Class::Time && type_name.contains("with time zone") {
        return Spelling::Known("native".to_owned(), "the type knows its instants".to_owned());
    }
    // Zero and the empty text stand for no time.
    let is_none = |cell: &Cell| cell.is_null() || *cell == Cell::Integer(0) || *cell == Cell::Text(String::new());
    let values: Vec<&Cell> = values.filter(|cell| !is_none(cell)).collect();
    if values.is_empty() {
        return if class == Class::Time {
            Spelling::NoZone("native utc".to_owned(), Vec::new())
        } else {
            Spelling::None
        };
    }
    let fitting = candidates(&values).into_iter().find_map(|name| {
        let encodings = Encodings::new(Encoding::parse(&name).ok()?, Vec::new());
        Some((newest(&encodings, &values, now)?, name))
    });
    let Some(((at, raw), name)) = fitting else { return Spelling::None };
    let is_certain = ["epoch", "text"].iter().any(|kind| name.starts_with(kind))
        && (name.starts_with("epoch") || name.ends_with('Z') || name.ends_with(":00") || name.ends_with("+HH:MM"));
    let is_near = !is_lease && now.since(at) <= NEAR && at.since(now) <= AHEAD;
    let seen = format!("its newest value {raw} is {} the database's now", apart(at, now));
    match (is_certain, is_near) {
        (true, _) => Spelling::Known(name, format!("{seen}, and no other reading fits its values")),
        (false, true) => Spelling::Known(name, format!("{seen} in UTC")),
        (false, false) => Spelling::NoZone(name, vec![format!("{seen} if it is in UTC ({now})")]),
    }
}

/// The newest instant in a column, if its values are times.
pub(super) fn newest_in<'c>(values: impl Iterator<Item = &'c Cell>, now: Timestamp) -> Option<Timestamp> {
    let values: Vec<&Cell> = values.filter(|cell| !cell.is_null()).collect();
    let mut names = candidates(&values);
    names.push("native utc".to_owned());
    let read = |name: &String| newest(&Encodings::new(Encoding::parse(name).ok()?, Vec::new()), &values, now);
    names.iter().find_map(read).map(|(at, _)| at)
}

/// The spellings to try, the strictest first: of those that read all values the first one counts.
fn candidates(values: &[&Cell]) -> Vec<String> {
    let all = |is: fn(&Cell) -> bool| values.iter().all(|cell| is(cell));
    if all(|cell| matches!(cell, Cell::WallClock(_))) {
        return vec!["native utc".to_owned()];
    }
    if all(|cell| matches!(cell, Cell::Integer(_))) {
        return ["s", "ms", "us", "ns"].iter().map(|unit| format!("epoch {unit}")).collect();
    }
    if all(|cell| matches!(cell, Cell::Integer(_) | Cell::Real(_))) {
        return vec!["epoch s float".to_owned()];
    }
    let mut patterns = Vec::new();
    for end in [" utc", "Z", "+00:00", "+HH:MM"] {
        for fraction in ["", ".fff", ".ffffff", "[.ffffff]", "[.f-fff]", "[.fff-fffffffff]"] {
            for separator in [" ", "T"] {
                patterns.push(format!("text YYYY-MM-DD{separator}HH:MM:SS{fraction}{end}"));
            }
        }
    }
    patterns
}

/// The newest instant and its stored text, if every value is one and the newest is near enough to be of this life.
fn newest(encodings: &Encodings, values: &[&Cell], now: Timestamp) -> Option<(Timestamp, String)> {
    let mut newest: Option<(Timestamp, String)> = None;
    for cell in values {
        let Reading::At(at) = encodings.decode(cell) else { return None };
        if newest.as_ref().is_none_or(|(known, _)| at.micros() > known.micros()) {
            newest = Some((at, cell.to_string()));
        }
    }
    // Seconds read as milliseconds lie in 1970, milliseconds read as seconds beyond the calendar.
    const YEARS: Duration = Duration::from_secs(20 * 365 * 86_400);
    newest.filter(|(at, _)| at.since(now) <= YEARS && now.since(*at) <= YEARS)
}

fn apart(at: Timestamp, now: Timestamp) -> String {
    let span = |span: Duration| crate::model::age(Duration::from_secs(span.as_secs()));
    if at.micros() > now.micros() {
        format!("{} ahead of", span(at.since(now)))
    } else {
        format!("{} before", span(now.since(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(values: &[Cell]) -> Spelling {
        let now = Timestamp::parse("2026-11-25T12:00:00Z").unwrap();
        spelling("text", Class::Text, values.iter(), now, false)
    }

    #[test]
    fn a_unit_is_certain_and_a_zone_only_near_now() {
        let known = |cell: Cell| match spelled(&[cell]) {
            Spelling::Known(name, _) => name,
            other => format!("{other:?}"),
        };
        assert_eq!(known(Cell::Integer(1_795_000_000)), "epoch s");
        assert_eq!(known(Cell::Integer(1_795_000_000_000)), "epoch ms");
        assert_eq!(known(Cell::Text("2026-11-25T03:00:00.123Z".into())), "text YYYY-MM-DDTHH:MM:SS.fffZ");
        assert_eq!(known(Cell::Text("2026-11-25 11:58:00".into())), "text YYYY-MM-DD HH:MM:SS utc");
        // An hour ahead is Paris, six hours behind Chicago or an idle queue.
        for text in ["2026-11-25 13:00:00", "2026-11-25 06:00:00"] {
            assert!(matches!(spelled(&[Cell::Text(text.into())]), Spelling::NoZone(..)), "{text}");
        }
        assert_eq!(spelled(&[Cell::Text("soon".into())]), Spelling::None);
    }
}
