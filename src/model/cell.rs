//! A stored value, as the database returned it.

use super::value::hex;
use std::fmt;

/// A value exactly as the database returned it, not yet decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// SQL NULL.
    Null,
    /// An integer; booleans arrive as 0 and 1.
    Integer(i64),
    /// A floating point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Text that is not UTF-8, as bytes: a key must be found again as it is stored. Printed with replacement
    /// characters.
    BrokenText(Vec<u8>),
    /// A blob.
    Bytes(Vec<u8>),
    /// A native timestamp with time zone, in microseconds since 1970-01-01T00:00:00Z.
    Instant(i64),
    /// A native timestamp without time zone, in microseconds since 1970-01-01T00:00:00 on its own wall clock.
    WallClock(i64),
    /// Postgres' `infinity`.
    Infinity,
    /// Postgres' `-infinity`.
    NegativeInfinity,
}

impl Cell {
    /// The number in a cell that holds an integer.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The number in a cell that holds a count.
    pub fn as_count(&self) -> Option<u64> {
        self.as_integer().and_then(|count| u64::try_from(count).ok())
    }

    /// True for SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Cell::Null)
    }

    /// The value as text for people and for JSON; `None` for NULL. Blobs are hexadecimal.
    pub fn to_text(&self) -> Option<String> {
        self.clone().into_text()
    }

    /// As [`Cell::to_text`], of a cell that is needed no longer.
    pub fn into_text(self) -> Option<String> {
        match self {
            Cell::Null => None,
            Cell::Text(text) => Some(text),
            other => Some(other.to_string()),
        }
    }

    /// The text as bytes; text that is not UTF-8 as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Cell::BrokenText(bytes) => bytes.clone(),
            other => other.to_string().into_bytes(),
        }
    }

    /// The name of the stored type, for messages about values that do not fit.
    pub fn type_name(&self) -> &'static str {
        match self {
            Cell::Null => "null",
            Cell::Integer(_) => "integer",
            Cell::Real(_) => "real",
            Cell::Text(_) => "text",
            Cell::BrokenText(_) => "text that is not UTF-8",
            Cell::Bytes(_) => "blob",
            Cell::Instant(_) => "timestamp with time zone",
            Cell::WallClock(_) => "timestamp without time zone",
            Cell::Infinity | Cell::NegativeInfinity => "infinite timestamp",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Null => f.write_str("NULL"),
            Cell::Integer(value) => write!(f, "{value}"),
            // `{:?}` is the shortest spelling that reads back as the same number.
            Cell::Real(value) => write!(f, "{value:?}"),
            Cell::Text(value) => f.write_str(value),
            Cell::BrokenText(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Cell::Bytes(bytes) => f.write_str(&hex(bytes)),
            Cell::Instant(micros) | Cell::WallClock(micros) => match super::Timestamp::from_micros(*micros) {
                Some(time) => write!(f, "{time}"),
                None => write!(f, "{micros} us"),
            },
            Cell::Infinity => f.write_str("infinity"),
            Cell::NegativeInfinity => f.write_str("-infinity"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_real_comes_back_from_json_as_it_was() {
        let reals =
            [0.1 + 0.2, -0.0, 5.0, f64::MAX, f64::MIN_POSITIVE / 2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for real in reals {
            let json = serde_json::to_string(&Cell::Real(real)).unwrap();
            let back = serde_json::from_str::<Cell>(&json).unwrap();
            assert!(matches!(back, Cell::Real(back) if back.to_bits() == real.to_bits()), "{json}");
        }
    }
}
