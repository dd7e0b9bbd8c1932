//! Listings of claims, and lookups by key.

use super::builder::{Param, Sql, Statement, column_sql, literal_sql, ordered};
use super::dialect::{Dialect, Postgres};
use super::projection::Projection;
use crate::model::{Cell, Key};
use crate::preset::{Column, Jobs, StateSource, TimeColumn};
use crate::store::ids::read_by_server;
use crate::store::{Detail, Wanted};
use std::sync::Arc;
use std::time::Duration;

/// A statement whose rows are streamed, and how to read them.
///
/// It promises no order. Paging by key read ties repeatedly (a million claims of one second took minutes); a stream
/// reads each row once, and documents sort their own lists.
pub struct Listing<'s> {
    pub statement: Statement,
    /// How to read its rows.
    pub projection: Projection<'s>,
}

/// The newest value of each of these times in the claims in flight, in the newest jobs by their key, and in the owners'
/// table.
pub fn newest_shown<'s>(jobs: &'s Jobs, dialect: &'static dyn Dialect) -> Vec<(Vec<&'s TimeColumn>, Statement)> {
    let [in_flight, newest, beats] = jobs.shown_by();
    let column = |time: &&TimeColumn| ordered(dialect, time);
    let maxima = |names: &[String]| names.iter().map(|name| format!("max({name})")).collect::<Vec<_>>().join(", ");
    let mut statements = Vec::new();
    let mut add = |times: Vec<&'s TimeColumn>, write: &dyn Fn(&mut Sql<'_>, &[String])| {
        if !times.is_empty() {
            let mut sql = Sql::new(dialect);
            write(&mut sql, &times.iter().map(column).collect::<Vec<_>>());
            statements.push((times, sql.finish()));
        }
    };
    add(in_flight, &|sql, names| {
        sql.push(&format!("SELECT {} FROM ", maxima(names))).claims(jobs);
    });
    // Other keys are in no order of time.
    let is_counted =
        matches!(jobs.claim.key.as_slice(), [key] if ["bigint", "integer"].contains(&key.type_name.as_str()));
    if jobs.claim.rowid.is_some() || is_counted && jobs.claim.has_unique_key {
        add(newest, &|sql, names| {
            sql.push(&format!("SELECT {} FROM ", names.join(", "))).lock_table(jobs);
            let order: Vec<String> = jobs.claim.key.iter().map(|key| format!("{} DESC", column_sql(key))).collect();
            sql.push(&format!(" ORDER BY {} LIMIT 100", order.join(", ")));
        });
    }
    if let Some(table) = jobs.owner.row.as_ref().and_then(|row| jobs.queue.tables.get(&row.table)) {
        add(beats, &|sql, names| {
            sql.push(&format!("SELECT {} FROM {} AS o", maxima(names), dialect.table(table)));
        });
    }
    statements
}

/// The owners of claims in flight that have no row, each with the claim's own signs of life.
pub fn missing_owners(jobs: &Jobs, dialect: &'static dyn Dialect) -> Option<Statement> {
    let (row, id) = jobs.owner.row.as_ref().zip(jobs.owner.id.as_ref())?;
    let mut sql = Sql::new(dialect);
    let id = sql.expr_sql(jobs, id);
    let signs = jobs.own_signs().map(|time| format!(", {}", column_sql(&time.column)));
    sql.push(&format!("SELECT {}{} FROM ", dialect.as_text(&id), signs.collect::<String>())).claim_from(jobs);
    sql.push(&format!(" WHERE {} IS NULL AND {id} IS NOT NULL AND ", column_sql(&row.key)));
    sql.in_flight(jobs, None);
    Some(sql.finish())
}

