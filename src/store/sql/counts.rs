//! Counts: by state, by owner, of all claims in flight, and by a preset's own queries.

use super::builder::{Param, Sql, Statement, Values, column_of, column_sql, literal_sql, ordered};
use super::decode::reading;
use super::dialect::Dialect;
use crate::model::{Cell, Engine, Owner, Reading, Timestamp};
use crate::preset::ident::{literal, quoted};
use crate::preset::{Column, Expr, Jobs, Runs, StateSource, Template, TimeColumn};
use crate::store::{FinishedRun, RowCount, WantedRuns};
use std::time::Duration;

/// Counts the claims in flight.
pub fn count(jobs: &Jobs, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT count(*) FROM ");
    // The owner's row does not change the count: it is joined by its key.
    sql.template(jobs, &jobs.claim.from, &Values::default()).push(" WHERE ").in_flight(jobs, None);
    sql.finish()
}

/// Counts the claims in flight by owner: id, name and host as far as the preset knows them, then the count. Without an
/// id there is no owner, whatever else the preset knows.
pub fn count_by_owner(jobs: &Jobs, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    let owner = &jobs.owner;
    let parts = [owner.id.as_ref(), owner.name.as_ref(), owner.host.as_ref()];
    let (list, group_by) = grouped(&sql, jobs, parts.map(|part| part.filter(|_| owner.id.is_some())));
    // SQLite would go through an index of owners to group by them, and read all jobs.
    let plus = if dialect.engine() == Engine::Sqlite { "+" } else { "" };
    sql.push(&format!("SELECT {plus}{list}, count(*) FROM ")).claims(jobs).push(&group_by);
    sql.finish()
}

/// The owner in a row of [`count_by_owner`], and its number of claims.
pub fn owner_count(jobs: &Jobs, row: &[Cell]) -> (Option<Owner>, u64) {
    let text = |n: usize| row.get(n).and_then(Cell::to_text);
    let owner = Owner::named(text(0), text(1), text(2), jobs.owner.host_spelling);
    (owner, row.last().and_then(Cell::as_count).unwrap_or(0))
}

/// The select list of these values as texts, NULL for one that is not there, and the GROUP BY of the others. Byte by
/// byte: a collation may call two owners equal, and a claim's queue is compared so too.
fn grouped(sql: &Sql<'_>, jobs: &Jobs, values: [Option<&Expr>; 3]) -> (String, String) {
    let list = values.map(|value| sql.text_or_null(jobs, value));
    let there = values.iter().enumerate().filter(|(_, value)| value.is_some());
    let ordinals: Vec<String> = there.map(|(n, _)| (n + 1).to_string()).collect();
    let group_by = if ordinals.is_empty() { String::new() } else { format!(" GROUP BY {}", ordinals.join(", ")) };
    (list.join(", "), group_by)
}

/// Implements [`crate::store::Reader::count_by_state`]; `None` if the state is a place.
pub fn count_by_state(jobs: &Jobs, dialect: &dyn Dialect, by_kind: bool) -> Option<Statement> {
    let StateSource::Column(state) = &jobs.claim.state else { return None };
    let mut sql = Sql::new(dialect);
    let state = Expr::Column(state.clone());
    let values = [Some(&state), jobs.claim.queue.as_ref(), jobs.claim.kind.as_ref().filter(|_| by_kind)];
    let (list, group_by) = grouped(&sql, jobs, values);
    sql.push(&format!("SELECT {list}, count(*) FROM "));
    sql.all_rows_from(jobs, values.into_iter().flatten().map(column_of)).push(&group_by);
    Some(sql.finish())
}

/// The count in a row of [`count_by_state`].
pub fn row_count(row: &[Cell]) -> RowCount {
    let text = |n: usize| row.get(n).and_then(Cell::to_text);
    let state = row.first().cloned().unwrap_or(Cell::Null);
    RowCount { queue: text(1), kind: text(2), state, rows: row.last().and_then(Cell::as_count).unwrap_or(0) }
}

/// Asks which of the queue's states the database takes a stored value for that is spelled like none of them: a
/// collation may call two spellings equal. One value, NULL for none.
pub fn state_meant(jobs: &Jobs, dialect: &dyn Dialect, stored: &Cell) -> Option<Statement> {
    let StateSource::Column(state) = &jobs.claim.state else { return None };
    let column = column_sql(state);
    let mut sql = Sql::new(dialect);
    sql.push("SELECT CASE");
    for known in jobs.queue.states.all() {
        let known = literal_sql(&known.stored);
        sql.push(&format!(" WHEN {column} = {known} THEN {known}"));
    }
    sql.push(" END FROM ").all_rows_from(jobs, [Some(state)]);
    sql.push(&format!(" WHERE {} = ", dialect.bytewise(&dialect.as_text(&column))));
    sql.bind(Param::Cell(stored.clone())).push(" LIMIT 1");
    Some(sql.finish())
}

/// Types that Postgres can order but has no `min` for.
const WITHOUT_MIN: [&str; 3] = ["boolean", "uuid", "bytea"];

