//! How each engine spells SQL.

use super::builder::{Param, Sql};
use crate::model::{Cell, Engine, Key};
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::{Column, Marker, Table};
use std::sync::Arc;

/// How an engine spells it.
pub fn dialect(engine: Engine) -> &'static dyn Dialect {
    match engine {
        Engine::Postgres => &Postgres,
        Engine::Sqlite => &Sqlite,
    }
}

/// What the engines spell differently.
pub trait Dialect: Send + Sync {
    fn engine(&self) -> Engine;

    /// The `n`th placeholder, counted from 1, for a value of that kind.
    fn placeholder(&self, n: usize, value: &Cell) -> String;

    /// The list of keys after [`Dialect::among`] or `IN`.
    fn keys(&self, sql: &mut Sql<'_>, columns: &[Column], keys: &[&Key]);

    /// The wanted rows as a FROM item: a table `w` with `n`, `k1`.. and `precondition`.
    fn wanted(&self, sql: &mut Sql<'_>, columns: &[Column], rows: &[(&Key, &str)]);

    /// The name of a parameter, in SQL that is printed instead of run.
    fn name(&self, _marker: &Marker) -> Option<String> {
        None
    }

    fn table(&self, table: &Table) -> String {
        qualified(&table.schema, &table.name)
    }

    /// The value of an expression as text, or as it is if the driver reads any type.
    fn as_text(&self, sql: &str) -> String {
        match self.engine() {
            Engine::Postgres => format!("({sql})::text"),
            Engine::Sqlite => format!("({sql})"),
        }
    }

    /// One text that is equal for two rows only if each of these values is equal, byte by byte and NULL by NULL. On
    /// Postgres every byte beyond ASCII is escaped, so that text without an encoding is compared byte by byte too. On
    /// SQLite `quote()` distinguishes 5 from '5' and NULL from ''; it stops at a NUL character, so text goes through
    /// `hex()`.
    fn image(&self, values: &[String]) -> String {
        let one = |value: &String| {
            format!("CASE typeof({value}) WHEN 'text' THEN 't' || hex({value}) ELSE quote({value}) END")
        };
        match self.engine() {
            Engine::Postgres => format!("pg_catalog.encode({}, 'escape')", row_bytes(values)),
            Engine::Sqlite => values.iter().map(one).collect::<Vec<_>>().join(" || ',' || "),
        }
    }

    /// The expressions that a row's fingerprint is made of: the values, or the server's hash of them, so that a payload
    /// need not travel.
    fn whole(&self, values: &[String]) -> Vec<String> {
        match self.engine() {
            Engine::Postgres => vec![format!("pg_catalog.encode(pg_catalog.sha256({}), 'hex')", row_bytes(values))],
            Engine::Sqlite => values.to_vec(),
        }
    }

    /// The system's "equals" operator. During an action the queue's schema is on the search path for its triggers, and
    /// an operator made there for exactly these types would take precedence.
    fn equals(&self) -> &'static str {
        match self.engine() {
            Engine::Postgres => "OPERATOR(pg_catalog.=)",
            Engine::Sqlite => "=",
        }
    }

    /// The system's "is one of" operator, before [`Dialect::keys`].
    fn among(&self) -> &'static str {
        match self.engine() {
            Engine::Postgres => "OPERATOR(pg_catalog.=) ANY",
            Engine::Sqlite => "IN",
        }
    }

    /// A text column with byte-wise comparison, whatever its collation.
    fn bytewise(&self, column: &str) -> String {
        match self.engine() {
            Engine::Postgres => format!("{column} COLLATE \"C\""),
            Engine::Sqlite => format!("{column} COLLATE BINARY"),
        }
    }

    /// The clause at the end of a SELECT that locks the rows of an alias without waiting. On SQLite the write lock of
    /// the whole database is held already.
    fn lock(&self, alias: &str, for_update: bool) -> String {
        let strength = if for_update { "UPDATE" } else { "NO KEY UPDATE" };
        match self.engine() {
            Engine::Postgres => format!(" FOR {strength} OF {} SKIP LOCKED", quoted(alias)),
            Engine::Sqlite => String::new(),
        }
    }

