//! Puts a statement together: text, bound values, and the parts that most statements about a queue share.

use super::dialect::Dialect;
use crate::model::{Cell, FailCode, Key, Timestamp};
use crate::preset::encoding::Encodings;
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::lex::{Kind, lex};
use crate::preset::{
    Column, Expr, Jobs, JoinOn, Marker, OwnerRowSpec, Piece, StateSource, Table, Template, TimeColumn,
};
use std::sync::Arc;

/// A statement, whose clone shares what is large.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub sql: String,
    /// The parameters, in the order of their placeholders.
    pub params: Vec<Param>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    Cell(Cell),
    /// An array of texts as bytes, which need not be UTF-8, and NULLs. On Postgres only.
    Texts(Arc<Vec<Option<Vec<u8>>>>),
}

impl Statement {
    pub fn plain(sql: impl Into<String>) -> Statement {
        Statement { sql: sql.into(), params: Vec::new() }
    }
}

pub struct Sql<'d> {
    pub(super) dialect: &'d dyn Dialect,
    binding: Binding,
    text: String,
    params: Vec<Param>,
}

/// What stands in the text for a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Binding {
    Placeholder,
    Literal,
    /// The marker's name, in SQL that is printed instead of run.
    Name,
}

/// The values of a fragment's markers, in one transaction.
#[derive(Clone, Copy, Default)]
pub struct Values<'a> {
    pub(super) keys: &'a [&'a Key],
    pub(super) now: Option<Timestamp>,
    /// When the jobs may run again.
    pub(super) run_at: Option<Timestamp>,
    /// The encoding of the assigned column.
    pub(super) assigned: Option<&'a Encodings>,
    /// The encodings of the columns that `:now.column`, `:run_at.column` and `:since.column` name.
    pub(super) named: Option<&'a std::collections::BTreeMap<String, Encodings>>,
    /// From when ended jobs are counted.
    pub(super) since: Option<Timestamp>,
    pub(super) reason: &'a str,
    pub(super) fail_code: FailCode,
    pub(super) queue: Option<&'a str>,
    /// The number of moved jobs, for wake-ups.
    pub(super) moved: usize,
}

impl<'d> Sql<'d> {
    pub fn new(dialect: &'d dyn Dialect) -> Sql<'d> {
        Sql::with(Binding::Placeholder, dialect)
    }

    pub fn with(binding: Binding, dialect: &'d dyn Dialect) -> Sql<'d> {
        Sql { dialect, binding, text: String::new(), params: Vec::new() }
    }

    pub fn finish(self) -> Statement {
        Statement { sql: self.text, params: self.params }
    }

    /// Adds text as it is. Never call it with a value from a row.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    pub fn bind(&mut self, param: Param) -> &mut Self {
        let shown = match &param {
            Param::Cell(Cell::Null) if self.binding == Binding::Literal => "NULL".to_owned(),
            Param::Cell(cell) if self.binding == Binding::Literal => literal_sql(cell),
            _ => self.dialect.placeholder(self.params.len() + 1),
        };
        self.text.push_str(&self.dialect.typed(&shown, &param));
        self.params.push(param);
        self
    }

    /// Adds something for each of these, with a text between them.
    pub fn joined<T>(
        &mut self,
        between: &str,
        items: impl IntoIterator<Item = T>,
        mut add: impl FnMut(&mut Sql<'d>, T),
    ) -> &mut Self {
        for (n, item) in items.into_iter().enumerate() {
            if n > 0 {
                self.push(between);
            }
            add(self, item);
        }
        self
    }

    /// Adds placeholders for several values, separated by commas.
    pub fn bind_all(&mut self, cells: &[Cell]) -> &mut Self {
        self.joined(", ", cells, |sql, cell| _ = sql.bind(Param::Cell(cell.clone())))
    }

    /// Adds a fragment, with its markers bound.
    pub fn template(&mut self, jobs: &Jobs, template: &Template, values: &Values<'_>) -> &mut Self {
        template.0.iter().fold(self, |sql, piece| match piece {
            Piece::Text(text) => sql.push(text),
            Piece::Name(name) => sql.name(jobs, name),
            // The resolver has expanded fragments.
            Piece::Fragment(_) => sql,
            Piece::Column(column) => sql.push(&column_sql(column)),
            Piece::Literal(cell) => sql.push(&literal_sql(cell)),
            Piece::Marker(marker) => sql.marker(jobs, marker, values),
        })
    }

    /// The statement that is this fragment alone.
    pub fn fragment(mut self, jobs: &Jobs, template: &Template, values: &Values<'_>) -> Statement {
        self.template(jobs, template, values);
        self.finish()
    }

    /// Adds a table. Where a statement that begins here writes to it, and the table declares a conflict clause of its
    /// own, the statement says `OR ABORT`: the statement decides, never the schema. Only there, because SQLite carries
    /// the words into the table's triggers.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        if table.declares_conflict {
            let (before, end) = (self.text.to_ascii_uppercase(), self.text.trim_end().len());
            let words = lex(&before, true).filter(|token| token.kind != Kind::Space).map(|token| token.text);
            match words.collect::<Vec<_>>().as_slice() {
                [.., "INSERT", "INTO"] => self.text.insert_str(end - "INTO".len(), "OR ABORT "),
                [.., "UPDATE"] => self.text.insert_str(end, " OR ABORT"),
                _ => {}
            }
        }
        self.push(&self.dialect.table(table))
    }

