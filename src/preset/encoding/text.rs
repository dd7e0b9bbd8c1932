use super::{Said, Side, Zone};
use crate::model::Timestamp;
use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};
use std::fmt;

const ALLOWED: &str = "`YYYY-MM-DD`, a space or `T`, `HH:MM:SS`, then `.fff`, `.ffffff`, `[.ffffff]`, `[.f-fff]`, \
                       `[.fff-fffffffff]` or nothing, then `Z`, `[Z]`, `+00:00`, `+HH:MM` or nothing, then a space and a zone name or nothing";

const DATE: &str = "YYYY-MM-DD";
const TIME: &str = "HH:MM:SS";
const SEPARATORS: [(&str, char); 2] = [(" ", ' '), ("T", 'T')];
const FRACTIONS: [(&str, Fraction); 6] = [
    (".ffffff", Fraction::Six),
    (".fff", Fraction::Three),
    ("[.ffffff]", Fraction::SixOrNone),
    ("[.f-fff]", Fraction::UpToThree),
    ("[.fff-fffffffff]", Fraction::Groups),
    ("", Fraction::None),
];
const SUFFIXES: [(&str, Suffix); 5] = [
    ("Z", Suffix::Always),
    ("[Z]", Suffix::Either),
    ("+00:00", Suffix::Zero),
    ("+HH:MM", Suffix::Offset),
    ("", Suffix::Never),
];
/// Offsets are less than this many seconds away from UTC.
const LARGEST_OFFSET: i64 = 86_400;

/// The one exact shape of a text time, such as `YYYY-MM-DD HH:MM:SS[.f-fff]`, in the zone that its end names.
///
/// It spells the years 0001 to 9999, and precision from a second to a microsecond; of nanoseconds only the reading
/// knows.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPattern {
    separator: char,
    fraction: Fraction,
    suffix: Suffix,
    pub(super) zone: Zone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fraction {
    None,
    /// Milliseconds, always three digits.
    Three,
    /// Microseconds, always six digits.
    Six,
    /// Microseconds; absent when zero.
    SixOrNone,
    /// Milliseconds without trailing zeros; absent when zero.
    UpToThree,
    /// Three, six or nine digits, as few as say it; absent when zero. Rust's chrono writes RFC 3339 so.
    Groups,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suffix {
    Never,
    Always,
    /// Read with and without, written with.
    Either,
    /// `+00:00`, always.
    Zero,
    /// Any offset from UTC, or `Z`; written as `+00:00`.
    Offset,
}

impl TextPattern {
    /// Reads a pattern of the preset format.
    /// The error is the rest of a sentence: what is wrong, and what is allowed.
    pub fn parse(text: &str) -> Result<TextPattern, String> {
        let shape = || {
            let rest = text.strip_prefix(DATE)?;
            let (separator, rest) = take(rest, &SEPARATORS)?;
            let rest = rest.strip_prefix(TIME)?;
            let (fraction, rest) = take(rest, &FRACTIONS)?;
            let (suffix, rest) = take(rest, &SUFFIXES)?;
            let zone = if rest.is_empty() { None } else { Some(rest.strip_prefix(' ')?) };
            Some((separator, fraction, suffix, zone))
        };
        let (separator, fraction, suffix, zone) =
            shape().ok_or_else(|| format!("unknown text pattern `{text}`; allowed is {ALLOWED}"))?;
        let zone = Zone::parse(zone.unwrap_or(if suffix == Suffix::Never { "local" } else { "utc" }))?;
        if suffix != Suffix::Never && !(zone.is_utc() && zone.said == Said::Surely) {
            let suffix = spelling(&SUFFIXES, suffix);
            return Err(format!(
                "`{suffix}` says where the zone is; the zone `{zone}` cannot follow: leave one of them out"
            ));
        }
        Ok(TextPattern { separator, fraction, suffix, zone })
    }

    /// What is written at the end: nothing, `Z` or `+00:00`.
    fn ending(&self) -> &'static str {
        match self.suffix {
            Suffix::Never => "",
            Suffix::Always | Suffix::Either => "Z",
            Suffix::Zero | Suffix::Offset => "+00:00",
        }
    }

    /// True where each text may have another offset from UTC.
    pub(super) fn has_offsets(&self) -> bool {
        self.suffix == Suffix::Offset
    }

    /// Reads a stored text; `Ok(None)` is a time out of range.
    pub(super) fn read(&self, text: &str) -> Result<Option<Timestamp>, String> {
        let (body, ahead) = match self.suffix {
            Suffix::Never => (Some(text), 0),
            Suffix::Always | Suffix::Zero => (text.strip_suffix(self.ending()), 0),
            Suffix::Either => (text.strip_suffix('Z').or(Some(text)), 0),
            Suffix::Offset => without_offset(text).map_or((None, 0), |(body, ahead)| (Some(body), ahead)),
        };
        // Writing what was read is what makes the reading exact: signs, other separators and stray zeros all differ.
        let wall = body.and_then(|body| fields(body).filter(|wall| self.body(*wall) == body));
        let wall = wall.ok_or_else(|| format!("is not a time spelled {self}"))?;
        let at = self.zone.instant(wall).and_then(|at| at.micros().checked_sub(ahead * 1_000_000));
        Ok(at.and_then(Timestamp::from_micros))
    }

    /// The canonical spelling, rounded down to the pattern's precision.
    pub(super) fn write(&self, at: Timestamp) -> String {
        let wall = self.zone.wall_clock(at).max(datetime(1, 1, 1, 0, 0, 0, 0));
        self.body(wall) + self.ending()
    }

    /// A text above (or below) all spellings of the instants before (or after) `cut`.
    ///
    /// It is a whole second without fraction and suffix, rounded away from them: within one second the bytes have no
    /// useful order (`.5Z` sorts before `Z`), but a whole second sorts after everything spelled in an earlier one, and
    /// as their prefix before all that has more to say about its own. With offsets that differ, a wall clock shows up
    /// to a day more or less than UTC.
    pub(super) fn bound(&self, cut: Timestamp, side: Side) -> String {
        let mut wall = self.zone.bound(cut, side);
        if self.suffix == Suffix::Offset {
            let day = SignedDuration::from_secs(LARGEST_OFFSET);
            wall = wall.saturating_add(if side == Side::Before { day } else { -day });
        }
        let up = side == Side::Before && wall.subsec_nanosecond() > 0;
        let wall = wall.saturating_add(SignedDuration::from_secs(up.into()));
        // Nothing is spelled before the year 1, and the empty text sorts before everything.
        if wall.year() < 1 { String::new() } else { self.whole_seconds(wall) }
    }

    fn whole_seconds(&self, t: DateTime) -> String {
        let (date, separator) = (t.date(), self.separator);
        format!("{date}{separator}{:02}:{:02}:{:02}", t.hour(), t.minute(), t.second())
    }

    fn body(&self, wall: DateTime) -> String {
        let seconds = self.whole_seconds(wall);
        let nanos = wall.subsec_nanosecond();
        let micros = nanos / 1000;
        let millis = micros / 1000;
        match self.fraction {
            Fraction::Three => format!("{seconds}.{millis:03}"),
            Fraction::UpToThree if millis > 0 => format!("{seconds}.{millis:03}").trim_end_matches('0').to_owned(),
            Fraction::Six => format!("{seconds}.{micros:06}"),
            Fraction::SixOrNone if micros > 0 => format!("{seconds}.{micros:06}"),
            Fraction::Groups if nanos % 1000 > 0 => format!("{seconds}.{nanos:09}"),
            Fraction::Groups if micros % 1000 > 0 => format!("{seconds}.{micros:06}"),
            Fraction::Groups if millis > 0 => format!("{seconds}.{millis:03}"),
            Fraction::None | Fraction::SixOrNone | Fraction::UpToThree | Fraction::Groups => seconds,
        }
    }
}

