//! How each engine spells SQL.

use super::builder::{Param, Sql, column_sql};
use crate::model::{Cell, Engine, Key};
use crate::preset::encoding::Encoding;
use crate::preset::ident::{qualified, quoted};
use crate::preset::{Column, Table, TimeColumn};
use std::sync::Arc;

pub fn dialect(engine: Engine) -> &'static dyn Dialect {
    match engine {
        Engine::Postgres => &Postgres,
        Engine::Sqlite => &Sqlite,
    }
}

/// What the engines spell differently.
pub trait Dialect: Send + Sync {
    fn engine(&self) -> Engine;

    /// The placeholder of the `n`th parameter, counted from 1.
    fn placeholder(&self, n: usize) -> String;

    /// A parameter's placeholder or literal, with its type where no other may be inferred.
    fn typed(&self, sql: &str, _param: &Param) -> String {
        sql.to_owned()
    }

    /// The list of keys after [`Dialect::among`] or `IN`.
    fn keys(&self, sql: &mut Sql<'_>, columns: &[Column], keys: &[&Key]);

    /// The wanted rows as a FROM item: a table `w` with `n`, `k1`.. and `precondition`.
    fn wanted(&self, sql: &mut Sql<'_>, columns: &[Column], rows: &[(&Key, &str)]);

    fn table(&self, table: &Table) -> String {
        qualified(&table.schema, &table.name)
    }

    /// The value of an expression as text, or as it is if the driver reads any type.
    fn as_text(&self, sql: &str) -> String;

    /// One text that is equal for two rows only if each of these values is equal, byte by byte and NULL by NULL.
    fn image(&self, values: &[String]) -> String;

    /// The expressions that a row's fingerprint is made of: the values, or the server's hash of them, so that a payload
    /// need not travel.
    fn whole(&self, values: &[String]) -> Vec<String>;

    /// The system's "equals" operator. During an action the queue's schema is on the search path for its triggers, and
    /// an operator made there for exactly these types would take precedence.
    fn equals(&self) -> &'static str;

    /// The system's "is one of" operator, before [`Dialect::keys`].
    fn among(&self) -> &'static str;

    /// A text column with byte-wise comparison, whatever its collation.
    fn bytewise(&self, column: &str) -> String;

    /// The clause at the end of a SELECT that locks the rows of an alias without waiting.
    fn lock(&self, alias: &str, for_update: bool) -> String;

    /// Casts what stands before it to the type of a column.
    fn cast_to(&self, _type_name: &str) -> String {
        String::new()
    }

    /// The condition that a text has no visible ASCII character: a blank one has none. Every encoding has these
    /// characters, and the pattern asks no collation.
    fn may_be_blank(&self, sql: &str) -> String;

    /// The condition that a column holds no number; `None` where its type says it.
    fn no_number(&self, _column: &str) -> Option<String> {
        None
    }

    /// The condition that a column of times which are no texts holds none; `None` where its type says it.
    fn no_instant(&self, time: &TimeColumn) -> Option<String>;

    /// A span of `seconds` (0 to 9 * 10^9) to subtract from a time. `per_second` is the time's unit, `None` for a
    /// native timestamp. May be rounded to a second.
    fn span(&self, seconds: &str, per_second: Option<i64>) -> String;
}

/// Postgres 13 to 18. Every parameter is text with a cast, so that no driver or pooler infers types.
#[derive(Debug, Clone, Copy)]
pub struct Postgres;

#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

impl Dialect for Postgres {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn typed(&self, sql: &str, param: &Param) -> String {
        let cast = match param {
            Param::Texts(_) => "text[]",
            Param::Cell(Cell::Integer(_)) => "bigint",
            // Not `double precision`, to which a numeric column would be converted: it may be too large.
            Param::Cell(Cell::Real(_)) => "numeric",
            Param::Cell(Cell::Instant(_) | Cell::Infinity | Cell::NegativeInfinity) => "timestamptz",
            Param::Cell(Cell::WallClock(_)) => "timestamp",
            Param::Cell(Cell::Bytes(_)) => "bytea",
            Param::Cell(Cell::Null | Cell::Text(_) | Cell::BrokenText(_)) => "text",
        };
        format!("{sql}::{cast}")
    }

    fn keys(&self, sql: &mut Sql<'_>, columns: &[Column], keys: &[&Key]) {
        // With several arrays `unnest` is syntax; with one it is a function, which another schema may have too.
        let unnest = if columns.len() == 1 { "pg_catalog.unnest" } else { "unnest" };
        sql.push(&format!("(SELECT * FROM {unnest}("));
        arrays(sql, columns, keys.iter().map(|key| &key.0));
        sql.push("))");
    }

    fn wanted(&self, sql: &mut Sql<'_>, columns: &[Column], rows: &[(&Key, &str)]) {
        sql.push("unnest(");
        arrays(sql, columns, rows.iter().map(|(key, _)| &key.0));
        sql.push(", ");
        let preconditions = rows.iter().map(|(_, precondition)| Some((*precondition).into()));
        sql.bind(Param::Texts(Arc::new(preconditions.collect()))).push(") WITH ORDINALITY AS w(");
        (1..=columns.len()).for_each(|n| _ = sql.push(&format!("k{n}, ")));
        sql.push("precondition, n)");
    }
    fn as_text(&self, sql: &str) -> String {
        format!("({sql})::text")
    }

    /// Escapes every byte beyond ASCII, so that text without an encoding is compared byte by byte too.
    fn image(&self, values: &[String]) -> String {
        format!("pg_catalog.encode({}, 'escape')", row_bytes(values))
    }

    fn whole(&self, values: &[String]) -> Vec<String> {
        vec![format!("pg_catalog.encode(pg_catalog.sha256({}), 'hex')", row_bytes(values))]
    }

    fn equals(&self) -> &'static str {
        "OPERATOR(pg_catalog.=)"
    }

    fn among(&self) -> &'static str {
        "OPERATOR(pg_catalog.=) ANY"
    }

