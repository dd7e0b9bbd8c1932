//! Instants by the database's clock.

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
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// The instant so many microseconds after the epoch; `None` outside the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Option<Timestamp> {
        jiff::Timestamp::from_microsecond(micros).ok().map(|_| Timestamp(micros))
    }

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let time: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp(time.as_microsecond()))
    }

    /// Microseconds since the epoch.
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
        let earliest = jiff::Timestamp::MIN.as_microsecond();
        Timestamp(self.0.saturating_sub(micros).max(earliest))
    }

    /// The instant so much later, at the latest the last one there is.
    pub fn plus(self, span: Duration) -> Timestamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let latest = jiff::Timestamp::MAX.as_microsecond();
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

/// RFC 3339 in UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time}"),
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

#[cfg(test)]
mod tests {
    use super::*;

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
