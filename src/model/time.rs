use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// An instant: microseconds since 1970-01-01T00:00:00Z, between the years -9999 and 9999.
///
/// There is deliberately no `now()` here: the only clock that counts is the store's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// This instant moved into the past, stopping at the earliest one there is.
    pub fn minus(self, span: Duration) -> Timestamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let earliest = jiff::Timestamp::MIN.as_microsecond();
        Timestamp(self.0.saturating_sub(micros).max(earliest))
    }

    /// This instant moved into the future, stopping at the last one there is.
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

    /// The same in seconds, negative when `earlier` is the later of the two.
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