/// The listing of claims: one SELECT for each in-flight state, so that a partial index serves and no planner takes a list
/// of states for a reason to read the whole table; in one statement, because over a slow line each costs a round trip.
/// `None` if it asks when claims began, and the table does not say.
///
/// Of [`Wanted::Suspects`] it gives the other claims too, whose first value is 0: whatever finds the odd ones reads
/// every claim in flight, and their owners are to be counted. On Postgres nothing else of them travels; and a server sends
/// all rows, even if they are read no further, so there it leaves them out where no more than `most` are asked for.
pub fn listing<'s>(
    jobs: &'s Jobs,
    dialect: &'static dyn Dialect,
    wanted: &Wanted,
    detail: Detail,
    most: Option<u64>,
) -> Option<Listing<'s>> {
    let mut sql = Sql::new(dialect);
    let began = jobs.claim.claimed_at.as_ref().filter(|_| matches!(wanted, Wanted::Before(_) | Wanted::Since(_)));
    let sends_all = !dialect.engine().is_file();
    let is_flagged = matches!(wanted, Wanted::Suspects(_)) && sends_all;
    let projection = Projection::of_claims(jobs, &sql, detail, is_flagged.then_some("jobdoctor_q.suspect"));
    let states: Vec<Option<&Cell>> = match &jobs.claim.state {
        StateSource::Column(_) => jobs.states.iter().map(|state| Some(&state.stored)).collect(),
        StateSource::Place(_) => vec![None],
    };
    sql.joined(" UNION ALL ", states.into_iter().zip(1..), |sql, (state, leg)| {
        sql.push("SELECT ");
        match wanted {
            Wanted::All | Wanted::Before(_) | Wanted::Since(_) => sql.push(&leg.to_string()),
            Wanted::Suspects(_) if is_flagged => {
                sql.push(&format!("CASE WHEN jobdoctor_q.suspect THEN {leg} ELSE 0 END"))
            }
            Wanted::Suspects(cutoffs) => {
                sql.push("CASE WHEN ").suspect(jobs, cutoffs).push(&format!(" THEN {leg} ELSE 0 END"))
            }
        };
        sql.push(&format!("{} FROM ", projection.select_list()));
        let by_rowid = jobs.claim.own_state().zip(jobs.claim.rowid.as_ref()).zip(state);
        if let Some(((column, rowid), state)) = by_rowid {
            // In the order of the file each page is read once. SQLite drops an ORDER BY here, and groups in order.
            let (column, rowid, state) = (column_sql(column), column_sql(rowid), literal_sql(state));
            sql.push(&format!("(SELECT {rowid} AS k FROM ")).lock_table(jobs);
            sql.push(&format!(" WHERE {column} = {state} GROUP BY 1) AS jobdoctor_k CROSS JOIN "));
        }
        sql.claim_from(jobs);
        if let (Wanted::Suspects(cutoffs), true) = (wanted, is_flagged) {
            // Computed once, which OFFSET keeps.
            sql.push(" CROSS JOIN LATERAL (SELECT ").suspect(jobs, cutoffs);
            sql.push(" IS TRUE AS suspect OFFSET 0) AS jobdoctor_q");
        }
        sql.push(" WHERE ");
        if let Some(((_, rowid), _)) = by_rowid {
            sql.push(&format!("{} = jobdoctor_k.k AND ", column_sql(rowid)));
        }
        sql.in_flight(jobs, state);
        if is_flagged && most.is_some() {
            sql.push(" AND jobdoctor_q.suspect");
        }
        began.into_iter().for_each(|began| bound(sql, wanted, began));
    });
    if let Some(most) = most.filter(|_| sends_all) {
        sql.push(&format!(" LIMIT {most}"));
    }
    let is_told = began.is_some() || !matches!(wanted, Wanted::Before(_) | Wanted::Since(_));
    is_told.then(|| Listing { statement: sql.finish(), projection })
}

/// Adds the bound of the time when claims began, if one is wanted.
fn bound(sql: &mut Sql<'_>, wanted: &Wanted, began: &TimeColumn) {
    if let Wanted::Before(cut) = wanted {
        sql.push(" AND ").before(began, *cut);
    }
    if let Wanted::Since(cut) = wanted {
        // That instant counts, and the bound is exclusive.
        sql.push(" AND (").after(began, cut.minus(Duration::from_micros(1)));
        sql.push(&format!(" OR {} IS NULL)", column_sql(&began.column)));
    }
}

/// Postgres: keys in the canonical spelling of their types, each with its number (from 1). A key that its column cannot
/// hold unchanged is left out.
pub fn canonical<'k>(columns: &[Column], keys: impl Iterator<Item = &'k Key> + Clone) -> Statement {
    let mut sql = Sql::new(&Postgres);
    let ways: Vec<Option<String>> = columns.iter().map(read_by_server).collect();
    sql.push("SELECT w.n");
    (1..=columns.len()).for_each(|n| _ = sql.push(&format!(", w.k{n}::text")));
    sql.push(" FROM ROWS FROM (");
    let mut names = Vec::new();
    for (n, (column, way)) in columns.iter().zip(&ways).enumerate() {
        let texts = keys.clone().map(|key| Some(key.0.get(n).map(Cell::to_bytes).unwrap_or_default()));
        let texts: Arc<Vec<_>> = Arc::new(texts.collect());
        let types = match way {
            Some(bare) => vec![("k", column.type_name.as_str()), ("b", bare)],
            None => vec![("k", "text")],
        };
        for (name, type_name) in types {
            sql.push(if names.is_empty() { "pg_catalog.unnest(" } else { ", pg_catalog.unnest(" });
            sql.bind(Param::Texts(texts.clone())).push(&format!("::{type_name}[])"));
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
pub fn find<'s>(jobs: &'s Jobs, dialect: &'static dyn Dialect, keys: &[&Key]) -> (Statement, Projection<'s>) {
    let mut sql = Sql::new(dialect);
    let projection = Projection::of_named_jobs(jobs, &sql);
    sql.push("SELECT (").in_flight(jobs, None).push(&format!("){} FROM ", projection.select_list()));
    sql.claim_from(jobs);
    let columns: Vec<String> = jobs.claim.key.iter().map(column_sql).collect();
    sql.push(&format!(" WHERE ({}) IN ", columns.join(", ")));
    dialect.keys(&mut sql, &jobs.claim.key, keys);
    (sql.finish(), projection)
}