    /// The condition that a column's value has none of these storage classes; `None` where columns have one type.
    fn stored_otherwise(&self, column: &str, storage: &[&str]) -> Option<String> {
        let classes: Vec<String> = storage.iter().chain(&["null"]).map(|class| literal(class)).collect();
        match self.engine() {
            Engine::Postgres => None,
            Engine::Sqlite => Some(format!("typeof({column}) NOT IN ({})", classes.join(", "))),
        }
    }

    /// A span of `seconds` (0 to 9 * 10^9) to subtract from a time. `per_second` is the time's unit, `None` for a
    /// native timestamp. May be rounded to a second.
    fn span(&self, seconds: &str, per_second: Option<i64>) -> String {
        match (self.engine(), per_second) {
            (Engine::Postgres, None) => format!("{seconds}::bigint * interval '1 second'"),
            (Engine::Postgres, Some(unit)) => format!("{seconds}::bigint * {unit}"),
            (Engine::Sqlite, unit) => format!("{seconds} * {}", unit.unwrap_or(1)),
        }
    }
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

    fn placeholder(&self, n: usize, value: &Cell) -> String {
        let cast = match value {
            Cell::Integer(_) => "bigint",
            // Not `double precision`, to which a numeric column would be converted: it may be too large.
            Cell::Real(_) => "numeric",
            Cell::Instant(_) | Cell::Infinity | Cell::NegativeInfinity => "timestamptz",
            Cell::WallClock(_) => "timestamp",
            Cell::Bytes(_) => "bytea",
            Cell::Null | Cell::Text(_) | Cell::BrokenText(_) => "text",
        };
        format!("${n}::{cast}")
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
        sql.bind(Param::Texts(Arc::new(preconditions.collect())));
        sql.push(") WITH ORDINALITY AS w(");
        (1..=columns.len()).for_each(|n| sql.push(&format!("k{n}, ")));
        sql.push("precondition, n)");
    }
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

    fn placeholder(&self, n: usize, _value: &Cell) -> String {
        format!("?{n}")
    }

    fn keys(&self, sql: &mut Sql<'_>, _columns: &[Column], keys: &[&Key]) {
        sql.push("(VALUES ");
        sql.joined(", ", keys, |sql, key| {
            sql.push("(");
            sql.bind_all(&key.0);
            sql.push(")");
        });
        sql.push(")");
    }

    fn wanted(&self, sql: &mut Sql<'_>, columns: &[Column], rows: &[(&Key, &str)]) {
        sql.push("(SELECT ");
        (1..=columns.len()).for_each(|n| sql.push(&format!("column{n} AS k{n}, ")));
        sql.push(&format!(
            "column{} AS precondition, column{} AS n FROM (VALUES ",
            columns.len() + 1,
            columns.len() + 2
        ));
        sql.joined(", ", rows.iter().zip(1..), |sql, ((key, precondition), n)| {
            sql.push("(");
            sql.bind_all(&key.0);
            sql.push(", ");
            sql.bind(Param::Cell(Cell::Text((*precondition).to_owned())));
            sql.push(&format!(", {n})"));
        });
        sql.push(")) AS w");
    }
}

/// The dialect of an engine for SQL that is printed: parameters keep the names that the preset gives them.
pub struct Named(pub Engine);

impl Dialect for Named {
    fn engine(&self) -> Engine {
        self.0
    }

    fn placeholder(&self, n: usize, _value: &Cell) -> String {
        format!("?{n}")
    }

    fn keys(&self, sql: &mut Sql<'_>, _columns: &[Column], _keys: &[&Key]) {
        sql.push(&Marker::Ids.to_string());
    }

    fn wanted(&self, sql: &mut Sql<'_>, _columns: &[Column], _rows: &[(&Key, &str)]) {
        sql.push("w");
    }

    fn name(&self, marker: &Marker) -> Option<String> {
        Some(marker.to_string())
    }
}
