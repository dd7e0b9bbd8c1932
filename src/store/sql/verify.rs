//! Step one of a batch: locks the rows whose precondition still holds, and tells why others do not come back.

use super::builder::{Param, Sql, Statement, Values, column_sql};
use super::dialect::Dialect;
use super::projection::{owner_image, same_precondition};
use crate::model::{Action, Cell, Key};
use crate::preset::{Column, Expr, Jobs, OwnerRowSpec, Template};

/// Locks, without waiting, the wanted rows that are still what was judged, and gives their numbers (from 1), each with
/// the image of its row if the columns to record are named.
pub fn verify(
    jobs: &Jobs,
    dialect: &dyn Dialect,
    (action, for_update): (Action, bool),
    recorded: Option<&[&Column]>,
    rows: &[(&Key, &str)],
) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT w.n");
    recorded.into_iter().for_each(|columns| _ = sql.image_items(jobs, columns));
    sql.push(" FROM ").wanted_claims(jobs, rows).push(" AND ").is_unchanged(jobs, action);
    sql.push(&dialect.lock(&jobs.claim.lock, for_update));
    sql.finish()
}

impl Sql<'_> {
    /// The claims of the wanted rows, after the select list.
    fn wanted_claims(&mut self, jobs: &Jobs, rows: &[(&Key, &str)]) -> &mut Self {
        self.dialect.wanted(self, &jobs.claim.key, rows);
        self.push(" CROSS JOIN ").claim_from(jobs).push(" WHERE ").wanted_key(jobs)
    }

    /// The condition that a row is in flight, that its precondition holds, and that no skip rule applies, which may have
    /// changed since the listing.
    fn is_unchanged(&mut self, jobs: &Jobs, action: Action) -> &mut Self {
        let same = same_precondition(jobs, self);
        let skips = jobs.skips.iter().filter(|skip| skip.actions.contains(&action));
        skips.fold(self.in_flight(jobs, None).push(&format!(" AND {same}")), |sql, skip| {
            sql.push(" AND (").template(jobs, &skip.condition, &Values::default()).push(") IS NOT TRUE")
        })
    }
}

/// Reads rows again without a lock: number, and whether they are still what was judged.
pub fn reread(jobs: &Jobs, dialect: &dyn Dialect, action: Action, rows: &[(&Key, &str)]) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT w.n, CASE WHEN ").is_unchanged(jobs, action);
    sql.push(" THEN 1 ELSE 0 END FROM ").wanted_claims(jobs, rows);
    sql.finish()
}

/// Evaluates the guard for each of these locked rows: number, and whether it passed. In the select list, because a
/// condition might be evaluated for other rows too, and a guard that takes a lock would take theirs.
pub fn guard(jobs: &Jobs, dialect: &dyn Dialect, guard: &Template, rows: &[(&Key, &str)]) -> Statement {
    let mut sql = Sql::new(dialect);
    let guard = sql.expr_sql(jobs, &Expr::Sql(guard.clone()));
    sql.push(&format!("SELECT w.n, CASE WHEN {guard} THEN 1 ELSE 0 END FROM ")).wanted_claims(jobs, rows);
    sql.finish()
}

/// The numbers of the wanted rows whose key names more than one row of the claim's own table, or more than one claim: a
/// join may give one job a row that shows life and another that does not.
pub fn shared_keys(jobs: &Jobs, dialect: &dyn Dialect, rows: &[(&Key, &str)]) -> Statement {
    let mut sql = Sql::new(dialect);
    if jobs.claim.may_repeat {
        sql.push("SELECT w.n FROM ").wanted_claims(jobs, rows).push(" AND ").in_flight(jobs, None);
        sql.push(" GROUP BY w.n HAVING count(*) > 1 UNION ");
    }
    sql.push("SELECT w.n FROM ").wanted_rows(jobs, rows).push(" GROUP BY w.n HAVING count(*) > 1");
    sql.finish()
}

/// Reads the owners' rows on which verdicts rest: key and image of each. Locked, they get no heartbeat meanwhile.
pub fn evidence_rows(
    jobs: &Jobs,
    dialect: &dyn Dialect,
    row: &OwnerRowSpec,
    keys: &[&Key],
    are_locked: bool,
) -> Statement {
    let lock = if are_locked { " FOR SHARE OF o SKIP LOCKED" } else { "" };
    let mut sql = Sql::new(dialect);
    let (image, key) = (owner_image(jobs, &sql), column_sql(&row.key));
    let table = jobs.queue.tables.get(&row.table).map(|table| dialect.table(table)).unwrap_or_default();
    sql.push(&format!("SELECT {}, {image} FROM {table} AS o WHERE {key} IN ", dialect.as_text(&key)));
    dialect.keys(&mut sql, std::slice::from_ref(&row.key), keys);
    sql.push(&format!(" ORDER BY {key}{lock}"));
    sql.finish()
}

/// Postgres: the number of locks of uncommitted writes to the owners' table, its partitions and children, and the
/// tables that its view reads, and of uncommitted partitions and children of it. A row that is being inserted can be
/// neither locked nor seen, so a missing owner may be about to return. A prepared transaction has no session.
pub fn evidence_writers(jobs: &Jobs, dialect: &dyn Dialect, table: &str) -> Statement {
    const TREE: &str = "UNION SELECT e.below FROM tree AS t JOIN (\
         SELECT i.inhparent AS above, i.inhrelid AS below FROM pg_catalog.pg_inherits AS i UNION ALL \
         SELECT r.ev_class, d.refobjid FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d \
         ON d.objid OPERATOR(pg_catalog.=) r.oid \
         AND d.classid OPERATOR(pg_catalog.=) CAST('pg_catalog.pg_rewrite' AS pg_catalog.regclass)::pg_catalog.oid \
         AND d.refclassid OPERATOR(pg_catalog.=) CAST('pg_catalog.pg_class' AS pg_catalog.regclass)::pg_catalog.oid \
         WHERE r.rulename OPERATOR(pg_catalog.=) CAST('_RETURN' AS pg_catalog.name)) AS e \
         ON e.above OPERATOR(pg_catalog.=) t.relation) ";
    let mut sql = Sql::new(dialect);
    sql.push("WITH RECURSIVE tree(relation) AS (SELECT CAST(pg_catalog.to_regclass(");
    let table = jobs.queue.tables.get(table).map(|table| dialect.table(table)).unwrap_or_default();
    sql.bind(Param::Cell(Cell::Text(table))).push(") AS pg_catalog.oid) ").push(TREE);
    sql.push(
        "SELECT pg_catalog.count(*) FROM pg_catalog.pg_locks AS l \
         WHERE l.locktype OPERATOR(pg_catalog.=) 'relation' AND l.granted \
         AND (l.mode OPERATOR(pg_catalog.=) 'RowExclusiveLock' OR l.mode OPERATOR(pg_catalog.=) 'ShareUpdateExclusiveLock' \
         AND EXISTS (SELECT FROM pg_catalog.pg_locks AS x WHERE x.locktype OPERATOR(pg_catalog.=) 'transactionid' \
         AND x.mode OPERATOR(pg_catalog.=) 'ExclusiveLock' AND x.virtualtransaction OPERATOR(pg_catalog.=) l.virtualtransaction)) \
         AND (l.pid IS NULL OR l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()) \
         AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d \
         WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()) \
         AND l.relation OPERATOR(pg_catalog.=) ANY (SELECT t.relation FROM tree AS t)",
    );
    sql.finish()
}
