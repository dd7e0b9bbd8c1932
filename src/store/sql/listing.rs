use super::builder::{Param, Sql, Statement, column_sql};
use super::dialect::Dialect;
use super::filter::{Sieve, sieves};
use super::projection::Projection;
use crate::model::{Cell, Key};
use crate::spec::{QueueSpec, StateSource, TimeColumn};
use crate::store::Cutoffs;

/// One listing, read in pages by key: what to ask first, and what to ask after a page.
pub struct Listing<'s> {
    spec: &'s QueueSpec,
    dialect: &'static dyn Dialect,
    state: Option<&'s Cell>,
    sieve: Option<Sieve<'s>>,
}

/// The listings of all suspects: one for each in-flight state and each sieve.
pub fn suspects<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect, cutoffs: &'s Cutoffs) -> Vec<Listing<'s>> {
    let mut listings = Vec::new();
    for state in states(spec) {
        for sieve in sieves(spec, cutoffs) {
            listings.push(Listing { spec, dialect, state, sieve: Some(sieve) });
        }
    }
    listings
}

/// The listings of all claims: one for each in-flight state.
pub fn all<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect) -> Vec<Listing<'s>> {
    states(spec).into_iter().map(|state| Listing { spec, dialect, state, sieve: None }).collect()
}

fn states(spec: &QueueSpec) -> Vec<Option<&Cell>> {
    match &spec.claim.state {
        StateSource::Column(_) => spec.states.in_flight.iter().map(|state| Some(&state.stored)).collect(),
        StateSource::Place(_) => vec![None],
    }
}

impl<'s> Listing<'s> {
    fn order(&self) -> Option<&'s TimeColumn> {
        self.sieve.as_ref().and_then(|sieve| sieve.order)
    }

    /// The page after a row, or the first one; `size` rows at most.
    pub fn page(&self, after: Option<&[Cell]>, size: usize) -> (Statement, Projection<'s>) {
        let mut sql = Sql::new(self.dialect);
        let projection = Projection::of(self.spec, &sql);
        let keys: Vec<String> = self.spec.claim.key.iter().map(column_sql).collect();
        let order: Vec<String> = self.order().map(|time| column_sql(&time.column)).into_iter().chain(keys).collect();
        let order = order.join(", ");
        // What the page is ordered by comes first; the keys behind it begin the projection.
        let time = self.order().map(|time| format!("{}, ", column_sql(&time.column))).unwrap_or_default();
        sql.push(&format!("SELECT {time}{} FROM ", projection.select_list()));
        sql.claim_from(self.spec);
        sql.push(" WHERE ");
        sql.in_flight(self.spec, self.state);
        if let Some(sieve) = &self.sieve {
            sql.push(" AND ");
            (sieve.condition)(&mut sql);
        }
        if let Some(mark) = after {
            sql.push(&format!(" AND ({order}) > ("));
            self.bind_mark(&mut sql, mark);
            sql.push(")");
        }
        sql.push(&format!(" ORDER BY {order} LIMIT {size}"));
        (sql.finish(), projection)
    }

    /// The mark of a page's last row, for the next page to begin after.
    pub fn mark<'r>(&self, row: &'r [Cell]) -> &'r [Cell] {
        row.get(..self.spec.claim.key.len() + self.before_projection()).unwrap_or_default()
    }

    /// The part of a row that the projection reads.
    pub fn projected<'r>(&self, row: &'r [Cell]) -> &'r [Cell] {
        row.get(self.before_projection()..).unwrap_or_default()
    }

    fn before_projection(&self) -> usize {
        usize::from(self.order().is_some())
    }

    fn bind_mark(&self, sql: &mut Sql<'_>, mark: &[Cell]) {
        let time = self.before_projection();
        for (n, cell) in mark.iter().enumerate() {
            if n > 0 {
                sql.push(", ");
            }
            sql.bind(Param::Cell(cell.clone()));
            // Keys travel in the type of their column.
            let column = n.checked_sub(time).and_then(|n| self.spec.claim.key.get(n));
            if let Some(cast) = column.and_then(|column| self.dialect.key_cast(column)) {
                sql.push(&cast);
            }
        }
    }
}

/// How many claims are in flight.
pub fn count(spec: &QueueSpec, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT count(*) FROM ");
    // The owner's row changes no count: it is matched by a key.
    sql.template(spec, &spec.claim.from, &super::projection::no_values());
    sql.push(" WHERE ");
    sql.in_flight(spec, None);
    sql.finish()
}

/// Jobs by id, whatever their state.
pub fn find<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect, keys: &[&Key]) -> (Statement, Projection<'s>) {
    let mut sql = Sql::new(dialect);
    let projection = Projection::of(spec, &sql);
    sql.push(&format!("SELECT {} FROM ", projection.select_list()));
    sql.claim_from(spec);
    let columns: Vec<String> = spec.claim.key.iter().map(column_sql).collect();
    sql.push(&format!(" WHERE ({}) IN ", columns.join(", ")));
    dialect.keys(&mut sql, &spec.claim.key, keys);
    (sql.finish(), projection)
}
