//! Runs that ended well, from which thresholds and run times are computed.

use super::builder::{Sql, Statement, Values, column_of, column_sql, literal_sql};
use super::dialect::Dialect;
use super::filter::after;
use super::projection::reading;
use crate::model::{Cell, Reading};
use crate::preset::{QueueSpec, Runs, StateSource, TimeColumn};
use crate::store::{FinishedRun, WantedRuns};

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