    fn bytewise(&self, column: &str) -> String {
        format!("{column} COLLATE \"C\"")
    }

    fn lock(&self, alias: &str, for_update: bool) -> String {
        let strength = if for_update { "UPDATE" } else { "NO KEY UPDATE" };
        format!(" FOR {strength} OF {} SKIP LOCKED", quoted(alias))
    }

    fn cast_to(&self, type_name: &str) -> String {
        if type_name.is_empty() { String::new() } else { format!("::{type_name}") }
    }

    fn may_be_blank(&self, sql: &str) -> String {
        format!("{} OPERATOR(pg_catalog.!~) '[!-~]'", self.bytewise(&self.as_text(sql)))
    }

    fn no_instant(&self, time: &TimeColumn) -> Option<String> {
        let column = column_sql(&time.column);
        if time.encodings.iter().any(|encoding| matches!(encoding, Encoding::Native(_))) {
            return Some(format!("NOT isfinite({column})"));
        }
        let may_be_broken = time.column.type_name == "numeric" && !is_float(time);
        may_be_broken.then(|| format!("pg_catalog.scale({column}) <> 0"))
    }

    fn span(&self, seconds: &str, per_second: Option<i64>) -> String {
        let unit = per_second.map_or_else(|| "interval '1 second'".to_owned(), |unit| unit.to_string());
        format!("{seconds}::bigint * {unit}")
    }
}

fn is_float(time: &TimeColumn) -> bool {
    time.encodings.iter().any(|encoding| matches!(encoding, Encoding::EpochFloat))
}

/// A row's bytes in the server's encoding, in which all of its text can be written.
fn row_bytes(values: &[String]) -> String {
    format!("pg_catalog.convert_to(ROW({})::text, pg_catalog.getdatabaseencoding())", values.join(", "))
}

/// One array for each key column, bound as text and cast to the column's type, so that its index serves.
fn arrays<'k>(sql: &mut Sql<'_>, columns: &[Column], keys: impl Iterator<Item = &'k Vec<Cell>> + Clone) {
    sql.joined(", ", columns.iter().enumerate(), |sql, (n, column)| {
        let cells = keys.clone().map(|key| Some(key.get(n).map(Cell::to_bytes).unwrap_or_default()));
        sql.bind(Param::Texts(Arc::new(cells.collect())));
        if !column.type_name.is_empty() {
            sql.push(&format!("::{}[]", column.type_name));
        }
    });
}

impl Dialect for Sqlite {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn placeholder(&self, n: usize) -> String {
        format!("?{n}")
    }

    fn keys(&self, sql: &mut Sql<'_>, _columns: &[Column], keys: &[&Key]) {
        sql.push("(VALUES ").joined(", ", keys, |sql, key| {
            sql.push("(").bind_all(&key.0).push(")");
        });
        sql.push(")");
    }

    fn wanted(&self, sql: &mut Sql<'_>, columns: &[Column], rows: &[(&Key, &str)]) {
        sql.push("(SELECT ");
        (1..=columns.len()).for_each(|n| _ = sql.push(&format!("column{n} AS k{n}, ")));
        let (precondition, n) = (columns.len() + 1, columns.len() + 2);
        sql.push(&format!("column{precondition} AS precondition, column{n} AS n FROM (VALUES "));
        sql.joined(", ", rows.iter().zip(1..), |sql, ((key, precondition), n)| {
            sql.push("(").bind_all(&key.0).push(", ").bind(Param::Cell(Cell::Text((*precondition).to_owned())));
            sql.push(&format!(", {n})"));
        });
        sql.push(")) AS w");
    }
    fn as_text(&self, sql: &str) -> String {
        format!("({sql})")
    }

    /// Distinguishes 5 from '5' and NULL from '' by `quote()`, which stops at a NUL character, so that text goes
    /// through `hex()`.
    fn image(&self, values: &[String]) -> String {
        let one = |value: &String| {
            format!("CASE typeof({value}) WHEN 'text' THEN 't' || hex({value}) ELSE quote({value}) END")
        };
        values.iter().map(one).collect::<Vec<_>>().join(" || ',' || ")
    }

    fn whole(&self, values: &[String]) -> Vec<String> {
        values.to_vec()
    }

    fn equals(&self) -> &'static str {
        "="
    }

    fn among(&self) -> &'static str {
        "IN"
    }

    fn bytewise(&self, column: &str) -> String {
        format!("{column} COLLATE BINARY")
    }

    /// Locks nothing: the write lock of the whole database is held already.
    fn lock(&self, _alias: &str, _for_update: bool) -> String {
        String::new()
    }

    fn may_be_blank(&self, sql: &str) -> String {
        format!("{sql} NOT GLOB '*[!-~]*'")
    }

    fn no_number(&self, column: &str) -> Option<String> {
        Some(format!("typeof({column}) NOT IN ('integer', 'real', 'null')"))
    }

    fn no_instant(&self, time: &TimeColumn) -> Option<String> {
        let (column, real) = (column_sql(&time.column), if is_float(time) { "'real', " } else { "" });
        Some(format!("typeof({column}) NOT IN ('integer', {real}'null')"))
    }

    fn span(&self, seconds: &str, per_second: Option<i64>) -> String {
        format!("{seconds} * {}", per_second.unwrap_or(1))
    }
}
