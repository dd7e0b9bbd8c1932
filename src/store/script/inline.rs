//! The dialect of a script: an engine's own, with literals instead of parameters.

use super::clock;
use super::literal::literal;
use crate::model::{Cell, Engine, Key};
use crate::preset::encoding::Encodings;
use crate::preset::{Column, Marker};
use crate::store::sql::{Dialect, Postgres, Sql, Sqlite};
use std::sync::OnceLock;

/// A dialect without parameters, whose wanted rows are those in the batch's temporary table.
pub(super) struct Inline {
    engine: Engine,
    /// True if keys are the owners'.
    of_owners: bool,
    /// The first value without a literal.
    problem: OnceLock<String>,
}

impl Inline {
    pub(super) fn new(engine: Engine) -> Inline {
        Inline { engine, of_owners: false, problem: OnceLock::new() }
    }

    /// For statements about the owners' rows.
    pub(super) fn of_owners(engine: Engine) -> Inline {
        Inline { of_owners: true, ..Inline::new(engine) }
    }

    /// Why the text cannot be used, if so.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.get().map(String::as_str)
    }

    /// A value as a literal.
    pub(super) fn literal(&self, cell: &Cell) -> String {
        self.or_problem(literal(self.engine, cell))
    }

    /// The text, or NULL and a problem.
    pub(super) fn or_problem(&self, text: Result<String, String>) -> String {
        text.unwrap_or_else(|why| {
            self.problem.get_or_init(|| why);
            "NULL".to_owned()
        })
    }

    fn plain(&self) -> &'static dyn Dialect {
        match self.engine {
            Engine::Postgres => &Postgres,
            Engine::Sqlite => &Sqlite,
        }
    }

    fn steps(&self) -> &'static str {
        match self.engine {
            Engine::Postgres => "pg_temp.jobdoctor_steps",
            Engine::Sqlite => "temp.jobdoctor_steps",
        }
    }
}

impl Dialect for Inline {
    fn engine(&self) -> Engine {
        self.engine
    }

    /// The literal, with the cast that its parameter would have.
    fn placeholder(&self, n: usize, value: &Cell) -> String {
        let value_sql = self.literal(value);
        let parameter = self.plain().placeholder(n, value);
        match parameter.split_once("::") {
            Some((_, cast)) => format!("{value_sql}::{cast}"),
            None => value_sql,
        }
    }

    fn whole(&self, values: &[String]) -> Vec<String> {
        self.plain().whole(values)
    }

    fn stands_for(&self, marker: &Marker, encodings: Option<&Encodings>) -> Option<String> {
        match marker {
            Marker::Now(_) | Marker::RunAt(_) => Some(self.or_problem(clock::now(self.engine, encodings))),
            Marker::NowRfc3339 => Some(clock::rfc3339(self.engine)),
            Marker::Queue => Some("jobdoctor_moved.queue".to_owned()),
            Marker::Moved => Some("jobdoctor_moved.moved".to_owned()),
            Marker::Ids | Marker::Reason | Marker::Schema => None,
        }
    }

    fn as_text(&self, sql: &str) -> String {
        self.plain().as_text(sql)
    }

    fn image(&self, values: &[String]) -> String {
        self.plain().image(values)
    }

    fn same(&self, values: &[String]) -> String {
        match self.engine {
            Engine::Postgres => self.plain().same(values),
            Engine::Sqlite => super::sqlite::same(values),
        }
    }

    fn equals(&self) -> &'static str {
        self.plain().equals()
    }

    fn among(&self) -> &'static str {
        self.plain().among()
    }

    fn keys(&self, sql: &mut Sql<'_>, columns: &[Column], _keys: &[&Key]) {
        let steps = self.steps();
        if self.of_owners {
            let cast = columns.first().map(|column| column.type_name.as_str()).filter(|name| !name.is_empty());
            let cast = cast.map(|name| format!("::{name}")).unwrap_or_default();
            sql.push(&format!("(SELECT owner{cast} FROM {steps} WHERE owner IS NOT NULL)"));
            return;
        }
        let names: Vec<String> = (1..=columns.len()).map(|n| format!("k{n}")).collect();
        sql.push(&format!("(SELECT {} FROM {steps})", names.join(", ")));
    }

    fn wanted(&self, sql: &mut Sql<'_>, _columns: &[Column], _rows: &[(&Key, &str)]) {
        sql.push(&format!("{} AS w", self.steps()));
    }

    fn bytewise(&self, column: &str) -> String {
        self.plain().bytewise(column)
    }

    fn lock(&self, alias: &str, for_update: bool) -> String {
        self.plain().lock(alias, for_update)
    }

    fn stored_otherwise(&self, column: &str, storage: &[&str]) -> Option<String> {
        self.plain().stored_otherwise(column, storage)
    }

    fn infinite(&self, column: &str) -> Option<String> {
        self.plain().infinite(column)
    }

    fn span(&self, seconds: &str, per_second: Option<i64>) -> String {
        self.plain().span(seconds, per_second)
    }
}