    fn name(&mut self, jobs: &Jobs, name: &str) -> &mut Self {
        match jobs.queue.tables.get(name) {
            Some(table) => self.table(table),
            // A type or function of the queue's schema.
            None => self.push(&qualified(&jobs.queue.schema, name)),
        }
    }

    fn marker(&mut self, jobs: &Jobs, marker: &Marker, values: &Values<'_>) -> &mut Self {
        if self.binding == Binding::Name {
            return self.push(&marker.to_string());
        }
        let encodings = match marker {
            Marker::Now(Some(column)) | Marker::RunAt(Some(column)) | Marker::Since(column) => {
                values.named.and_then(|named| named.get(column))
            }
            _ => values.assigned,
        };
        let spelled = |at: Option<Timestamp>| match (at, encodings) {
            (Some(at), Some(encodings)) => encodings.encode(at),
            (at, _) => at.map_or(Cell::Null, |at| Cell::Instant(at.micros())),
        };
        let cell = match marker {
            Marker::Ids => {
                self.dialect.keys(self, &jobs.claim.key, values.keys);
                return self;
            }
            Marker::Now(_) => spelled(values.now),
            Marker::RunAt(_) => spelled(values.run_at),
            Marker::Since(_) => spelled(values.since),
            Marker::NowRfc3339 => values.now.map_or(Cell::Null, |now| Cell::Text(now.to_string())),
            Marker::Reason => Cell::Text(values.reason.to_owned()),
            Marker::FailCode => Cell::Text(values.fail_code.name().to_owned()),
            Marker::Schema => Cell::Text(jobs.queue.schema.clone()),
            Marker::Queue => values.queue.map_or(Cell::Null, |queue| Cell::Text(queue.to_owned())),
            Marker::Moved => Cell::Integer(i64::try_from(values.moved).unwrap_or(i64::MAX)),
        };
        self.bind(Param::Cell(cell))
    }

    /// The claims in flight, after a select list: the FROM clause and the condition.
    pub fn claims(&mut self, jobs: &Jobs) -> &mut Self {
        self.claim_from(jobs).push(" WHERE ").in_flight(jobs, None)
    }

    /// The FROM clause of a claim: the preset's own, joined with the owner's row.
    pub fn claim_from(&mut self, jobs: &Jobs) -> &mut Self {
        let none = Values::default();
        self.template(jobs, &jobs.claim.from, &none);
        let Some(row) = &jobs.owner.row else { return self };
        match &row.on {
            JoinOn::Newest { pairs, beat, nullable } => self.newest_row(jobs, row, pairs, beat, *nullable),
            JoinOn::Sql(sql) => self.owner_row(jobs, row).template(jobs, sql, &none),
            JoinOn::Match(pairs) => self.owner_row(jobs, row).equal(jobs, pairs, &column_sql),
        }
    }

