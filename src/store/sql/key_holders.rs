//! Statements about which other row holds the unique key that an action would give to a row.

use super::builder::Occasion;
use super::builder::{Param, Sql, Statement, column_sql};
use super::catalog::condition_of_index;
use super::dialect::{Dialect, dialect};
use super::left::{after, assigned};
use crate::model::{Cell, Engine, Key};
use crate::preset::ident::{literal, quoted};
use crate::preset::{ActionSpec, Jobs};

/// A unique index of the jobs' table, or of one of its partitions.
pub struct UniqueKey {
    /// Its name in the database's refusals.
    pub constraint: String,
    table: String,
    is_of_partition: bool,
    /// Each value of a row, and the operator by which the index compares it.
    values: Vec<(String, String)>,
    nulls_are_equal: bool,
    condition: Option<String>,
}

/// Between the values of an index in one text, and between a value and its operator.
const BETWEEN: [char; 2] = ['\u{1f}', '\u{1e}'];

const OF_POSTGRES: &str = "
SELECT c.relname::text, pg_catalog.format('%I.%I', n.nspname, t.relname), (i.indrelid <> pg_catalog.to_regclass($1::text))::integer,
  pg_catalog.string_agg('(' || pg_catalog.pg_get_indexdef(i.indexrelid, k.n, false) || ')'
    || COALESCE((SELECT pg_catalog.format(' COLLATE %I.%I', m.nspname, l.collname) FROM pg_catalog.pg_collation AS l
      JOIN pg_catalog.pg_namespace AS m ON m.oid = l.collnamespace WHERE l.oid = i.indcollation[k.n - 1]), '')
    || pg_catalog.chr(30) || (SELECT pg_catalog.format('OPERATOR(%I.%s)', m.nspname, o.oprname)
      FROM pg_catalog.pg_opclass AS p JOIN pg_catalog.pg_amop AS a
        ON (a.amopfamily, a.amoplefttype, a.amoprighttype, a.amopstrategy) = (p.opcfamily, p.opcintype, p.opcintype, 3)
      JOIN pg_catalog.pg_operator AS o ON o.oid = a.amopopr JOIN pg_catalog.pg_namespace AS m ON m.oid = o.oprnamespace
      WHERE p.oid = i.indclass[k.n - 1]), pg_catalog.chr(31)),
  pg_catalog.pg_get_expr(i.indpred, i.indrelid),
  pg_catalog.max(pg_catalog.to_jsonb(i) OPERATOR(pg_catalog.->>) 'indnullsnotdistinct')
FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class AS t ON t.oid = i.indrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
CROSS JOIN LATERAL pg_catalog.generate_series(1, i.indnkeyatts::integer) AS k(n)
WHERE i.indisunique AND i.indisvalid AND t.relkind = 'r'
  AND (t.oid = pg_catalog.to_regclass($1::text)
       OR t.oid IN (SELECT p.relid FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass($1::text)) AS p))
GROUP BY c.relname, n.nspname, t.relname, i.indexrelid, i.indrelid, i.indpred";

/// Indexes of expressions are left out: no pragma tells them.
const OF_SQLITE: &str = "
SELECT group_concat(t.name || '.' || i.name, ', '), NULL, 0,
  group_concat('\"' || replace(i.name, '\"', '\"\"') || '\" COLLATE ' || i.coll || char(30) || '=', char(31)),
  (SELECT s.sql FROM main.sqlite_schema AS s WHERE l.partial AND s.type = 'index' AND s.name = l.name), NULL
FROM main.sqlite_schema AS t JOIN pragma_index_list(t.name, 'main') AS l JOIN pragma_index_xinfo(l.name, 'main') AS i
WHERE t.type = 'table' AND t.name = ?1 COLLATE NOCASE AND l.\"unique\" AND i.key GROUP BY l.name HAVING min(i.cid) >= 0";

/// The unique indexes that a job's row comes under; [`unique_key`] reads a row of it.
pub fn unique_keys(jobs: &Jobs, dialect: &dyn Dialect) -> Option<Statement> {
    let table = jobs.queue.tables.get(&jobs.claim.lock_table)?;
    let (sql, name) = match dialect.engine() {
        Engine::Postgres => (OF_POSTGRES, dialect.table(table)),
        Engine::Sqlite => (OF_SQLITE, table.name.clone()),
    };
    Some(Statement { sql: sql.to_owned(), params: vec![Param::Cell(Cell::Text(name))] })
}

