//! A third dialect, which exists in this test only: every statement about the reference queue comes out in its spelling.

use super::queue::lease;
use jobdoctor::model::{Action, Cell, Engine, Key, Timestamp};
use jobdoctor::preset::{Column, TimeColumn};
use jobdoctor::store::{Cutoffs, Dialect, PostgresDialect, Sql, SqliteDialect, statements};
use regex_lite::Regex;
use std::time::Duration;

/// MySQL 8 in its ANSI mode, where names stand in double quotes, with the facts of one of the engines.
struct Third(Engine);

impl Dialect for Third {
    fn engine(&self) -> Engine {
        self.0
    }

    fn placeholder(&self, _n: usize) -> String {
        "?".to_owned()
    }

    fn keys(&self, sql: &mut Sql<'_>, _columns: &[Column], keys: &[&Key]) {
        sql.push("(VALUES ");
        sql.joined(", ", keys, |sql, key| {
            sql.push("ROW(");
            sql.bind_all(&key.0);
            sql.push(")");
        });
        sql.push(")");
    }

    fn wanted(&self, sql: &mut Sql<'_>, columns: &[Column], rows: &[(&Key, &str)]) {
        let row = |((key, precondition), n): (&(&Key, &str), i64)| {
            Key([&key.0[..], &[Cell::Text((*precondition).to_owned()), Cell::Integer(n)]].concat())
        };
        let rows: Vec<Key> = rows.iter().zip(1..).map(row).collect();
        self.keys(sql, columns, &rows.iter().collect::<Vec<_>>());
        let names: String = (1..=columns.len()).map(|n| format!("k{n}, ")).collect();
        sql.push(&format!(" AS w({names}precondition, n)"));
    }

    fn as_text(&self, sql: &str) -> String {
        format!("CAST({sql} AS CHAR)")
    }

    fn image(&self, values: &[String]) -> String {
        format!("CAST(JSON_ARRAY({}) AS CHAR)", values.join(", "))
    }

    fn whole(&self, values: &[String]) -> Vec<String> {
        vec![format!("SHA2(JSON_ARRAY({}), 256)", values.join(", "))]
    }

    fn equals(&self) -> &'static str {
        "<=>"
    }

    fn among(&self) -> &'static str {
        "IN"
    }

    fn bytewise(&self, column: &str) -> String {
        format!("BINARY {column}")
    }

    fn lock(&self, alias: &str, _for_update: bool) -> String {
        format!(" FOR UPDATE OF {alias} SKIP LOCKED")
    }

    fn may_be_blank(&self, sql: &str) -> String {
        format!("{sql} NOT REGEXP '[!-~]'")
    }

    fn no_instant(&self, _time: &TimeColumn) -> Option<String> {
        None
    }

    fn span(&self, seconds: &str, per_second: Option<i64>) -> String {
        per_second.map_or_else(|| format!("INTERVAL {seconds} SECOND"), |unit| format!("{seconds} * {unit}"))
    }
}

/// The statements of a scan, of each verification and of each action, and whether another dialect's words stand in them.
fn spelled(dialect: &'static dyn Dialect) -> Vec<(String, bool)> {
    let foreign =
        r"::|[?$][0-9]|OPERATOR|pg_catalog|unnest|ORDINALITY|COLLATE|typeof|GLOB|quote\(|column1|rowid|NO KEY";
    let foreign = Regex::new(foreign).unwrap();
    let now = Timestamp::parse("2026-11-20T10:00:00Z").unwrap();
    let cutoffs = Cutoffs::at(now, Some(Duration::from_secs(300)));
    let all = statements::statements(lease(), dialect, &cutoffs, &[Key(vec![Cell::Integer(7)])], now);
    all.into_iter().map(|(name, statement)| (name, foreign.is_match(&statement.sql))).collect()
}

#[test]
fn every_statement_is_spelled_by_its_dialect_alone() {
    static DIALECTS: [Third; 2] = [Third(Engine::Postgres), Third(Engine::Sqlite)];
    for dialect in &DIALECTS {
        let spelled = spelled(dialect);
        assert!(
            spelled.len() > 2 * Action::ALL.len() && spelled.iter().all(|(_, is_foreign)| !is_foreign),
            "{spelled:?}"
        );
    }
}

/// The mutant: a statement that asks the engine's own dialect instead of the one that it is given.
#[test]
fn a_dialect_of_another_is_told() {
    let engines: [&'static dyn Dialect; 2] = [&PostgresDialect, &SqliteDialect];
    for spelled in engines.map(spelled) {
        let is_told = |name: &str| spelled.iter().any(|(known, is_foreign)| known == name && *is_foreign);
        assert!(["suspects", "verify for requeue", "requeue 1"].into_iter().all(is_told), "{spelled:?}");
    }
}
