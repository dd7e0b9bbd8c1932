//! Every scene on SQLite, once more with a conflict clause on each unique key of the queue's tables: it ends as without, to the last
//! column of the last row.

use super::database::nothing_is_wrong;
use super::{Stage, play, stages};
use crate::support::dice::one_in;
use jobdoctor::model::Engine;
use rusqlite::Connection;

const CLAUSES: [&str; 4] = ["REPLACE", "IGNORE", "FAIL", "ROLLBACK"];

/// The unique keys of a table, each as its columns in brackets; those with a condition or an expression have no such clause.
const KEYS: &str = "SELECT DISTINCT (SELECT group_concat('\"' || i.name || '\"') FROM pragma_index_info(l.name) AS i)
    FROM pragma_index_list(?1) AS l WHERE l.\"unique\" AND NOT l.partial
    AND NOT EXISTS (SELECT 1 FROM pragma_index_info(l.name) AS i WHERE i.name IS NULL)
    UNION SELECT group_concat('\"' || name || '\"') FROM pragma_table_info(?1) WHERE pk > 0 HAVING count(*) > 0";

/// The stage with that clause on every unique key; `None` where no table has one.
fn with_clause(stage: &Stage, clause: &str) -> Option<Stage> {
    let made = Connection::open_in_memory().unwrap();
    made.execute_batch(&stage.schema).unwrap();
    let tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let tables: Vec<(String, String)> = {
        let mut prepared = made.prepare(tables).unwrap();
        let rows = prepared.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let mut schema = stage.schema.clone();
    for (table, sql) in tables {
        let mut prepared = made.prepare(KEYS).unwrap();
        let keys = prepared.query_map([&table], |row| row.get::<_, String>(0)).unwrap();
        let keys: String = keys.map(|key| format!(", UNIQUE ({}) ON CONFLICT {clause}", key.unwrap())).collect();
        let (open, close) = (sql.find('(').unwrap(), sql.rfind(')').unwrap());
        assert!(schema.contains(&sql[open..]), "{stage}: {table} is not in its schema as it was written");
        schema = schema.replacen(&sql[open..], &format!("{}{keys}{}", &sql[open..close], &sql[close..]), 1);
    }
    (schema != stage.schema).then(|| stage.with_schema(schema))
}

#[test]
fn the_clause_of_a_table_decides_nothing() {
    let stages: Vec<Stage> = stages().into_iter().filter(|stage| stage.engine == Engine::Sqlite).collect();
    let with = |clause| stages.iter().filter_map(move |stage| with_clause(stage, clause));
    let stages: Vec<Stage> = CLAUSES.into_iter().flat_map(with).collect();
    assert!(stages.len() > 40, "{}", stages.len());
    nothing_is_wrong(&one_in(6, stages), |databases, stage| {
        let mut written = play::written(stage);
        written.retain(|written| {
            let mut is_reached = || written.is_reached(databases, play::catalog(&stage.queue));
            !(is_reached() || stage.may_leave_out_a_fraction() && is_reached())
        });
        written.into_iter().map(|missed| format!("{stage}: {}", missed.told)).collect::<Vec<_>>()
    });
}