    fn owner_row(&mut self, jobs: &Jobs, row: &OwnerRowSpec) -> &mut Self {
        self.push(" LEFT JOIN ").name(jobs, &row.table).push(" AS o ON ")
    }

    /// The condition that each column, as it is spelled, equals its expression.
    fn equal(&mut self, jobs: &Jobs, pairs: &[(Column, Expr)], spelled: &dyn Fn(&Column) -> String) -> &mut Self {
        self.joined(" AND ", pairs, |sql, (column, equals)| {
            sql.push(&format!("{} = {}", spelled(column), sql.expr_sql(jobs, equals)));
        })
    }

    fn newest_row(
        &mut self,
        jobs: &Jobs,
        row: &OwnerRowSpec,
        pairs: &[(Column, Expr)],
        beat: &Column,
        nullable: bool,
    ) -> &mut Self {
        let inner = |column: &Column| format!("jobdoctor_newest.{}", quoted(&column.name));
        let has_rowids = self.dialect.engine().has_rowids();
        self.push(if has_rowids { " LEFT JOIN " } else { " LEFT JOIN LATERAL (SELECT jobdoctor_newest.* FROM " });
        self.name(jobs, &row.table);
        if has_rowids {
            self.push(" AS o ON o.rowid = (SELECT jobdoctor_newest.rowid FROM ").name(jobs, &row.table);
        }
        self.push(" AS jobdoctor_newest WHERE ").equal(jobs, pairs, &inner);
        let is_text = row.heartbeat.as_ref().is_some_and(|time| time.encodings.is_text());
        let beat = if is_text { self.dialect.bytewise(&inner(beat)) } else { inner(beat) };
        let nulls = if nullable { " NULLS LAST" } else { "" };
        let end = if has_rowids { "" } else { " AS o ON true" };
        self.push(&format!(" ORDER BY {beat} DESC{nulls} LIMIT 1){end}"))
    }

