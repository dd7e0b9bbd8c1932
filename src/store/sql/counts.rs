//! Counts: by state, by owner, of all claims in flight, and by a preset's own queries.

use super::builder::{Param, Sql, Statement, Values, column_of, column_sql, literal_sql};
use super::dialect::Dialect;
use super::filter::after;
use super::projection::reading;
use crate::model::{Cell, Owner, Reading};
use crate::preset::ident::literal;
use crate::preset::{Expr, QueueSpec, Runs, StateSource, Template, TimeColumn};
use crate::store::{FinishedRun, RowCount, WantedRuns};

/// Counts the claims in flight.
pub fn count(spec: &QueueSpec, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT count(*) FROM ");
    // The owner's row does not change the count: it is joined by its key.
    sql.template(spec, &spec.claim.from, &Values::default());
    sql.push(" WHERE ");
    sql.in_flight(spec, None);
    sql.finish()
}

/// Counts the claims in flight by owner: id, name and host as far as the preset knows them, then the count.
pub fn count_by_owner(spec: &QueueSpec, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    // Byte by byte: a collation may call two owners equal.
    let text = |expr: &Expr| dialect.bytewise(&dialect.as_text(&sql.expr_sql(spec, expr)));
    let parts: Vec<String> = owner_parts(spec).into_iter().flatten().map(text).collect();
    let list: String = parts.iter().map(|part| format!("{part}, ")).collect();
    let ordinals: Vec<String> = (1..=parts.len()).map(|n| n.to_string()).collect();
    sql.push(&format!("SELECT {list}count(*) FROM "));
    sql.claim_from(spec);
    sql.push(" WHERE ");
    sql.in_flight(spec, None);
    if !ordinals.is_empty() {
        sql.push(&format!(" GROUP BY {}", ordinals.join(", ")));
    }
    sql.finish()
}

/// The owner in a row of [`count_by_owner`], and its number of claims.
pub fn owner_count(spec: &QueueSpec, row: &[Cell]) -> (Option<Owner>, u64) {
    let mut cells = row.iter();
    let [id, name, host] =
        owner_parts(spec).map(|part| part.and_then(|_| cells.next()).and_then(|cell| cell.clone().to_text()));
    let claims = match cells.next() {
        Some(Cell::Integer(count)) => u64::try_from(*count).unwrap_or(0),
        _ => 0,
    };
    (Owner::named(id, name, host, spec.owner.host_spelling), claims)
}

/// Id, name and host. Without an id there is no owner, whatever else the preset knows.
fn owner_parts(spec: &QueueSpec) -> [Option<&Expr>; 3] {
    let owner = &spec.owner;
    match &owner.id {
        Some(id) => [Some(id), owner.name.as_ref(), owner.host.as_ref()],
        None => [None; 3],
    }
}

/// Counts all rows by queue and state.
pub struct CountByState {
    pub statement: Statement,
    /// The positions of queue and kind in its rows; the state comes first.
    queue: Option<usize>,
    kind: Option<usize>,
}

/// Implements [`crate::store::Reader::count_by_state`]; `None` if the state is a place. Values that a collation calls
/// equal are counted separately, because a claim's queue is compared byte by byte too.
pub fn count_by_state(spec: &QueueSpec, dialect: &dyn Dialect, by_kind: bool) -> Option<CountByState> {
    let StateSource::Column(state) = &spec.claim.state else { return None };
    let mut sql = Sql::new(dialect);
    let text = |sql: &Sql<'_>, expr: &Expr| dialect.bytewise(&dialect.as_text(&sql.expr_sql(spec, expr)));
    let mut items = vec![dialect.bytewise(&dialect.as_text(&column_sql(state)))];
    let mut place = |expr: Option<&Expr>| {
        items.push(text(&sql, expr?));
        Some(items.len() - 1)
    };
    let queue = place(spec.claim.queue.as_ref());
    let kind = place(spec.claim.kind.as_ref().filter(|_| by_kind));
    let ordinals: Vec<String> = (1..=items.len()).map(|n| n.to_string()).collect();
    sql.push(&format!("SELECT {}, count(*) FROM ", items.join(", ")));
    let read = [spec.claim.queue.as_ref(), spec.claim.kind.as_ref().filter(|_| by_kind)];
    let columns = read.into_iter().flatten().map(column_of).chain([Some(state)]);
    sql.all_rows_from(spec, columns);
    sql.push(&format!(" GROUP BY {}", ordinals.join(", ")));
    Some(CountByState { statement: sql.finish(), queue, kind })
}