/// The pattern as the preset format spells it.
impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = spelling(&FRACTIONS, self.fraction);
        let suffix = spelling(&SUFFIXES, self.suffix);
        write!(f, "{DATE}{}{TIME}{fraction}{suffix}", self.separator)?;
        let is_told = self.suffix != Suffix::Never || self.zone.to_string() == "local";
        if is_told { Ok(()) } else { write!(f, " {}", self.zone) }
    }
}

/// The text without the offset that it ends in, and how many seconds that is ahead of UTC.
fn without_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(body) = text.strip_suffix('Z') {
        return Some((body, 0));
    }
    let (body, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':').filter(|(hours, minutes)| hours.len() == minutes.len())?;
    let number = |digits: &str, below: i64| -> Option<i64> {
        let number: i64 = digits.parse().ok()?;
        (digits.bytes().all(|byte| byte.is_ascii_digit()) && number < below).then_some(number)
    };
    let seconds = number(hours, 24)? * 3600 + number(minutes, 60)? * 60;
    match offset.get(..1)? {
        "+" => Some((body, seconds)),
        "-" => Some((body, -seconds)),
        _ => None,
    }
}

/// The date and time at the places all patterns share, with up to nine digits after a point. `None` for what is no
/// number, not on the calendar (30 February, 24:00, a leap second), or in the year 0.
fn fields(body: &str) -> Option<DateTime> {
    let (head, digits) = body.split_once('.').unwrap_or((body, "0"));
    let places = u32::try_from(digits.len()).ok()?;
    let nanos = digits.parse::<i32>().ok()?.checked_mul(10_i32.pow(9_u32.checked_sub(places)?))?;
    let field = |from, to| head.get(from..to)?.parse::<i8>().ok();
    let year = head.get(..4)?.parse().ok().filter(|year| *year > 0)?;
    DateTime::new(year, field(5, 7)?, field(8, 10)?, field(11, 13)?, field(14, 16)?, field(17, 19)?, nanos).ok()
}

/// The meaning of the spelling that `text` starts with, and the text after it.
fn take<'t, T: Copy>(text: &'t str, spellings: &[(&str, T)]) -> Option<(T, &'t str)> {
    spellings.iter().find_map(|(spelling, meaning)| Some((*meaning, text.strip_prefix(spelling)?)))
}

fn spelling<T: Copy + PartialEq>(spellings: &[(&'static str, T)], meaning: T) -> &'static str {
    spellings.iter().find(|(_, known)| *known == meaning).map_or("", |(spelling, _)| spelling)
}
