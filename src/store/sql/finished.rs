use super::builder::{Sql, Statement, column_sql, literal_sql};
use super::dialect::Dialect;
use super::filter::after;
use super::projection::{no_values, reading};
use super::rows::{column_of, rows_from};
use crate::model::{Cell, Reading};
use crate::preset::{QueueSpec, Runs, StateSource, TimeColumn};
use crate::store::{Run, WantedRuns};

/// The runs that have ended well, and what reads them.
pub struct FinishedListing<'s> {
    /// The statement.
    pub statement: Statement,
    runs: &'s Runs,
    /// Where queue and kind stand in its rows; beginning and end come before them.
    queue: Option<usize>,
    kind: Option<usize>,
}

/// See [`crate::store::Reader::finished`]. An index on the state and the end of a run serves both kinds of asking; without
/// one, a window costs a pass over the table, and so do the newest, which are therefore given little time.
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
    // What a condition reads is not known here.
    let condition = runs.filter.iter().map(|_| None);
    let times = [Some(&runs.started.column), Some(&runs.at.column)];
    rows_from(&mut sql, spec, read.chain(times).chain(condition));
    sql.push(" WHERE ");
    ended_well(&mut sql, spec, runs);
    match wanted {
        WantedRuns::Since(since) => {
            // An end at that very instant counts; the bound is open.
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
        sql.template(spec, filter, &no_values());
        sql.push(")");
    }
}

impl FinishedListing<'_> {
    /// What a row says.
    pub fn read(&self, row: &[Cell]) -> Run {
        let text = |at: Option<usize>| at.and_then(|at| row.get(at)).and_then(Cell::to_text);
        let time = |at: usize, time: &TimeColumn| row.get(at).map_or(Reading::Absent, |cell| reading(time, cell));
        let (started, ended) = (time(0, &self.runs.started), time(1, &self.runs.at));
        Run { queue: text(self.queue), kind: text(self.kind), started, ended }
    }
}
