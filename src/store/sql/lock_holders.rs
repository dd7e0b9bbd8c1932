//! Statements that find who holds locks on a queue's rows and tables.

use super::builder::{Sql, Statement, column_sql};
use super::dialect::Dialect;
use crate::model::{Cell, Key, LockHolder};
use crate::preset::Jobs;
use crate::preset::ident::{literal, qualified, quoted};

/// A transaction that holds locks for longer is named, in seconds.
const LONG: u32 = 600;

/// Who the transactions `h` are. A role without rights sees of others' sessions only that they are there.
const WHO: &str = "\
SELECT h.n::text, h.pid::text, p.gid, COALESCE(a.usename, p.owner)::text, a.application_name, a.state, \
 extract(epoch FROM pg_catalog.clock_timestamp() - CASE WHEN a.state LIKE 'idle in%' THEN a.state_change \
 ELSE COALESCE(p.prepared, a.xact_start) END)::text, h.is_sure::text, (a.query = '<insufficient privilege>')::text, \
 pg_catalog.left(a.query, 200) \
 FROM holders AS h LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = h.pid \
 LEFT JOIN LATERAL (SELECT x.gid, x.owner, x.prepared FROM pg_catalog.pg_locks AS t \
 JOIN pg_catalog.pg_prepared_xacts AS x ON x.transaction = t.transactionid \
 WHERE h.pid IS NULL AND t.locktype = 'transactionid' AND t.virtualtransaction = h.vx LIMIT 1) AS p ON true";

/// The locks of other transactions on these tables that keep a worker or jobdoctor from a row.
fn table_locks(jobs: &Jobs) -> String {
    let name =
        |(schema, name): (&String, &String)| format!("pg_catalog.to_regclass({})", literal(&qualified(schema, name)));
    let tables: Vec<String> = jobs.queue.tables.values().map(|table| name((&table.schema, &table.name))).collect();
    format!(
        "SELECT DISTINCT 0 AS n, l.pid, l.virtualtransaction AS vx, false AS is_sure FROM pg_catalog.pg_locks AS l \
         WHERE l.locktype = 'relation' AND l.granted AND l.mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock') AND l.relation IN ({}) \
         AND l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid() AND l.database = (SELECT d.oid FROM \
         pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())",
        tables.join(", ")
    )
}

