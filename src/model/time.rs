//! Instants by the database's clock, and durations as people write and read them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// The error of a stored instant. Applications write whole seconds into finer columns, so no column is trusted to be
/// finer; no encoding is coarser.
const UNIT_MICROS: i64 = 1_000_000;

/// The tolerated difference of two clocks: a sign of life up to this far ahead of `now` is fresh, and closer instants
/// of two clocks have no order.
pub const FUTURE_TOLERANCE: Duration = Duration::from_secs(60);

/// How many clocks wrote the two instants of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// One clock, or two whose difference the operator answers for, as in a restart sweep.
    One,
    /// Two, which may differ by [`FUTURE_TOLERANCE`].
    Two,
}

/// An instant: microseconds since 1970-01-01T00:00:00Z, between the years -9999 and 9999.
///
/// There is deliberately no `now()` here: the only clock that counts is the database's. And there is no `<`: two
/// instants were written with a unit and by a clock, and [`Timestamp::is_after`] knows both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Timestamp = Timestamp(0);

    /// The instant so many microseconds after the epoch; `None` outside the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Option<Timestamp> {
        jiff::Timestamp::from_microsecond(micros).ok().map(|_| Timestamp(micros))
    }

    pub fn parse(text: &str) -> Option<Timestamp> {
        let time: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp(time.as_microsecond()))
    }

    pub fn micros(self) -> i64 {
        self.0
    }

    /// True if this instant is certainly after `other`: later in whole seconds, and for two clocks by more than
    /// [`FUTURE_TOLERANCE`]. Neither of two instants in one second is after the other.
    pub fn is_after(self, other: Timestamp, clocks: Clocks) -> bool {
        let apart = self.0.div_euclid(UNIT_MICROS) - other.0.div_euclid(UNIT_MICROS);
        let tolerance = match clocks {
            Clocks::One => 0,
            Clocks::Two => FUTURE_TOLERANCE.as_secs().cast_signed(),
        };
        apart > tolerance
    }

    /// The newer of two instants, either of which may be unknown: for lists and figures. It proves no order.
    pub fn newest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
        a.into_iter().chain(b).max_by_key(|at| at.0)
    }

    /// The older of two instants, either of which may be unknown: for lists and figures. It proves no order.
    pub fn oldest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
        a.into_iter().chain(b).min_by_key(|at| at.0)
    }

    /// The instant so much earlier, at the earliest the first one there is.
    pub fn minus(self, span: Duration) -> Timestamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let earliest = jiff::Timestamp::MIN.as_second() * 1_000_000;
        Timestamp(self.0.saturating_sub(micros).max(earliest))
    }

    /// The instant so much later, at the latest the last one there is.
    pub fn plus(self, span: Duration) -> Timestamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let latest = jiff::Timestamp::MAX.as_second() * 1_000_000;
        Timestamp(self.0.saturating_add(micros).min(latest))
    }

    /// The time from `earlier` to this instant; zero when `earlier` is the later of the two.
    pub fn since(self, earlier: Timestamp) -> Duration {
        let micros = self.0.saturating_sub(earlier.0).max(0);
        Duration::from_micros(micros.unsigned_abs())
    }

    /// The time from `earlier` to this instant in seconds, negative when `earlier` is the later of the two.
    pub fn seconds_since(self, earlier: Timestamp) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e6
    }
}

/// RFC 3339 in UTC, with the digits of a second that it needs or as many as the precision says.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "{} us", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("'{text}' is not an RFC 3339 instant")))
    }
}

const SHORTEST: Duration = Duration::from_secs(1);
/// The longest threshold: ten years of 365.25 days, as humantime counts them.
pub const LONGEST_THRESHOLD: Duration = Duration::from_secs(315_576_000);

const MOST_BYTES: usize = 64;
/// humantime 2.4.0 panics where a sum passes the seconds of a u64. Ten digits cannot get there within 64 bytes, even in
/// years: five times 10^10 years are under 2^61 seconds. (Twelve could: `584542046090y 19767615s 999999999ns 1ns`.)
const MOST_DIGITS: usize = 10;