/// Asks which of the queue's states the database takes a stored value for that is spelled like none of them: a
/// collation may call two spellings equal. One value, NULL for none.
pub fn state_meant(spec: &QueueSpec, dialect: &dyn Dialect, stored: &Cell) -> Option<Statement> {
    let StateSource::Column(state) = &spec.claim.state else { return None };
    let column = column_sql(state);
    let mut sql = Sql::new(dialect);
    sql.push("SELECT CASE");
    for known in spec.states.all() {
        let known = literal_sql(&known.stored);
        sql.push(&format!(" WHEN {column} = {known} THEN {known}"));
    }
    sql.push(" END FROM ");
    sql.all_rows_from(spec, [Some(state)]);
    sql.push(&format!(" WHERE {} = ", dialect.bytewise(&dialect.as_text(&column))));
    sql.bind(Param::Cell(stored.clone()));
    sql.push(" LIMIT 1");
    Some(sql.finish())
}

impl CountByState {
    pub fn read(&self, row: &[Cell]) -> RowCount {
        let text = |at: Option<usize>| at.and_then(|at| row.get(at)).and_then(Cell::to_text);
        let rows = match row.last() {
            Some(Cell::Integer(rows)) => u64::try_from(*rows).unwrap_or(0),
            _ => 0,
        };
        let state = row.first().cloned().unwrap_or(Cell::Null);
        RowCount { queue: text(self.queue), kind: text(self.kind), state, rows }
    }
}

/// Types that Postgres can order but has no `min` for.
const WITHOUT_MIN: [&str; 3] = ["boolean", "uuid", "bytea"];

/// The distinct stored states, by a skip scan, which an index that leads with the state serves; DISTINCT would read the
/// whole table.
pub fn states_in_use(spec: &QueueSpec, dialect: &dyn Dialect) -> Option<Statement> {
    let column = spec.claim.own_state()?;
    let table = spec.tables.get(&spec.claim.lock_table).map(|table| dialect.table(table))?;
    let (alias, state) = (crate::preset::ident::quoted(&column.alias), column_sql(column));
    let state = if WITHOUT_MIN.contains(&column.type_name.as_str()) { dialect.as_text(&state) } else { state };
    Some(Statement::plain(format!(
        "WITH RECURSIVE hop(s) AS (SELECT min({state}) FROM {table} AS {alias} \
         UNION ALL SELECT (SELECT min({state}) FROM {table} AS {alias} WHERE {state} > hop.s) FROM hop \
         WHERE hop.s IS NOT NULL) SELECT {} FROM hop WHERE hop.s IS NOT NULL LIMIT 100",
        dialect.as_text("hop.s")
    )))
}

/// Counts the rows in these stored states, by an index that leads with the state, and no further than `most`.
pub fn count_in_states(spec: &QueueSpec, dialect: &dyn Dialect, states: &[String], most: u64) -> Option<Statement> {
    let column = spec.claim.own_state()?;
    let table = spec.tables.get(&spec.claim.lock_table).map(|table| dialect.table(table))?;
    let (alias, state) = (crate::preset::ident::quoted(&column.alias), column_sql(column));
    let states: Vec<String> = states.iter().map(|state| literal(state)).collect();
    Some(Statement::plain(format!(
        "SELECT count(*) FROM (SELECT 1 FROM {table} AS {alias} WHERE {state} IN ({}) LIMIT {most}) AS counted",
        states.join(", ")
    )))
}

