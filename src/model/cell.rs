//! A stored value, as the database returned it, and as JSON, exactly: NULL, '' and 0 differ, and so do a text, a blob
//! and a broken text with the same bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::fmt;

/// A value exactly as the database returned it, not yet decoded.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Cell {
    #[default]
    Null,
    /// An integer; booleans arrive as 0 and 1.
    Integer(i64),
    Real(f64),
    Text(String),
    /// Text that is not UTF-8, as bytes: a key must be found again as it is stored. Printed with replacement
    /// characters.
    BrokenText(Vec<u8>),
    Bytes(Vec<u8>),
    /// A native timestamp with time zone, in microseconds since 1970-01-01T00:00:00Z.
    Instant(i64),
    /// A native timestamp without time zone, in microseconds since 1970-01-01T00:00:00 on its own wall clock.
    WallClock(i64),
    Infinity,
    NegativeInfinity,
}

impl Cell {
    pub fn as_integer(&self) -> Option<i64> {
        if let Cell::Integer(number) = self { Some(*number) } else { None }
    }

    pub fn as_count(&self) -> Option<u64> {
        self.as_integer().and_then(|count| u64::try_from(count).ok())
    }

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

/// A value as JSON. Integers are numbers and texts are strings; what JSON has no word for is an object that says what
/// it is.
pub fn to_json(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(n) => json!(n),
        // As text that reads back as the same number; JSON knows no infinities either.
        Cell::Real(n) => json!({ "real": format!("{n:?}") }),
        Cell::Text(text) => json!(text),
        Cell::BrokenText(bytes) => json!({ "broken_text": hex(bytes) }),
        Cell::Bytes(bytes) => json!({ "bytes": hex(bytes) }),
        Cell::Instant(micros) => json!({ "instant": micros }),
        Cell::WallClock(micros) => json!({ "wall_clock": micros }),
        Cell::Infinity => json!({ "infinity": true }),
        Cell::NegativeInfinity => json!({ "infinity": false }),
    }
}

/// The value back; `None` if it is not one that [`to_json`] makes.
pub fn from_json(value: &Value) -> Option<Cell> {
    Some(match value {
        Value::Null => Cell::Null,
        Value::Number(n) => Cell::Integer(n.as_i64()?),
        Value::String(text) => Cell::Text(text.clone()),
        Value::Object(fields) if fields.len() == 1 => {
            let (kind, value) = fields.iter().next()?;
            match kind.as_str() {
                "real" => Cell::Real(value.as_str()?.parse().ok()?),
                "broken_text" => Cell::BrokenText(unhex(value.as_str()?)?),
                "bytes" => Cell::Bytes(unhex(value.as_str()?)?),
                "instant" => Cell::Instant(value.as_i64()?),
                "wall_clock" => Cell::WallClock(value.as_i64()?),
                "infinity" if value.as_bool()? => Cell::Infinity,
                "infinity" => Cell::NegativeInfinity,
                _ => return None,
            }
        }
        Value::Object(_) | Value::Array(_) | Value::Bool(_) => return None,
    })
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Integer(n) => serializer.serialize_i64(*n),
            other => to_json(other).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cell, D::Error> {
        let json = Value::deserialize(deserializer)?;
        from_json(&json).ok_or_else(|| serde::de::Error::custom("a cell is no stored value"))
    }
}

/// The bytes as hexadecimal digits in lower case, two a byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of hexadecimal digits in either case, two a byte; `None` if it is anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(pair).collect()
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
