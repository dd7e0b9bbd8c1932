//! Listings of claims, and lookups by key.

use super::builder::{Param, Sql, Statement, column_sql};
use super::dialect::{Dialect, Postgres};
use super::filter::{Sieve, before, sieves};
use super::projection::Projection;
use crate::model::{Cell, Key, Timestamp};
use crate::preset::{Column, QueueSpec, StateSource};
use crate::store::Cutoffs;
use crate::store::ids::read_by_server;

/// A statement whose rows are streamed, and how to read them.
///
/// It has no order. Paging by key read ties repeatedly (a million claims of one second took minutes); a stream reads
/// each row once, and documents sort their own lists.
pub struct Listing<'s> {
    /// The statement.
    pub statement: Statement,
    /// How to read its rows.
    pub projection: Projection<'s>,
}

/// The listings of all suspects: one for each in-flight state and sieve.
pub fn suspects<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect, cutoffs: &Cutoffs) -> Vec<Listing<'s>> {
    let sieves = sieves(spec, cutoffs);
    let states = states(spec);
    states
        .iter()
        .flat_map(|state| sieves.iter().map(move |sieve| listing(spec, dialect, *state, Some(sieve))))
        .collect()
}

/// The listings of claims that began before `cut`: one for each in-flight state, none if the table has no claim time.
pub fn begun_before<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect, cut: Timestamp) -> Vec<Listing<'s>> {
    let Some(began) = &spec.claim.claimed_at else { return Vec::new() };
    let sieve: Sieve<'_> = Box::new(move |sql| before(sql, began, cut));
    states(spec).into_iter().map(|state| listing(spec, dialect, state, Some(&sieve))).collect()
}

/// The listings of all claims: one for each in-flight state.
pub fn all<'s>(spec: &'s QueueSpec, dialect: &'static dyn Dialect) -> Vec<Listing<'s>> {
    states(spec).into_iter().map(|state| listing(spec, dialect, state, None)).collect()
}

fn states(spec: &QueueSpec) -> Vec<Option<&Cell>> {
    match &spec.claim.state {
        StateSource::Column(_) => spec.states.in_flight.iter().map(|state| Some(&state.stored)).collect(),
        StateSource::Place(_) => vec![None],
    }
}

fn listing<'s>(
    spec: &'s QueueSpec,
    dialect: &'static dyn Dialect,
    state: Option<&Cell>,
    sieve: Option<&Sieve<'_>>,
) -> Listing<'s> {
    let mut sql = Sql::new(dialect);
    let projection = Projection::of(spec, &sql);
    sql.push(&format!("SELECT {} FROM ", projection.select_list()));
    sql.claim_from(spec);
    sql.push(" WHERE ");
    sql.in_flight(spec, state);
    if let Some(sieve) = sieve {
        sql.push(" AND ");
        sieve(&mut sql);
    }
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
    let projection = Projection::with_evidence(spec, &sql);
    sql.push(&format!("SELECT {} FROM ", projection.select_list()));
    sql.claim_from(spec);
    let columns: Vec<String> = spec.claim.key.iter().map(column_sql).collect();
    sql.push(&format!(" WHERE ({}) IN ", columns.join(", ")));
    dialect.keys(&mut sql, &spec.claim.key, keys);
    (sql.finish(), projection)
}
