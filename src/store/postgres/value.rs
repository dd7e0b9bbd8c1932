//! Values on their way from and to the driver.

use crate::model::{Cell, Timestamp, hex};
use crate::store::sql::Param;
use ::postgres::types::{FromSql, IsNull, Kind, ToSql, Type, private::BytesMut, to_sql_checked};
use std::error::Error;

/// From 1970-01-01, the epoch of [`Timestamp`], to 2000-01-01, the epoch of Postgres.
const EPOCH_OFFSET_MICROS: i64 = 946_684_800_000_000;

/// Any value, read from the binary format.
pub(super) struct Raw(pub(super) Cell);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let cell = match *ty {
            Type::BOOL => Cell::Integer(i64::from(bool::from_sql(ty, raw)?)),
            Type::INT2 => Cell::Integer(i64::from(i16::from_sql(ty, raw)?)),
            Type::INT4 => Cell::Integer(i64::from(i32::from_sql(ty, raw)?)),
            Type::INT8 => Cell::Integer(i64::from_sql(ty, raw)?),
            Type::FLOAT4 => Cell::Real(f64::from(f32::from_sql(ty, raw)?)),
            Type::FLOAT8 => Cell::Real(f64::from_sql(ty, raw)?),
            Type::NUMERIC => numeric(raw),
            Type::BYTEA => Cell::Bytes(raw.to_vec()),
            Type::TIMESTAMPTZ => instant(i64::from_sql(&Type::INT8, raw)?, Cell::Instant),
            Type::TIMESTAMP => instant(i64::from_sql(&Type::INT8, raw)?, Cell::WallClock),
            Type::INTERVAL => interval(raw),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::JSON => text(raw),
            _ => match ty.kind() {
                Kind::Enum(_) => text(raw),
                Kind::Domain(inner) => Raw::from_sql(inner, raw)?.0,
                // Statements cast what they read. Any other value is shown as its type, and fits no declaration.
                _ => Cell::Text(format!("(a value of type {ty})")),
            },
        };
        Ok(Raw(cell))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Raw(Cell::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A database without an encoding may hold text that is not UTF-8.
fn text(raw: &[u8]) -> Cell {
    match std::str::from_utf8(raw) {
        Ok(text) => Cell::Text(text.to_owned()),
        Err(_) => Cell::BrokenText(raw.to_vec()),
    }
}

fn instant(micros: i64, finite: fn(i64) -> Cell) -> Cell {
    match micros {
        i64::MAX => Cell::Infinity,
        i64::MIN => Cell::NegativeInfinity,
        _ => finite(micros.saturating_add(EPOCH_OFFSET_MICROS)),
    }
}

/// An integer if the type has no fraction and the number fits into 64 bits, else a double. The format: digits to the
/// base of 10000, the first of which counts 10000 to the power of the weight.
fn numeric(raw: &[u8]) -> Cell {
    let word = |n: usize| raw.get(n * 2..n * 2 + 2).and_then(|bytes| bytes.try_into().ok()).map(i16::from_be_bytes);
    let (Some(count), Some(weight), Some(sign)) = (word(0), word(1), word(2)) else { return Cell::Null };
    let digits = (0..usize::try_from(count).unwrap_or(0)).filter_map(|n| word(n + 4));
    if let (Some(0), 0x0000 | 0x4000) = (word(3), sign.cast_unsigned()) {
        let mut size = Some(0_i64);
        let places = usize::try_from(i32::from(weight) + 1).unwrap_or(0);
        for digit in digits.clone().chain(std::iter::repeat(0)).take(places) {
            let digit = i64::from(if sign == 0 { digit } else { -digit });
            size = size.and_then(|size| size.checked_mul(10_000)?.checked_add(digit));
        }
        if let Some(size) = size {
            return Cell::Integer(size);
        }
    }
    let text: String = digits.map(|digit| format!("{digit:04}")).collect();
    // Through text, because each step of a sum of powers would round.
    let size = format!("0.{text}e{}", (i32::from(weight) + 1) * 4).parse().unwrap_or(f64::NAN);
    match sign.cast_unsigned() {
        0x0000 => Cell::Real(size),
        0x4000 => Cell::Real(-size),
        0xd000 => Cell::Real(f64::INFINITY),
        0xf000 => Cell::Real(f64::NEG_INFINITY),
        _ => Cell::Real(f64::NAN),
    }
}

/// Seconds. A month counts 30 days, as in `extract(epoch from ...)` for spans below a year.
fn interval(raw: &[u8]) -> Cell {
    let micros = raw.get(..8).and_then(|bytes| bytes.try_into().ok()).map(i64::from_be_bytes);
    let days = raw.get(8..12).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    let months = raw.get(12..16).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    match (micros, days, months) {
        (Some(micros), Some(days), Some(months)) => {
            Cell::Real(micros as f64 / 1e6 + (f64::from(days) + f64::from(months) * 30.0) * 86_400.0)
        }
        _ => Cell::Null,
    }
}

/// A parameter, bound as text, which the statement casts.
#[derive(Debug)]
pub(super) struct Bound<'p>(pub(super) &'p Param);

impl Bound<'_> {
    pub(super) fn declared(&self) -> Type {
        match self.0 {
            Param::Cell(_) => Type::TEXT,
            Param::Texts(_) => Type::TEXT_ARRAY,
        }
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Param::Texts(texts) => texts.to_sql(ty, out),
            Param::Cell(Cell::Null) => Ok(IsNull::Yes),
            Param::Cell(Cell::BrokenText(bytes)) => bytes.to_sql(ty, out),
            Param::Cell(Cell::Bytes(bytes)) => format!("\\x{}", hex(bytes)).to_sql(ty, out),
            // Bounds of the pre-filter may lie outside the range of [`Timestamp`].
            Param::Cell(Cell::Instant(micros) | Cell::WallClock(micros))
                if Timestamp::from_micros(*micros).is_none() =>
            {
                if *micros > 0 { "infinity" } else { "-infinity" }.to_sql(ty, out)
            }
            Param::Cell(Cell::WallClock(micros)) => {
                let text = Cell::WallClock(*micros).to_string();
                text.trim_end_matches('Z').to_sql(ty, out)
            }
            Param::Cell(cell) => cell.to_string().to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
