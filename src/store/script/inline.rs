//! The dialect of a script: that of Postgres, with literals instead of parameters.

use super::clock;
use super::literal::literal;
use crate::model::{Cell, Engine, Key};
use crate::preset::encoding::Encodings;
use crate::preset::{Column, Marker};
use crate::store::sql::{Dialect, Postgres, Sql};
use std::sync::OnceLock;

/// A dialect without parameters, whose wanted rows are those in the batch's temporary table.
#[derive(Default)]
pub(super) struct Inline {
    /// True if keys are the owners'.
    of_owners: bool,
    /// The first value without a literal.
    problem: OnceLock<String>,
}

impl Inline {
    /// For statements about the owners' rows.
    pub(super) fn of_owners() -> Inline {
        Inline { of_owners: true, ..Inline::default() }
    }

    /// Why the text cannot be used, if so.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.get().map(String::as_str)
    }

    /// A value as a literal.
    pub(super) fn literal(&self, cell: &Cell) -> String {
        self.or_problem(literal(cell))
    }

    /// The text, or NULL and a problem.
    pub(super) fn or_problem(&self, text: Result<String, String>) -> String {
        text.unwrap_or_else(|why| {
            self.problem.get_or_init(|| why);
            "NULL".to_owned()
        })
    }
}

/// The table of the batch.
const STEPS: &str = "pg_temp.jobdoctor_steps";

impl Dialect for Inline {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    /// The literal, with the cast that its parameter would have.
    fn placeholder(&self, n: usize, value: &Cell) -> String {
        let value_sql = self.literal(value);
        let parameter = Postgres.placeholder(n, value);
        match parameter.split_once("::") {
            Some((_, cast)) => format!("{value_sql}::{cast}"),
            None => value_sql,
        }
    }

    fn whole(&self, values: &[String]) -> Vec<String> {
        Postgres.whole(values)
    }

    fn stands_for(&self, marker: &Marker, encodings: Option<&Encodings>) -> Option<String> {
        match marker {
            Marker::Now(_) | Marker::RunAt(_) => Some(self.or_problem(clock::now(encodings))),
            Marker::NowRfc3339 => Some(clock::rfc3339()),
            Marker::Queue => Some("jobdoctor_moved.queue".to_owned()),
            Marker::Moved => Some("jobdoctor_moved.moved".to_owned()),
            Marker::Ids | Marker::Reason | Marker::Schema => None,
        }
    }

    fn as_text(&self, sql: &str) -> String {
        Postgres.as_text(sql)
    }

    fn image(&self, values: &[String]) -> String {
        Postgres.image(values)
    }

    fn equals(&self) -> &'static str {
        Postgres.equals()
    }

    fn among(&self) -> &'static str {
        Postgres.among()
    }

    fn keys(&self, sql: &mut Sql<'_>, columns: &[Column], _keys: &[&Key]) {
        if self.of_owners {
            let cast = columns.first().map(|column| column.type_name.as_str()).filter(|name| !name.is_empty());
            let cast = cast.map(|name| format!("::{name}")).unwrap_or_default();
            sql.push(&format!("(SELECT owner{cast} FROM {STEPS} WHERE owner IS NOT NULL)"));
            return;
        }
        let names: Vec<String> = (1..=columns.len()).map(|n| format!("k{n}")).collect();
        sql.push(&format!("(SELECT {} FROM {STEPS})", names.join(", ")));
    }

    fn wanted(&self, sql: &mut Sql<'_>, _columns: &[Column], _rows: &[(&Key, &str)]) {
        sql.push(&format!("{STEPS} AS w"));
    }

    fn bytewise(&self, column: &str) -> String {
        Postgres.bytewise(column)
    }

    fn lock(&self, alias: &str, for_update: bool) -> String {
        Postgres.lock(alias, for_update)
    }

    fn stored_otherwise(&self, column: &str, storage: &[&str]) -> Option<String> {
        Postgres.stored_otherwise(column, storage)
    }

    fn infinite(&self, column: &str) -> Option<String> {
        Postgres.infinite(column)
    }

    fn span(&self, seconds: &str, per_second: Option<i64>) -> String {
        Postgres.span(seconds, per_second)
    }
}