/// A query of the preset, without parameters.
pub fn question(spec: &QueueSpec, dialect: &dyn Dialect, asked: &Template) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.template(spec, asked, &Values::default());
    sql.finish()
}

/// A statement that lists finished runs, and how to read its rows.
pub struct FinishedListing<'s> {
    pub statement: Statement,
    runs: &'s Runs,
    /// The positions of queue and kind in its rows; start and end come first.
    queue: Option<usize>,
    kind: Option<usize>,
}

/// Implements [`crate::store::Reader::finished`]. An index on state and end serves both kinds of query. Without one,
/// each reads the whole table, so the newest runs get a short time limit.
pub fn finished<'s>(
    spec: &QueueSpec,
    dialect: &dyn Dialect,
    runs: &'s Runs,
    wanted: &WantedRuns,
) -> FinishedListing<'s> {
    let mut sql = Sql::new(dialect);
    let end = column_sql(&runs.at.column);
    let mut items = vec![column_sql(&runs.started.column), end.clone()];
    let mut place = |expr: Option<&crate::preset::Expr>| {
        items.push(dialect.as_text(&sql.expr_sql(spec, expr?)));
        Some(items.len() - 1)
    };
    let (queue, kind) = (place(spec.claim.queue.as_ref()), place(spec.claim.kind.as_ref()));
    sql.push(&format!("SELECT {} FROM ", items.join(", ")));
    let read = [spec.claim.queue.as_ref(), spec.claim.kind.as_ref()].into_iter().flatten().map(column_of);
    // The columns that a condition reads are unknown here.
    let condition = runs.filter.iter().map(|_| None);
    let times = [Some(&runs.started.column), Some(&runs.at.column)];
    sql.all_rows_from(spec, read.chain(times).chain(condition));
    sql.push(" WHERE ");
    ended_well(&mut sql, spec, runs);
    match wanted {
        WantedRuns::Since(since) => {
            // An end at that instant counts, and the bound is exclusive.
            let earlier = since.minus(std::time::Duration::from_micros(1));
            sql.push(" AND ");
            after(&mut sql, &runs.at, earlier);
        }
        WantedRuns::Newest(n, _) => {
            let order = if runs.at.encodings.is_text() { dialect.bytewise(&end) } else { end.clone() };
            sql.push(&format!(" AND {end} IS NOT NULL ORDER BY {order} DESC LIMIT {n}"));
        }
    }
    FinishedListing { statement: sql.finish(), runs, queue, kind }
}

fn ended_well(sql: &mut Sql<'_>, spec: &QueueSpec, runs: &Runs) {
    let mut any = false;
    if let (StateSource::Column(column), false) = (&spec.claim.state, runs.states.is_empty()) {
        // As literals, so that partial indexes serve.
        let states: Vec<String> = runs.states.iter().map(|state| literal_sql(&state.stored)).collect();
        let column = column_sql(column);
        match states.as_slice() {
            [only] => sql.push(&format!("{column} = {only}")),
            several => sql.push(&format!("{column} IN ({})", several.join(", "))),
        }
        any = true;
    }
    if let Some(filter) = &runs.filter {
        sql.push(if any { " AND (" } else { "(" });
        sql.template(spec, filter, &Values::default());
        sql.push(")");
    }
}

impl FinishedListing<'_> {
    pub fn read(&self, row: &[Cell]) -> FinishedRun {
        let text = |at: Option<usize>| at.and_then(|at| row.get(at)).and_then(Cell::to_text);
        let time = |at: usize, time: &TimeColumn| row.get(at).map_or(Reading::Absent, |cell| reading(time, cell));
        let (started, ended) = (time(0, &self.runs.started), time(1, &self.runs.at));
        FinishedRun { queue: text(self.queue), kind: text(self.kind), started, ended }
    }
}
