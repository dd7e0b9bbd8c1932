//! The cells of tables: texts and their colours.

use anstyle::{AnsiColor, Style};

/// The colour of a cell; it only repeats what the words say, and can be read on a dark and on a light background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    Dim,
    /// Needs attention.
    Warn,
    /// Wrong, but less so than others.
    Amiss,
    Bad,
    Strong,
}

impl Tone {
    /// The text between the escape sequences of this tone; the text alone when plain.
    pub fn paint(self, text: &str) -> String {
        let style = match self {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Warn => AnsiColor::Magenta.on_default(),
            Tone::Amiss => AnsiColor::Red.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Strong => Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }
}

/// A piece of a table: a text, which rendering makes inert, and its tone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    pub text: String,
    pub tone: Tone,
    /// What it is ordered by, where its text does not tell.
    pub rank: Option<i64>,
}

impl Cell {
    pub fn new(text: impl Into<String>, tone: Tone) -> Cell {
        Cell { text: text.into(), tone, rank: None }
    }

    /// The cell with what it is ordered by.
    #[must_use]
    pub fn ranked(self, rank: i64) -> Cell {
        Cell { rank: Some(rank), ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::new(text, Tone::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(text, Tone::Plain)
    }
}

/// The text, or a dash for one that is missing or empty.
pub fn or_dash(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("-")
}

/// Signs of a column chart, from low to high.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const FULL: char = '█';
const EMPTY: char = '·';

/// A number with its noun: `1 job`, `2 jobs`, `12,345 jobs`.
pub fn count(n: u64, singular: &str, plural: &str) -> String {
    let noun = if n == 1 { singular } else { plural };
    format!("{} {noun}", grouped(n))
}

/// The first of a list, and how many of all there are besides: `4, 7, 9 and 12 more`.
pub fn first_few<T: AsRef<str>>(list: &[T], most: usize, all: u64) -> String {
    let shown = list.iter().take(most).map(AsRef::as_ref).collect::<Vec<&str>>();
    match all.saturating_sub(shown.len() as u64) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), grouped(more)),
    }
}

/// A number with its thousands set apart: `12,345`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// One sign, as high as the part is of the whole; a part above zero is visible.
pub(in crate::output) fn level(part: u64, whole: u64) -> char {
    if part == 0 || whole == 0 {
        return EMPTY;
    }
    let height = (u128::from(part) * LEVELS.len() as u128).div_ceil(u128::from(whole)) as usize;
    LEVELS.get(height.saturating_sub(1)).copied().unwrap_or(EMPTY)
}

/// A bar of so many cells, as long as the part is of the whole; a part above zero is visible.
pub(in crate::output) fn bar(part: f64, whole: f64, cells: usize) -> String {
    let share = if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    let full = (share * cells as f64).ceil() as usize;
    (0..cells).map(|cell| if cell < full { FULL } else { EMPTY }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_part() {
        let cases = [(0.0, "·····"), (0.001, "█····"), (50.0, "███··"), (100.0, "█████"), (170.0, "█████")];
        for (part, shown) in cases {
            assert_eq!(bar(part, 100.0, 5), shown, "{part}");
        }
        assert_eq!((bar(0.0, 0.0, 3), bar(1.0, 0.0, 3)), ("···".to_owned(), "···".to_owned()));
    }

    #[test]
    fn levels_are_as_high_as_their_part() {
        let shown: String = [0, 1, 500, 1000].into_iter().map(|part| level(part, 1000)).collect();
        assert_eq!((shown.as_str(), level(0, 0), level(1, 0)), ("·▁▄█", '·', '·'));
    }
}
