//! Questions to an engine's catalog, beyond what [`LiveTable`] knows.

use crate::model::Engine;
use crate::preset::ident::{literal, qualified};
use crate::preset::lex::lex;
use crate::preset::{LiveTable, QUEUE_WORDS, Table, Touch};
use std::collections::BTreeSet;

/// The columns `a` of all tables `c` in the schemas `n` that this role may use.
const OF_POSTGRES: &str = "FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
    AND n.nspname NOT LIKE 'pg_t%' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')";
/// The columns `c` of all tables `t`. Those of a virtual table may need a module that is not here.
const OF_SQLITE: &str = "FROM main.sqlite_schema AS t JOIN pragma_table_xinfo(t.name, 'main') AS c \
    WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'";

/// A boolean question to a server's settings and rights, for the role of this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Whether nothing may be written, by a setting of the role or the database.
    IsReadOnly,
    IsSuperuser,
    /// Whether no trigger fires.
    IsReplica,
    /// Whether it sees what sessions of other roles do.
    SeesSessions,
}

impl Asked {
    pub fn sql(self) -> &'static str {
        match self {
            Asked::IsReadOnly => "SELECT pg_catalog.current_setting('default_transaction_read_only') = 'on'",
            Asked::IsSuperuser => "SELECT pg_catalog.current_setting('is_superuser') = 'on'",
            Asked::IsReplica => "SELECT pg_catalog.current_setting('session_replication_role') = 'replica'",
            Asked::SeesSessions => "SELECT pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE')",
        }
    }
}

/// The condition of a partial index of SQLite, by the statement that made it.
pub fn condition_of_index(declared: &str) -> String {
    let behind = lex(declared, true).skip_while(|token| !token.text.eq_ignore_ascii_case("where")).skip(1);
    behind.map(|token| token.text).collect()
}

/// Asks whether a table has more than so many rows; it counts no further.
pub fn has_more_rows(table: &Table, most: u64) -> String {
    let name = qualified(&table.schema, &table.name);
    format!("SELECT count(*) > {most} FROM (SELECT 1 FROM {name} LIMIT {most} + 1) AS counted")
}

/// Postgres: asks whether a table is unlogged.
pub fn is_unlogged(table: &Table) -> String {
    let name = literal(&qualified(&table.schema, &table.name));
    format!("SELECT c.relpersistence = 'u' FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass({name})")
}

/// Asks for a text, which fails where the database's encoding cannot store it, with [`UNSTORABLE`].
pub fn echo(text: &str) -> String {
    format!("SELECT {}", literal(text))
}

/// The SQLSTATE of a text that the database's encoding cannot store.
pub const UNSTORABLE: &str = "22P05";

/// Asks for the names of all tables and views, for suggestions.
pub fn all_tables(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => {
            "SELECT c.relname::text FROM pg_catalog.pg_class AS c \
             JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
             AND n.nspname NOT LIKE 'pg_toast%' ORDER BY 1 LIMIT 10000"
        }
        Engine::Sqlite => "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY 1 LIMIT 10000",
    }
}

/// Asks for the columns of all tables, with schema and table; on SQLite the schema is empty. On Postgres only for those
/// that show a queue, and those called so.
pub fn columns_of_tables(engine: Engine, called: &[String]) -> String {
    match engine {
        Engine::Postgres => format!(
            "SELECT n.nspname::text, c.relname::text, a.attname::text {OF_POSTGRES} \
             AND (pg_catalog.lower(a.attname::text) ~ '{}' OR pg_catalog.lower(a.attname::text) = ANY (ARRAY[{}]::text[])) \
             ORDER BY n.nspname, c.relname, a.attnum",
            QUEUE_WORDS.concat().join("|"),
            called.iter().map(|name| literal(&name.to_lowercase())).collect::<Vec<_>>().join(", ")
        ),
        Engine::Sqlite => format!("SELECT '', t.name, c.name {OF_SQLITE} ORDER BY t.name, c.cid"),
    }
}

/// Asks for the schemas and names of tables that have such a column, or one of these words in their name.
pub fn tables_like(engine: Engine, column: &str, words: &[&str]) -> String {
    let column = literal(column);
    let like =
        |name: &str| words.iter().map(|word| format!("lower({name}) LIKE '%{word}%'")).collect::<Vec<_>>().join(" OR ");
    match engine {
        Engine::Postgres => format!(
            "SELECT DISTINCT n.nspname::text, c.relname::text {OF_POSTGRES} AND (a.attname = {column} OR {}) ORDER BY 1, 2 LIMIT 20",
            like("c.relname::text")
        ),
        Engine::Sqlite => format!(
            "SELECT DISTINCT 'main', t.name {OF_SQLITE} AND (c.name = {column} OR {}) ORDER BY t.name LIMIT 20",
            like("t.name")
        ),
    }
}

/// The text of a table that `regclass` reads.
fn regclass(schema: &str, name: &str) -> String {
    literal(&qualified(schema, name))
}