/// The distinct stored states, by a skip scan, which an index that leads with the state serves; DISTINCT would read the
/// whole table.
pub fn states_in_use(jobs: &Jobs, dialect: &dyn Dialect) -> Option<Statement> {
    let column = jobs.claim.own_state()?;
    let table = jobs.queue.tables.get(&jobs.claim.lock_table).map(|table| dialect.table(table))?;
    let (alias, state) = (quoted(&column.alias), column_sql(column));
    let state = if WITHOUT_MIN.contains(&column.type_name.as_str()) { dialect.as_text(&state) } else { state };
    Some(Statement::plain(format!(
        "WITH RECURSIVE hop(s) AS (SELECT min({state}) FROM {table} AS {alias} \
         UNION ALL SELECT (SELECT min({state}) FROM {table} AS {alias} WHERE {state} > hop.s) FROM hop \
         WHERE hop.s IS NOT NULL) SELECT {} FROM hop WHERE hop.s IS NOT NULL LIMIT 100",
        dialect.as_text("hop.s")
    )))
}

/// Counts the rows in these stored states, by an index that leads with the state; without a state column, those that are
/// neither in flight nor waiting nor ended. No further than `most`.
pub fn count_in_states(jobs: &Jobs, dialect: &dyn Dialect, states: &[String], most: u64) -> Option<Statement> {
    if let (StateSource::Place(_), Some(ended)) = (&jobs.claim.state, &jobs.conditions.ended) {
        let mut sql = Sql::new(dialect);
        let key: Vec<String> = jobs.claim.key.iter().map(column_sql).collect();
        let key = key.join(", ");
        sql.push("SELECT count(*) FROM (SELECT 1 FROM ").lock_table(jobs).push(" WHERE (");
        sql.template(jobs, ended, &Values::default()).push(") IS NOT TRUE");
        if let (Some(waits), None) = (&jobs.conditions.waiting, &jobs.conditions.waiting_in) {
            sql.push(" AND (").template(jobs, waits, &Values::default()).push(") IS NOT TRUE");
        }
        sql.push(&format!(" AND ({key}) NOT IN (SELECT {key} FROM ")).claims(jobs);
        sql.push(&format!(") LIMIT {most}) AS counted"));
        return Some(sql.finish());
    }
    let column = jobs.claim.own_state()?;
    let table = jobs.queue.tables.get(&jobs.claim.lock_table).map(|table| dialect.table(table))?;
    let (alias, state) = (quoted(&column.alias), column_sql(column));
    let states: Vec<String> = states.iter().map(|state| literal(state)).collect();
    Some(Statement::plain(format!(
        "SELECT count(*) FROM (SELECT 1 FROM {table} AS {alias} WHERE {state} IN ({}) LIMIT {most}) AS counted",
        states.join(", ")
    )))
}

/// A query of the preset, without parameters.
pub fn question(jobs: &Jobs, dialect: &dyn Dialect, asked: &Template) -> Statement {
    Sql::new(dialect).fragment(jobs, asked, &Values::default())
}

/// Implements [`crate::store::Reader::ended`]; `None` where the preset has no such count.
pub fn ended(jobs: &Jobs, dialect: &dyn Dialect, since: Timestamp) -> Option<Statement> {
    let (asked, encodings) = jobs.interrupted()?.ended.as_ref()?;
    let values = Values { since: Some(since), named: Some(encodings), ..Values::default() };
    Some(Sql::new(dialect).fragment(jobs, asked, &values))
}

/// Implements [`crate::store::Reader::finished`]. An index on state and end serves both kinds of query. Without one,
/// each reads the whole table, so the newest runs get a short time limit.
pub fn finished(jobs: &Jobs, dialect: &dyn Dialect, runs: &Runs, wanted: &WantedRuns) -> Statement {
    let mut sql = Sql::new(dialect);
    let (started, end) = (column_sql(&runs.started.column), column_sql(&runs.at.column));
    let named = [jobs.claim.queue.as_ref(), jobs.claim.kind.as_ref()];
    let text = |expr: &Expr| dialect.as_text(&sql.expr_sql(jobs, expr));
    let [queue, kind] = named.map(|expr| expr.map_or_else(|| "NULL".to_owned(), text));
    sql.push(&format!("SELECT {started}, {end}, {queue}, {kind} FROM "));
    sql.runs_from(jobs, runs, named.into_iter().flatten().map(column_of).chain([Some(&runs.started.column)]));
    match wanted {
        // An end at that instant counts, and the bound is exclusive.
        WantedRuns::Since(since) => sql.push(" AND ").after(&runs.at, since.minus(Duration::from_micros(1))),
        WantedRuns::Newest(n, _) => {
            let order = ordered(dialect, &runs.at);
            sql.push(&format!(" AND {end} IS NOT NULL ORDER BY {order} DESC LIMIT {n}"))
        }
    };
    sql.finish()
}

impl Sql<'_> {
    /// The runs that ended well, after a select list of these columns and the time of their end.
    pub(super) fn runs_from<'c>(
        &mut self,
        jobs: &Jobs,
        runs: &'c Runs,
        columns: impl Iterator<Item = Option<&'c Column>>,
    ) -> &mut Self {
        let states: Vec<&Cell> = runs.states.iter().map(|state| &state.stored).collect();
        // The columns that a condition reads are unknown here.
        let columns = columns.chain([Some(&runs.at.column)]).chain(runs.filter.iter().map(|_| None));
        self.all_rows_from(jobs, columns).push(" WHERE ").in_states(jobs, &states, runs.filter.as_ref())
    }
}

/// The run in a row of [`finished`].
pub fn finished_run(runs: &Runs, row: &[Cell]) -> FinishedRun {
    let text = |n: usize| row.get(n).and_then(Cell::to_text);
    let time = |n: usize, time: &TimeColumn| row.get(n).map_or(Reading::Absent, |cell| reading(time, cell));
    FinishedRun { queue: text(2), kind: text(3), started: time(0, &runs.started), ended: time(1, &runs.at) }
}
