//! Stored values as JSON, exactly: NULL, '' and 0 differ, and so do a text, a blob and a broken text with the same
//! bytes.

use super::{Cell, Key};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

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
        to_json(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cell, D::Error> {
        let json = Value::deserialize(deserializer)?;
        from_json(&json).ok_or_else(|| serde::de::Error::custom("a cell is no stored value"))
    }
}

impl Key {
    /// The key as a text that no other key has: 42 and '42' differ, and so do the pairs a/b, c and a, b/c. For people
    /// there is [`Display`](std::fmt::Display).
    pub fn exact(&self) -> String {
        Value::Array(self.0.iter().map(to_json).collect()).to_string()
    }
}

/// The bytes as hexadecimal digits in lower case, two a byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| DIGITS.get(usize::from(digit)).copied().map(char::from)).collect()
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