    /// The FROM item of all rows of a queue, in flight or not: the claim's own table alone if every column read is its
    /// own, because what a preset joins may cost a query for each row. `None` stands for something that may read any
    /// column.
    pub fn all_rows_from<'c>(
        &mut self,
        jobs: &Jobs,
        columns: impl IntoIterator<Item = Option<&'c Column>>,
    ) -> &mut Self {
        let is_own = |column: Option<&Column>| column.is_some_and(|column| column.alias == jobs.claim.lock);
        match jobs.queue.tables.get(&jobs.claim.lock_table) {
            Some(_) if columns.into_iter().all(is_own) => self.lock_table(jobs),
            _ => self.template(jobs, &jobs.claim.from, &Values::default()),
        }
    }

    /// The claim's own table under its alias.
    pub fn lock_table(&mut self, jobs: &Jobs) -> &mut Self {
        jobs.queue.tables.get(&jobs.claim.lock_table).into_iter().for_each(|table| _ = self.table(table));
        self.push(&format!(" AS {}", quoted(&jobs.claim.lock)))
    }

    /// The wanted rows and those of the claim's own table that have their keys, after a select list.
    pub fn wanted_rows(&mut self, jobs: &Jobs, rows: &[(&Key, &str)]) -> &mut Self {
        self.dialect.wanted(self, &jobs.claim.key, rows);
        self.push(" CROSS JOIN ").lock_table(jobs).push(" WHERE ").wanted_key(jobs)
    }

    /// The condition that a claim's key equals the wanted row's.
    pub fn wanted_key(&mut self, jobs: &Jobs) -> &mut Self {
        self.joined(" AND ", jobs.claim.key.iter().zip(1..), |sql, (column, n)| {
            sql.push(&format!("{} = w.k{n}", column_sql(column)));
        })
    }

    /// The condition that a claim's key is one of these.
    pub fn in_keys(&mut self, jobs: &Jobs, keys: &[&Key]) -> &mut Self {
        let columns: Vec<String> = jobs.claim.key.iter().map(column_sql).collect();
        self.push(&format!("({}) {} ", columns.join(", "), self.dialect.among()));
        self.marker(jobs, &Marker::Ids, &Values { keys, ..Values::default() })
    }

    /// The condition that makes a row a claim. With a state, only in that state, so that a partial index serves.
    pub fn in_flight(&mut self, jobs: &Jobs, state: Option<&Cell>) -> &mut Self {
        let states = match state {
            Some(state) => vec![state],
            None => jobs.states.iter().map(|state| &state.stored).collect(),
        };
        self.in_states(jobs, &states, jobs.claim.filter.as_ref())
    }

    /// The condition that a row is in one of these states, which counts only where the state is a column, and meets the
    /// filter. The states are literals, so that partial indexes serve.
    pub fn in_states(&mut self, jobs: &Jobs, states: &[&Cell], filter: Option<&Template>) -> &mut Self {
        let mut begin = "(";
        if let (StateSource::Column(column), false) = (&jobs.claim.state, states.is_empty()) {
            let literals: Vec<String> = states.iter().map(|state| literal_sql(state)).collect();
            self.push(&column_sql(column));
            match literals.as_slice() {
                [only] => self.push(&format!(" = {only}")),
                several => self.push(&format!(" IN ({})", several.join(", "))),
            };
            begin = " AND (";
        }
        match filter {
            Some(filter) => self.push(begin).template(jobs, filter, &Values::default()).push(")"),
            None => self,
        }
    }

    /// Builds the text of an expression, compared byte by byte.
    pub fn text_of(&self, jobs: &Jobs, expr: &Expr) -> String {
        self.dialect.bytewise(&self.dialect.as_text(&self.expr_sql(jobs, expr)))
    }

    /// Builds the text of an expression, compared byte by byte, or NULL.
    pub fn text_or_null(&self, jobs: &Jobs, expr: Option<&Expr>) -> String {
        expr.map_or_else(|| "NULL".to_owned(), |expr| self.text_of(jobs, expr))
    }

    /// The SQL of an expression without parameters.
    pub fn expr_sql(&self, jobs: &Jobs, expr: &Expr) -> String {
        match expr {
            Expr::Column(column) => column_sql(column),
            Expr::Sql(template) => {
                format!("({})", Sql::new(self.dialect).fragment(jobs, template, &Values::default()).sql)
            }
        }
    }
}

/// A column, qualified by its alias; an expression in brackets.
pub(super) fn column_sql(column: &Column) -> String {
    if column.is_expression() {
        return format!("({})", column.name);
    }
    format!("{}.{}", quoted(&column.alias), quoted(&column.name))
}

/// A time's column, compared byte by byte if it holds texts.
pub(super) fn ordered(dialect: &dyn Dialect, time: &TimeColumn) -> String {
    let column = column_sql(&time.column);
    if time.encodings.is_text() { dialect.bytewise(&column) } else { column }
}

/// The column behind an expression, if it is one.
pub(super) fn column_of(expr: &Expr) -> Option<&Column> {
    match expr {
        Expr::Column(column) => Some(column),
        Expr::Sql(_) => None,
    }
}

/// A stored state as a literal: with a parameter, the planner would not use partial indexes.
pub(super) fn literal_sql(cell: &Cell) -> String {
    match cell {
        Cell::Integer(number) => number.to_string(),
        other => literal(&other.to_string()),
    }
}

/// When an action is done, and why.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// The transaction's clock.
    pub now: Timestamp,
    /// The instant from which the jobs may run again.
    pub run_at: Timestamp,
    pub reason: &'a str,
    pub fail_code: FailCode,
}

impl<'a> Occasion<'a> {
    pub fn at(now: Timestamp, reason: &'a str) -> Occasion<'a> {
        Occasion { now, run_at: now, reason, fail_code: FailCode::default() }
    }
}