/// A threshold such as `5m` or `1h 30m`, from one second to ten years.
///
/// The error says what is wrong and how to write it instead. Months are refused, because `5M` for `5m` is one slip of
/// the shift key and would turn "silent for five minutes" into "for five months".
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    check(text)?;
    let duration = humantime::parse_duration(text).map_err(|_| malformed(text))?;
    if is_threshold(duration) {
        return Ok(duration);
    }
    Err(format!("{} is out of range: the shortest is 1s, the longest 10y (3652.5 days)", text.escape_debug()))
}

/// Whether a span can be a threshold, wherever it comes from: from one second, before which every claim is silent, to
/// ten years.
pub fn is_threshold(span: Duration) -> bool {
    (SHORTEST..=LONGEST_THRESHOLD).contains(&span)
}

/// How long ago, in at most two units: `13m 32s`, `3 days 4 h`. Under a second it is `0s`.
pub fn age(span: Duration) -> String {
    let whole = Duration::from_secs(span.as_secs());
    let words = humantime::format_duration(whole).to_string();
    let words: Vec<&str> = words.split(' ').take(2).collect();
    match words.first().map(|first| split(first, |c| c.is_ascii_digit())) {
        // A unit that is a word stands apart from its number, and then so does the other.
        Some((_, unit)) if unit.len() > 1 => words.into_iter().map(apart).collect::<Vec<_>>().join(" "),
        _ => words.join(" "),
    }
}

/// `3days` as `3 days`, `5m` as `5 min`.
fn apart(word: &str) -> String {
    let (number, unit) = split(word, |c| c.is_ascii_digit());
    format!("{number} {}", if unit == "m" { "min" } else { unit })
}

/// Refuses what humantime would misread or panic on.
fn check(text: &str) -> Result<(), String> {
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), char::is_alphabetic);
        let digits = number.chars().filter(char::is_ascii_digit).count();
        if digits > MOST_DIGITS || text.len() > MOST_BYTES || number.is_empty() {
            return Err(malformed(text));
        }
        if unit.is_empty() {
            return Err(format!("{number} has no unit: did you mean {number}s or {number}m?"));
        }
        if unit == "M" || unit.to_lowercase().starts_with("mo") {
            return Err(format!("{number} minutes is {number}m; months are not allowed here"));
        }
        rest = after.trim_start();
    }
    Ok(())
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

fn malformed(text: &str) -> String {
    let units = "write numbers with the units ms, s, m, h, d, w or y, as in 5m or 1h 30m";
    format!("`{}` is not a duration: {units}", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies beyond them is no instant: the pre-filter's bounds must not lie there too. jiff 0.2.43 refuses the
    /// microseconds of the last second.
    #[test]
    fn the_first_and_the_last_instant_are_instants() {
        let now = Timestamp::from_micros(1_795_000_000_000_000).unwrap();
        for end in [now.plus(Duration::MAX), now.minus(Duration::MAX)] {
            assert_eq!(Timestamp::from_micros(end.micros()), Some(end));
        }
    }

    #[test]
    fn what_is_in_one_second_is_in_no_order() {
        let at = |micros: i64| Timestamp::from_micros(1_795_000_000_000_000 + micros).unwrap();
        for (later, earlier, one, two) in [
            (999_999, 0, false, false),
            (1_000_000, 999_999, true, false),
            (60_999_999, 0, true, false),
            (61_000_000, 999_999, true, true),
            (0, 61_000_000, false, false),
            (0, -1, true, false),
        ] {
            assert_eq!(at(later).is_after(at(earlier), Clocks::One), one, "{later} after {earlier}");
            assert_eq!(at(later).is_after(at(earlier), Clocks::Two), two, "{later} after {earlier}, two clocks");
        }
    }
}
