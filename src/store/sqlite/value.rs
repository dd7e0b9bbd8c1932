//! Values on their way from and to SQLite.

use crate::model::Cell;
use crate::store::sql::Param;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Params, Statement, ToSql};
use std::ops::ControlFlow;

pub(super) fn bound(params: &[Param]) -> impl Params + '_ {
    rusqlite::params_from_iter(params.iter().map(Bound))
}

/// Runs a prepared statement and hands over its rows, until `each` breaks off.
pub(super) fn each_row(
    prepared: &mut Statement<'_>,
    params: &[Param],
    mut each: impl FnMut(&[Cell]) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    let width = prepared.column_count();
    let mut rows = prepared.query(bound(params))?;
    let mut cells = Vec::with_capacity(width);
    while let Some(row) = rows.next()? {
        cells.clear();
        for n in 0..width {
            cells.push(cell(row.get_ref(n)?));
        }
        if each(&cells).is_break() {
            break;
        }
    }
    Ok(())
}

struct Bound<'p>(&'p Param);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Param::Texts(_) => ToSqlOutput::Owned(Value::Null),
            Param::Cell(Cell::Null | Cell::Infinity | Cell::NegativeInfinity) => ToSqlOutput::Owned(Value::Null),
            Param::Cell(Cell::Integer(n)) => ToSqlOutput::Owned(Value::Integer(*n)),
            Param::Cell(Cell::Real(n)) => ToSqlOutput::Owned(Value::Real(*n)),
            Param::Cell(Cell::Text(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Param::Cell(Cell::BrokenText(bytes)) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
            Param::Cell(Cell::Bytes(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            // No encoding of a SQLite column makes these; as text they are readable.
            Param::Cell(time @ (Cell::Instant(_) | Cell::WallClock(_))) => {
                ToSqlOutput::Owned(Value::Text(time.to_string()))
            }
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(n) => Cell::Integer(n),
        ValueRef::Real(n) => Cell::Real(n),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::BrokenText(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
