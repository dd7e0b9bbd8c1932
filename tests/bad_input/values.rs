//! Hostile values for rows, as SQLite literals.

use crate::support::dice::Dice;

const TEXTS: [&str; 16] = [
    "",
    "mail",
    "mail\u{1b}[2J\r\u{1b}]0;owned\u{7}",
    "\u{1b}]52;c;aGVsbG8=\u{7}",
    "gpj.\u{202e}exe\u{200b}\nFAKE  ROW",
    "\u{2066}\u{2069}\u{61c}\u{200f}",
    "web1\u{9b}31m:1\u{85}\t\u{feff}",
    "a\"} 1\nb{c=\"\\\0é",
    "a|'stuck'=0;;;0;\nJOBDOCTOR OK",
    "'; DROP TABLE jobs; --",
    "=cmd|'/c calc'!A1",
    "NULL",
    "9999999999999999999999",
    "2026-11-20T10:00:00Z",
    "\u{7f}\u{80}\u{9f}\u{2028}\u{2029}",
    "👍🏽漢字\u{301}\u{e0041}",
];

const BYTES: [&[u8]; 7] =
    [b"", b"\0", b"\xff\xfe", b"mail\xc2", b"\xed\xa0\x80", b"a\0b\x1b[2J\x9b", b"\xf4\x90\x80\x80"];

const NUMBERS: &str = "0 1 -1 5 9223372036854775807 9223372036854775806 -9223372036854775808 2147483648 253402300800 99999999999 \
    1795168800000 1e999 -1e999 0.5 -0.0 1e18";

fn blob(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{hex}'")
}

/// A text of exactly these bytes, whatever they are.
pub(super) fn text(bytes: &[u8]) -> String {
    format!("CAST({} AS TEXT)", blob(bytes))
}

pub fn value(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => "NULL".to_owned(),
        1..=3 => text(dice.pick(&TEXTS).as_bytes()),
        4 => text(dice.pick::<&[u8]>(&BYTES)),
        5 => blob(dice.pick::<&[u8]>(&BYTES)),
        _ => (*dice.pick(&NUMBERS.split(' ').collect::<Vec<_>>())).to_owned(),
    }
}

/// A text of a million characters, each of which would act.
pub fn megabyte() -> String {
    "CAST(replace(hex(zeroblob(500000)), '0', char(27)) AS TEXT)".to_owned()
}
