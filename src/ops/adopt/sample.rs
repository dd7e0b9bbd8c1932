//! Bounded samples of a table's rows, sorted by what their state means.

use super::table::{Subject, SubjectColumn};
use crate::model::{Cell, Engine};
use crate::ops::OpsError;
use crate::preset::ident::quoted;
use crate::store::{Reader, StoreError, StoreErrorKind, catalog, parts};
use std::time::{Duration, Instant};

/// The most rows of one sample.
const ROWS: usize = 500;
/// The most different states that are read.
const STATES: usize = 40;
/// The most bytes of a text that are read: enough for a time, an owner or the keys of a JSON object.
const BYTES: usize = 2000;
/// How long one sample may take, and all of them together; what takes longer is done without.
const PATIENCE: Duration = Duration::from_secs(2);
const WHOLE_PATIENCE: Duration = Duration::from_secs(10);

/// Rows of a table, each with the values of these columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub(super) fn values(&self, column: &str) -> impl Iterator<Item = &Cell> {
        let at = self.columns.iter().position(|name| name == column);
        self.rows.iter().filter_map(move |row| row.get(at?))
    }

    /// True if there are rows and the column is NULL in all of them.
    pub(super) fn is_null(&self, column: &str) -> bool {
        !self.rows.is_empty() && self.values(column).all(Cell::is_null)
    }

    /// True if there are rows and the column is NULL in none of them.
    pub(super) fn is_set(&self, column: &str) -> bool {
        !self.rows.is_empty() && !self.values(column).any(Cell::is_null)
    }

    /// The value that all rows agree on, if there are rows and they do.
    pub(super) fn agreed(&self, column: &str) -> Option<&Cell> {
        let first = self.values(column).next()?;
        self.values(column).all(|value| value == first).then_some(first)
    }

    pub(super) fn and(&self, other: &Rows) -> Rows {
        let columns = if self.columns.is_empty() { other.columns.clone() } else { self.columns.clone() };
        Rows { columns, rows: self.rows.iter().chain(&other.rows).cloned().collect() }
    }
}

/// A reader of samples of one table.
pub(super) struct Sampler<'a> {
    pub(super) reader: &'a mut dyn Reader,
    pub(super) engine: Engine,
    pub(super) subject: &'a Subject,
    /// What took too long, in a sentence.
    pub(super) note: Option<String>,
    until: Instant,
}

impl<'a> Sampler<'a> {
    /// A reader of samples of that table.
    pub(super) fn new(reader: &'a mut dyn Reader, engine: Engine, subject: &'a Subject) -> Sampler<'a> {
        Sampler { reader, engine, subject, note: None, until: Instant::now() + WHOLE_PATIENCE }
    }

    /// The newest and the oldest rows by the key; where there is no key, any.
    pub(super) fn ends(&mut self) -> Result<Rows, OpsError> {
        let key = self.subject.key().unwrap_or_default();
        if key.is_empty() || key.iter().any(|column| self.subject.column(column).is_none()) {
            return self.rows("true", "");
        }
        let order = |direction: &str| {
            let columns: Vec<String> = key.iter().map(|column| format!("j.{} {direction}", quoted(column))).collect();
            format!(" ORDER BY {}", columns.join(", "))
        };
        Ok(self.rows("true", &order("DESC"))?.and(&self.rows("true", &order("ASC"))?))
    }

    /// Rows that meet a condition, in which the table is `j`; none if finding them takes too long.
    pub(super) fn rows(&mut self, condition: &str, order: &str) -> Result<Rows, OpsError> {
        let columns: Vec<String> = self.subject.columns.iter().map(|column| column.name.clone()).collect();
        let read = |column: &SubjectColumn| {
            parts::sampled(self.engine, &format!("j.{}", quoted(&column.name)), &column.type_name, BYTES)
        };
        let list: Vec<String> = self.subject.columns.iter().map(read).collect();
        let list = if list.is_empty() { "1".to_owned() } else { list.join(", ") };
        let table = &self.subject.sql;
        let sql = format!("SELECT {list} FROM {table} AS j WHERE {condition}{order} LIMIT {ROWS}");
        Ok(Rows { columns, rows: self.query(&sql)? })
    }

    /// The rows of a query, none if it takes too long.
    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, StoreError> {
        let left = self.until.saturating_duration_since(Instant::now()).min(PATIENCE);
        let rows = if left.is_zero() { None } else { Some(self.reader.sample(sql, left)) };
        match rows {
            Some(Err(error)) if error.kind != StoreErrorKind::TimedOut => Err(error),
            Some(Ok(rows)) => Ok(rows),
            None | Some(Err(_)) => {
                let name = &self.subject.live.name;
                self.note =
                    Some(format!("some samples of table {name} took too long: the draft may miss what its rows show"));
                Ok(Vec::new())
            }
        }
    }

    /// The stored values of a column with few of them: by steps over an index if one begins with the column, by the
    /// statistics of Postgres, or from the rows that were read.
    pub(super) fn distinct(
        &mut self,
        column: &str,
        labels: Option<&[String]>,
        ends: &Rows,
    ) -> Result<Vec<Cell>, OpsError> {
        if let Some(labels) = labels {
            return Ok(labels.iter().map(|label| Cell::Text(label.clone())).collect());
        }
        let leads = self
            .subject
            .live
            .indexes
            .iter()
            .any(|index| index.condition.is_none() && index.columns.first().is_some_and(|first| first == column));
        let (table, name) = (&self.subject.sql, quoted(column));
        let sql = if leads {
            format!(
                "WITH RECURSIVE step(v) AS (SELECT min({name}) FROM {table} UNION ALL SELECT (SELECT min(t.{name}) FROM {table} AS t \
                 WHERE t.{name} > step.v) FROM step WHERE step.v IS NOT NULL) SELECT v FROM step WHERE v IS NOT NULL LIMIT {}",
                STATES + 1
            )
        } else {
            // The newest of many rows, in any order that costs no sorting.
            format!(
                "SELECT DISTINCT v FROM (SELECT {name} AS v FROM {table} LIMIT 100000) AS sampled WHERE v IS NOT NULL LIMIT {}",
                STATES + 1
            )
        };
        let mut values: Vec<Cell> = self.query(&sql)?.into_iter().flatten().collect();
        if let Some(common) = catalog::common_values(self.engine, &self.subject.live, column).filter(|_| !leads) {
            let is_number = matches!(values.first(), Some(Cell::Integer(_)));
            for cell in self.query(&common)?.into_iter().flatten() {
                let text = cell.to_string();
                values.push(match text.parse() {
                    Ok(number) if is_number => Cell::Integer(number),
                    _ if matches!(values.first(), Some(Cell::Integer(_))) => continue,
                    _ => cell,
                });
            }
        }
        values.extend(ends.values(column).filter(|value| !value.is_null()).cloned());
        let mut distinct: Vec<Cell> = Vec::new();
        for value in values {
            if !distinct.contains(&value) && distinct.len() <= STATES {
                distinct.push(value);
            }
        }
        Ok(distinct)
    }
}

/// The rows of a state that were among others.
pub(super) fn with_value(rows: &Rows, column: &str, value: &Cell) -> Rows {
    let at = rows.columns.iter().position(|name| name == column);
    let is_it = |row: &&Vec<Cell>| at.and_then(|at| row.get(at)).is_some_and(|cell| cell == value);
    Rows { columns: rows.columns.clone(), rows: rows.rows.iter().filter(is_it).cloned().collect() }
}