/// Asks who holds these rows, or those of their owners: each by a row's xmax, which names a transaction, or several as a
/// multixact. Where none of them runs (a lock outlives its savepoint), asks who holds locks on the tables: the xmax is no
/// older than the oldest transaction that runs, and theirs are older than a moment.
pub fn row_locks(jobs: &Jobs, dialect: &dyn Dialect, rows: &[(Key, Option<Cell>)]) -> Statement {
    let mut sql = Sql::new(dialect);
    let lock = quoted(&jobs.claim.lock);
    sql.push(&format!("WITH rows(n, x, rel) AS (SELECT w.n, {lock}.xmax, {lock}.tableoid FROM "));
    let keys: Vec<(&Key, &str)> = rows.iter().map(|(key, _)| (key, "")).collect();
    sql.wanted_rows(jobs, &keys);
    // Those with an owner's row come first, so that both have the same numbers.
    let owners: Vec<Key> = rows.iter().map_while(|(_, owner)| Some(Key(vec![owner.clone()?]))).collect();
    let owner_row = jobs.owner.row.as_ref().filter(|_| !owners.is_empty());
    if let Some((row, table)) = owner_row.and_then(|row| Some((row, jobs.queue.tables.get(&row.table)?))) {
        sql.push(" UNION ALL SELECT w.n, o.xmax, o.tableoid FROM ");
        let keys: Vec<(&Key, &str)> = owners.iter().map(|key| (key, "")).collect();
        dialect.wanted(&mut sql, std::slice::from_ref(&row.key), &keys);
        sql.push(&format!(" CROSS JOIN {} AS o WHERE {} = w.k1", dialect.table(table), column_sql(&row.key)));
    }
    sql.push(&format!(
        "), lockers(n, x, rel) AS (SELECT r.n, r.x, r.rel FROM rows AS r UNION SELECT r.n, m.xid, r.rel FROM rows AS r \
         CROSS JOIN LATERAL pg_catalog.pg_get_multixact_members(CASE WHEN pg_catalog.mxid_age(r.x) BETWEEN 1 AND \
         (SELECT pg_catalog.max(pg_catalog.mxid_age(d.datminmxid)) FROM pg_catalog.pg_database AS d) THEN r.x END) AS m WHERE m.mode <> 'keysh'), \
         sure AS (SELECT DISTINCT k.n, t.pid, t.virtualtransaction AS vx, true AS is_sure FROM lockers AS k \
         JOIN pg_catalog.pg_locks AS t ON t.locktype = 'transactionid' AND t.mode = 'ExclusiveLock' AND t.granted \
         AND t.transactionid = k.x WHERE t.pid IS DISTINCT FROM pg_catalog.pg_backend_pid() \
         AND EXISTS (SELECT FROM pg_catalog.pg_locks AS l WHERE l.locktype = 'relation' AND l.relation = k.rel \
         AND l.virtualtransaction = t.virtualtransaction)), \
         holders AS (SELECT * FROM sure UNION ALL SELECT * FROM ({}) AS may WHERE (NOT EXISTS (SELECT FROM sure) OR EXISTS (SELECT FROM rows AS r WHERE r.x <> '0' \
         AND NOT EXISTS (SELECT FROM sure AS s WHERE s.n = r.n) AND pg_catalog.age(r.x) <= pg_catalog.age(\
         pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::xid)))) \
         {WHO} WHERE h.is_sure OR a.query = '<insufficient privilege>' OR COALESCE(p.prepared, a.xact_start) < \
         pg_catalog.clock_timestamp() - interval '100 ms' ORDER BY h.pid, p.gid, h.n LIMIT 100",
        table_locks(jobs)
    ));
    sql.finish()
}

/// Asks which transactions have held locks on the queue's tables for long, or may have.
pub fn long_locks(jobs: &Jobs) -> Statement {
    Statement::plain(format!(
        "WITH holders AS ({}) {WHO} WHERE COALESCE(p.prepared, a.xact_start) < \
         pg_catalog.clock_timestamp() - interval '{LONG} s' OR a.query = '<insufficient privilege>' ORDER BY COALESCE(p.prepared, a.xact_start) LIMIT 100",
        table_locks(jobs)
    ))
}

/// The transactions in the rows of [`row_locks`] or [`long_locks`], each once.
pub fn lock_holders(rows: &[Vec<Cell>], keys: &[(Key, Option<Cell>)]) -> Vec<LockHolder> {
    let mut holders: Vec<LockHolder> = Vec::new();
    for row in rows {
        let text = |n: usize| row.get(n).and_then(Cell::to_text);
        let (pid, prepared) = (text(1).and_then(|pid| pid.parse().ok()), text(2));
        let n: Option<usize> = text(0).and_then(|n| n.parse().ok());
        let job = n.and_then(|n| keys.get(n.checked_sub(1)?)).map(|(key, _)| key.to_string());
        if let Some(known) = holders.iter_mut().find(|known| known.pid == pid && known.prepared == prepared) {
            known.jobs.extend(job);
            continue;
        }
        holders.push(LockHolder {
            pid,
            prepared,
            user: text(3),
            application: text(4).filter(|name| !name.is_empty()),
            state: text(5),
            since_seconds: text(6).and_then(|seconds| seconds.parse().ok()),
            jobs: job.into_iter().collect(),
            certain: text(7).as_deref() == Some("true"),
            hidden: text(8).as_deref() == Some("true"),
            query: text(9).filter(|query| !query.is_empty()),
        });
    }
    holders
}
