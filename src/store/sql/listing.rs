//! Listings of claims, and lookups by key.

use super::builder::{Param, Sql, Statement, column_sql};
use super::dialect::{Dialect, Postgres};
use super::filter::{before, suspect};
use super::projection::Projection;
use crate::model::{Cell, Key, Timestamp};
use crate::preset::{Column, QueueSpec, StateSource};
use crate::store::ids::read_by_server;
use crate::store::{Cutoffs, Detail};

/// A statement whose rows are streamed, and how to read them.
///
/// It has no order. Paging by key read ties repeatedly (a million claims of one second took minutes); a stream reads
/// each row once, and documents sort their own lists.
pub struct Listing<'s> {
    pub statement: Statement,
    /// How to read its rows.
    pub projection: Projection<'s>,
}

pub fn suspects<'s>(
    spec: &'s QueueSpec,
    dialect: &'static dyn Dialect,
    cutoffs: &Cutoffs,
    detail: Detail,
) -> Listing<'s> {
    listing(spec, dialect, detail, &|sql| suspect(sql, spec, cutoffs))
}

/// The listing of claims that began before `cut`; `None` if the table has no claim time.
pub fn begun_before<'s>(
    spec: &'s QueueSpec,
    dialect: &'static dyn Dialect,
    cut: Timestamp,
    detail: Detail,
) -> Option<Listing<'s>> {
    let began = spec.claim.claimed_at.as_ref()?;
    Some(listing(spec, dialect, detail, &|sql| before(sql, began, cut)))
}

pub fn all<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect, detail: Detail) -> Listing<'s> {
    listing(spec, dialect, detail, &|sql| sql.push("true"))
}

/// When the newest jobs by their key, and those in flight, were created, finished and claimed; none where that is not
/// asked, or no index finds them.
pub fn history(spec: &QueueSpec, dialect: &'static dyn Dialect) -> Vec<Statement> {
    let times = spec.zoneless_history();
    let columns = times.map(|time| time.map_or("NULL".to_owned(), |time| column_sql(&time.column)));
    if !spec.claim.has_unique_key || times.iter().take(2).all(Option::is_none) {
        return Vec::new();
    }
    let select = format!("SELECT {} FROM ", columns.join(", "));
    let (mut newest, mut in_flight) = (Sql::new(dialect), Sql::new(dialect));
    newest.push(&select);
    newest.lock_table(spec);
    let order: Vec<String> = spec.claim.key.iter().map(|key| format!("{} DESC", column_sql(key))).collect();
    newest.push(&format!(" ORDER BY {} LIMIT 100", order.join(", ")));
    in_flight.push(&select);
    in_flight.claim_from(spec);
    in_flight.push(" WHERE ");
    in_flight.in_flight(spec, None);
    vec![newest.finish(), in_flight.finish()]
}

/// One SELECT for each in-flight state, so that a partial index serves, in one statement: over a slow line each
/// statement costs a round trip.
fn listing<'s>(
    spec: &'s QueueSpec,
    dialect: &'static dyn Dialect,
    detail: Detail,
    condition: &dyn Fn(&mut Sql<'_>),
) -> Listing<'s> {
    let mut sql = Sql::new(dialect);
    let projection = Projection::of_claims(spec, &sql, detail);
    let states: Vec<Option<&Cell>> = match &spec.claim.state {
        StateSource::Column(_) => spec.states.in_flight.iter().map(|state| Some(&state.stored)).collect(),
        StateSource::Place(_) => vec![None],
    };
    sql.joined(" UNION ALL ", states, |sql, state| {
        sql.push(&format!("SELECT {} FROM ", projection.select_list()));
        sql.claim_from(spec);
        sql.push(" WHERE ");
        sql.in_flight(spec, state);
        sql.push(" AND ");
        condition(sql);
    });
    Listing { statement: sql.finish(), projection }
}

/// Postgres: keys in the canonical spelling of their types, each with its number (from 1). A key that its column cannot
/// hold unchanged is left out.
pub fn canonical<'k>(columns: &[Column], keys: impl Iterator<Item = &'k Key> + Clone) -> Statement {
    let mut sql = Sql::new(&Postgres);
    let ways: Vec<Option<String>> = columns.iter().map(read_by_server).collect();
    sql.push("SELECT w.n");
    (1..=columns.len()).for_each(|n| sql.push(&format!(", w.k{n}::text")));
    sql.push(" FROM ROWS FROM (");
    let mut names = Vec::new();
    for (n, (column, way)) in columns.iter().zip(&ways).enumerate() {
        let texts: Vec<Vec<u8>> =
            keys.clone().map(|key| key.0.get(n).map(Cell::to_bytes).unwrap_or_default()).collect();
        let types = match way {
            Some(bare) => vec![("k", column.type_name.as_str()), ("b", bare)],
            None => vec![("k", "text")],
        };
        for (name, type_name) in types {
            sql.push(if names.is_empty() { "pg_catalog.unnest(" } else { ", pg_catalog.unnest(" });
            sql.bind(Param::Texts(texts.clone()));
            sql.push(&format!("::{type_name}[])"));
            names.push(format!("{name}{}", n + 1));
        }
    }
    sql.push(&format!(") WITH ORDINALITY AS w({}, n) WHERE true", names.join(", ")));
    for (n, _) in ways.iter().enumerate().filter(|(_, way)| way.is_some()) {
        sql.push(&format!(" AND w.k{0} {1} w.b{0}", n + 1, Postgres.equals()));
    }
    sql.finish()
}

/// Looks up jobs by key, in any state.
pub fn find<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect, keys: &[&Key]) -> (Statement, Projection<'s>) {
    let mut sql = Sql::new(dialect);
    let projection = Projection::of_named_jobs(spec, &sql);
    sql.push(&format!("SELECT {} FROM ", projection.select_list()));
    sql.claim_from(spec);
    let columns: Vec<String> = spec.claim.key.iter().map(column_sql).collect();
    sql.push(&format!(" WHERE ({}) IN ", columns.join(", ")));
    dialect.keys(&mut sql, &spec.claim.key, keys);
    (sql.finish(), projection)
}