/// The index in a row of [`unique_keys`], if the action writes a column of it or of its condition.
pub fn unique_key(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, row: &[Cell]) -> Option<UniqueKey> {
    let text = |n: usize| row.get(n).filter(|cell| !cell.is_null()).and_then(Cell::to_text);
    let condition = match (text(4), dialect.engine()) {
        (Some(declared), Engine::Sqlite) => Some(condition_of_index(&declared)),
        (condition, _) => condition,
    };
    let values = text(3)?;
    let owned = |(value, operator): (&str, &str)| (value.to_owned(), operator.to_owned());
    let names = format!("{values} {}", condition.as_deref().unwrap_or_default());
    assigned(action).any(|assignment| names.contains(&assignment.column.name)).then(|| UniqueKey {
        constraint: text(0).unwrap_or_default(),
        table: text(1)
            .or_else(|| Some(dialect.table(jobs.queue.tables.get(&jobs.claim.lock_table)?)))
            .unwrap_or_default(),
        is_of_partition: row.get(2) == Some(&Cell::Integer(1)),
        values: values.split(BETWEEN[0]).filter_map(|one| one.split_once(BETWEEN[1])).map(owned).collect(),
        nulls_are_equal: text(5).as_deref() == Some("true"),
        condition,
    })
}

/// The numbers of those jobs (from 1) whose rows another row keeps from what the action writes, each with that row's
/// key.
pub fn key_holders(
    jobs: &Jobs,
    action: &ActionSpec,
    index: &UniqueKey,
    keys: &[&Key],
    occasion: Occasion<'_>,
) -> Statement {
    let dialect = dialect(jobs.queue.engine);
    let mut sql = Sql::new(dialect);
    let own: Vec<String> = (1..=jobs.claim.key.len()).map(|n| format!("jobdoctor_k{n}")).collect();
    // An index may name its columns with the table.
    let table = jobs.queue.tables.get(&jobs.claim.lock_table).map(|table| quoted(&table.name)).unwrap_or_default();
    let other: Vec<String> = jobs.claim.key.iter().map(|column| format!("{table}.{}", quoted(&column.name))).collect();
    let texts: Vec<String> = other.iter().map(|column| dialect.as_text(column)).collect();
    sql.push(&format!("SELECT a.jobdoctor_n, {} FROM (SELECT jobdoctor_n, {}", texts.join(", "), own.join(", ")));
    let values = index.values.iter().enumerate();
    values.for_each(|(n, (value, _))| _ = sql.push(&format!(", ({value}) AS jobdoctor_v{n}")));
    sql.push(" FROM (SELECT w.n AS jobdoctor_n");
    let keyed = jobs.claim.key.iter().zip(&own);
    keyed.for_each(|(column, own)| _ = sql.push(&format!(", {} AS {own}", column_sql(column))));
    for column in &jobs.row {
        sql.push(", ");
        after(&mut sql, jobs, action, column, occasion);
    }
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    sql.push(" FROM ").wanted_rows(jobs, &rows);
    if index.is_of_partition {
        let partition = literal(&index.table);
        sql.push(&format!(" AND {}.tableoid = pg_catalog.to_regclass({partition})", quoted(&jobs.claim.lock)));
    }
    let condition = index.condition.as_deref().unwrap_or("true");
    sql.push(&format!(") AS {table} WHERE ({condition})) AS a JOIN {} AS {table} ON ({condition})", index.table));
    for (n, (value, equals)) in index.values.iter().enumerate() {
        sql.push(&format!(" AND (({value}) {equals} a.jobdoctor_v{n}"));
        if index.nulls_are_equal {
            sql.push(&format!(" OR ({value}) IS NULL AND a.jobdoctor_v{n} IS NULL"));
        }
        sql.push(")");
    }
    let equals = dialect.equals();
    let same: Vec<String> = other.iter().zip(&own).map(|(other, own)| format!("{other} {equals} a.{own}")).collect();
    sql.push(&format!(" AND NOT ({})", same.join(" AND ")));
    sql.finish()
}
