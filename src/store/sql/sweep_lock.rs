//! The sweep lock on Postgres. It ends with its transaction, so it works behind poolers
//! too, and a run that dies leaves none.

use super::builder::{Param, Statement};
use crate::model::Cell;

/// Acquires the lock for this transaction, or says at once that another session has it.
pub fn acquire_sweep_lock(key: i64) -> Statement {
    let sql = "SELECT pg_catalog.pg_try_advisory_xact_lock($1::bigint)";
    Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Integer(key))] }
}

/// Who has it, in words; no row if it has ended meanwhile. Of a session of another role only the process is told.
pub fn sweep_lock_holder(key: i64) -> Statement {
    let sql = "SELECT 'server process ' || l.pid::text \
        || coalesce(', ' || nullif(a.application_name, ''), '') || coalesce(', user ' || a.usename::text, '') \
        || coalesce(', from ' || a.client_addr::text, '') \
        FROM pg_catalog.pg_locks AS l LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid \
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
        AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) \
        AND ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint LIMIT 1";
    Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Integer(key))] }
}