/// Asks for a table's keys, references, defaults and constraints: rows of five texts, the kind first (`primary`,
/// `foreign`, `from`, `parent`, `default`, `generated`, `check`; on SQLite `sql`, the table's own text, in place of the last).
pub fn keys_and_references(engine: Engine, table: &LiveTable) -> String {
    let (name, oid) = (literal(&table.name), format!("{}::regclass", regclass(&table.schema, &table.name)));
    match engine {
        Engine::Sqlite => format!(
            "SELECT 'primary', name, '', '', '' FROM pragma_table_xinfo({name}, 'main') WHERE pk > 0 \
             UNION ALL SELECT 'foreign', \"from\", 'main', \"table\", coalesce(\"to\", (SELECT p.name FROM \
             pragma_table_xinfo(f.\"table\", 'main') AS p WHERE p.pk = 1)) FROM pragma_foreign_key_list({name}, 'main') AS f \
             UNION ALL SELECT 'from', f.\"from\", 'main', t.name, coalesce(f.\"to\", \
             (SELECT p.name FROM pragma_table_xinfo({name}, 'main') AS p WHERE p.pk = 1)) FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f \
             WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND f.\"table\" = {name} COLLATE NOCASE AND t.name <> {name} \
             UNION ALL SELECT 'default', name, dflt_value, '', '' FROM pragma_table_xinfo({name}, 'main') WHERE dflt_value <> '' \
             UNION ALL SELECT 'generated', name, '', '', '' FROM pragma_table_xinfo({name}, 'main') WHERE hidden IN (2, 3) \
             UNION ALL SELECT 'sql', '', sql, '', '' FROM main.sqlite_schema WHERE type = 'table' AND name = {name} COLLATE NOCASE"
        ),
        Engine::Postgres => format!(
            "SELECT 'primary', a.attname::text, '', '', '' FROM pg_catalog.pg_index AS i \
             CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, n) \
             JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum \
             WHERE i.indisprimary AND i.indrelid = {oid} AND k.n <= i.indnkeyatts \
             UNION ALL SELECT 'foreign', a.attname::text, n.nspname::text, t.relname::text, b.attname::text \
             FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS t ON t.oid = c.confrelid \
             JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace \
             JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
             JOIN pg_catalog.pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1] \
             WHERE c.contype = 'f' AND c.convalidated AND c.conrelid = {oid} AND pg_catalog.cardinality(c.conkey) = 1 \
             UNION ALL SELECT 'from', a.attname::text, n.nspname::text, t.relname::text, b.attname::text \
             FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS t ON t.oid = c.conrelid \
             JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace \
             JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
             JOIN pg_catalog.pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1] \
             WHERE c.contype = 'f' AND c.confrelid = {oid} AND c.conrelid <> c.confrelid \
             UNION ALL SELECT 'parent', i.inhparent::regclass::text, '', '', '' FROM pg_catalog.pg_inherits AS i \
             JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid WHERE i.inhrelid = {oid} AND c.relispartition \
             UNION ALL SELECT CASE WHEN a.attgenerated = '' THEN 'default' ELSE 'generated' END, a.attname::text, \
             pg_catalog.pg_get_expr(d.adbin, d.adrelid), '', '' \
             FROM pg_catalog.pg_attrdef AS d JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum \
             WHERE d.adrelid = {oid} \
             UNION ALL SELECT 'check', a.attname::text, pg_catalog.pg_get_constraintdef(c.oid), '', '' \
             FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = {oid} \
             AND (c.conrelid = {oid} AND c.conkey = ARRAY[a.attnum] OR c.contypid = a.atttypid AND a.attnum > 0) \
             WHERE c.contype = 'c' AND c.convalidated"
        ),
    }
}

/// Asks for the comments on a table's columns, by column; `None` on an engine without comments.
pub fn comments(engine: Engine, table: &LiveTable) -> Option<String> {
    (engine == Engine::Postgres).then(|| {
        format!(
            "SELECT a.attname::text, pg_catalog.left(pg_catalog.col_description(a.attrelid, a.attnum), 200) \
             FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = {}::regclass AND a.attnum > 0 \
             AND pg_catalog.col_description(a.attrelid, a.attnum) IS NOT NULL",
            regclass(&table.schema, &table.name)
        )
    })
}

/// Asks for the most common values of a column; `None` on an engine that keeps no such statistics.
pub fn common_values(engine: Engine, table: &LiveTable, column: &str) -> Option<String> {
    let [schema, table, column] = [&table.schema, &table.name, column].map(literal);
    (engine == Engine::Postgres).then(|| {
        format!(
            "SELECT unnest(most_common_vals::text::text[]) FROM pg_catalog.pg_stats WHERE schemaname = {schema} \
             AND tablename = {table} AND attname = {column}"
        )
    })
}

