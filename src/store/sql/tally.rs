use super::builder::{Param, Sql, Statement, column_sql, literal_sql};
use super::dialect::Dialect;
use super::rows::{column_of, rows_from};
use crate::model::Cell;
use crate::preset::{Expr, QueueSpec, StateSource};
use crate::store::Tally;

/// One count of all rows by queue and state, and what reads it.
pub struct TallyStatement {
    /// The statement.
    pub statement: Statement,
    /// Where queue and kind stand in its rows; the state comes before them.
    queue: Option<usize>,
    kind: Option<usize>,
}

/// See [`crate::store::Reader::tally`]; `None` where the state is a place. Values that a collation calls equal are counted
/// apart, because a claim's queue is told byte by byte too.
pub fn tally(spec: &QueueSpec, dialect: &dyn Dialect, by_kind: bool) -> Option<TallyStatement> {
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
    rows_from(&mut sql, spec, columns);
    sql.push(&format!(" GROUP BY {}", ordinals.join(", ")));
    Some(TallyStatement { statement: sql.finish(), queue, kind })
}

/// Asks which of its own states the database takes a stored value for that is spelled like none of them: a collation may call them
/// equal. One row, whose only column is NULL where it takes it for none.
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
    rows_from(&mut sql, spec, [Some(state)]);
    sql.push(&format!(" WHERE {} = ", dialect.bytewise(&dialect.as_text(&column))));
    sql.bind(Param::Cell(stored.clone()));
    sql.push(" LIMIT 1");
    Some(sql.finish())
}

impl TallyStatement {
    /// What a row says.
    pub fn read(&self, row: &[Cell]) -> Tally {
        let text = |at: Option<usize>| at.and_then(|at| row.get(at)).and_then(Cell::to_text);
        let rows = match row.last() {
            Some(Cell::Integer(rows)) => u64::try_from(*rows).unwrap_or(0),
            _ => 0,
        };
        let state = row.first().cloned().unwrap_or(Cell::Null);
        Tally { queue: text(self.queue), kind: text(self.kind), state, rows }
    }
}