/// Asks for the tables whose rows a foreign key deletes or changes along with those of a table, of which rows are
/// deleted or these columns changed (any, where none is named); through further tables too. Before version 15, Postgres
/// deletes a row that moves to another partition.
pub fn followers(engine: Engine, table: &Table, touch: Touch, columns: &BTreeSet<String>) -> String {
    let columns = columns.iter().map(|column| literal(column)).collect::<Vec<_>>().join(", ");
    let is_hit = |condition: String| if columns.is_empty() { "true".to_owned() } else { condition };
    match engine {
        Engine::Postgres => {
            let table = regclass(&table.schema, &table.name);
            let effect = match touch {
                Touch::Delete => "c.confdeltype",
                _ => {
                    "CASE WHEN c.confupdtype = 'a' AND p.relkind = 'p' AND pg_catalog.current_setting('server_version_num')::integer \
                     < 150000 THEN c.confdeltype ELSE c.confupdtype END"
                }
            };
            let is_hit = is_hit(format!("a.attname IN ({columns})"));
            format!(
                "WITH RECURSIVE edges(above, below, effect, is_hit) AS (SELECT c.confrelid, c.conrelid, {effect}, EXISTS (\
                 SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.confrelid AND a.attnum = ANY (c.confkey) AND {is_hit}) \
                 FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS p ON p.oid = c.confrelid WHERE c.contype = 'f' \
                 UNION ALL SELECT i.inhparent, i.inhrelid, 'i', true FROM pg_catalog.pg_inherits AS i \
                 UNION ALL SELECT r.ev_class, d.refobjid, 'i', true FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d \
                 ON d.objid = r.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass \
                 AND d.refclassid = 'pg_catalog.pg_class'::regclass WHERE r.rulename = '_RETURN'), \
                 changed(oid, is_first) AS (SELECT pg_catalog.to_regclass({table})::oid, true UNION SELECT e.below, \
                 c.is_first AND e.effect = 'i' FROM changed AS c JOIN edges AS e ON e.above = c.oid AND e.below <> c.oid \
                 AND e.effect IN ('c', 'i') AND (e.is_hit OR NOT c.is_first)) \
                 SELECT DISTINCT e.below::regclass::text FROM changed AS c JOIN edges AS e ON e.above = c.oid \
                 AND e.effect IN ('c', 'n', 'd') AND (e.is_hit OR NOT c.is_first) ORDER BY 1"
            )
        }
        Engine::Sqlite => {
            let table = literal(&table.name);
            let is_hit = is_hit(format!("coalesce(f.\"to\" COLLATE NOCASE IN ({columns}), true)"));
            let effect = if touch == Touch::Delete { "on_delete" } else { "on_update" };
            format!(
                "WITH RECURSIVE refers(child, parent, effect, is_hit) AS (SELECT m.name, lower(f.\"table\"), f.{effect}, {is_hit} \
                 FROM pragma_foreign_keys AS k, main.sqlite_schema AS m, pragma_foreign_key_list(m.name, 'main') AS f \
                 WHERE k.foreign_keys AND m.type = 'table' AND f.{effect} IN ('CASCADE', 'SET NULL', 'SET DEFAULT')), \
                 changed(name, is_first) AS (SELECT lower({table}), true UNION SELECT lower(r.child), false FROM changed AS c \
                 JOIN refers AS r ON r.parent = c.name AND r.effect = 'CASCADE' AND (r.is_hit OR NOT c.is_first)) \
                 SELECT DISTINCT r.child FROM changed AS c JOIN refers AS r ON r.parent = c.name AND (r.is_hit OR NOT c.is_first) \
                 ORDER BY 1"
            )
        }
    }
}

/// Asks for the rules that rewrite what is written to these tables, by table; `None` on an engine without rules.
pub fn rules(engine: Engine, tables: &[&LiveTable]) -> Option<String> {
    let tables: BTreeSet<String> = tables
        .iter()
        .map(|table| format!("pg_catalog.to_regclass({})", regclass(&table.schema, &table.name)))
        .collect();
    let tables = tables.into_iter().collect::<Vec<_>>().join(", ");
    (engine == Engine::Postgres).then(|| {
        format!(
            "SELECT r.ev_class::regclass::text, string_agg(r.rulename || CASE WHEN r.is_instead THEN ' (instead)' ELSE '' END, ', ' \
             ORDER BY r.rulename) FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class IN ({tables}) AND r.ev_type <> '1' GROUP BY 1 ORDER BY 1"
        )
    })
}

/// Asks whether a key is a rowid of which the highest is free again once its row is gone; `None` on an engine without
/// rowids.
pub fn reuses_ids(engine: Engine, table: &Table, key: &str) -> Option<String> {
    let (name, key) = (literal(&table.name), literal(key));
    engine.has_rowids().then(|| {
        format!(
            "SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo({name}, 'main') WHERE name = {key} COLLATE NOCASE
                 AND pk = 1 AND type = 'INTEGER' COLLATE NOCASE)
             AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema
                 WHERE type = 'table' AND name = {name} COLLATE NOCASE AND sql LIKE '%autoincrement%')"
        )
    })
}
