//! Reads the live schema from `pg_catalog`; `information_schema` would hide tables on which the role has no rights.

use super::driver::Answer;
use super::session::{PostgresSession, is_true};
use crate::model::{Cell, Engine};
use crate::preset::ident::literal;
use crate::preset::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
use crate::store::StoreError;
use crate::store::sql::text;
use std::collections::{BTreeMap, BTreeSet};

/// The oids of the tables, kept for the questions about them: all are asked in one round trip, and the planner takes
/// longer for each of them than the server for its answer, so that they are plain and the client puts them together.
const FIND: &str = "SELECT pg_catalog.set_config('jobdoctor.tables', pg_catalog.array_to_string(ARRAY(
  SELECT c.oid FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relname = ANY ($names) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
  AND n.nspname NOT LIKE 'pg_temp%'), ','), true)";
const OIDS: &str = "pg_catalog.string_to_array(pg_catalog.current_setting('jobdoctor.tables'), ',')::oid[]";

/// `pg_relation_is_updatable` opens the table and waits for its lock, so it is asked of views and foreign tables alone.
const TABLES: &str = "
SELECT c.oid::text, n.nspname::text, c.relname::text,
       pg_catalog.row_security_active(c.oid),
       pg_catalog.has_table_privilege(c.oid, 'INSERT'), pg_catalog.has_table_privilege(c.oid, 'DELETE'),
       c.relkind IN ('v', 'm'),
       (SELECT p.partattrs::text FROM pg_catalog.pg_partitioned_table AS p WHERE p.partrelid = c.oid),
       CASE WHEN c.relkind IN ('v', 'm', 'f') THEN pg_catalog.pg_relation_is_updatable(c.oid, true) & 4 = 0 END,
       pg_catalog.pg_get_userbyid(c.relowner)::text,
       CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_relation_is_updatable(c.oid, false) & 4 = 0 END,
       pg_catalog.has_schema_privilege(n.oid, 'USAGE'), c.relkind = 'f',
       c.relkind <> 'p' AND EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid)
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = ANY ($tables)
ORDER BY n.nspname, c.relname";

const COLUMNS: &str = "
SELECT a.attrelid::text, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.atttypid::text,
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'UPDATE'),
       a.attnum::text, a.attnotnull, a.atthasdef, a.attcollation::text,
       (SELECT NOT l.collisdeterministic FROM pg_catalog.pg_collation AS l WHERE l.oid = a.attcollation)
FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = ANY ($tables) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum";

/// The types that need a second look: domains, with their base type, and types outside of `pg_catalog`.
const TYPES: &str = "
SELECT t.oid::text, CASE WHEN t.typtype = 'd' THEN t.typbasetype::text END,
       CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END,
       CASE WHEN t.typtype = 'b' AND t.typnamespace <> 'pg_catalog'::regnamespace THEN t.typname::text END
FROM pg_catalog.pg_type AS t WHERE t.typtype = 'd' OR t.typtype = 'b' AND t.typcategory <> 'A' AND t.oid >= 16384";

const INDEXES: &str = "
SELECT i.indrelid::text, i.indexrelid::text, i.indisunique AND i.indpred IS NULL,
       pg_catalog.pg_get_expr(i.indpred, i.indrelid), i.indkey::text, i.indcollation::text, i.indnkeyatts::text
FROM pg_catalog.pg_index AS i WHERE i.indrelid = ANY ($tables) AND i.indisvalid ORDER BY i.indrelid, i.indexrelid";

/// The views that a materialized one is below, down to the last, or that are one.
const MATERIALIZED: &str = "
WITH RECURSIVE under(top, oid) AS (
  SELECT v.oid, v.oid FROM pg_catalog.pg_class AS v WHERE v.oid = ANY ($tables) AND v.relkind IN ('v', 'm')
  UNION
  SELECT under.top, d.refobjid
  FROM under JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = under.oid
  JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_class'::regclass)
SELECT DISTINCT under.top::text FROM under JOIN pg_catalog.pg_class AS u ON u.oid = under.oid WHERE u.relkind = 'm'";

/// Whether a table's owner is to be trusted, and the roles of which it is a member. `circle` has each role's own
/// memberships: `pg_has_role` would make a superuser a member of every role, and so every stranger one to be trusted;
/// so would Postgres' own roles, which many are members of.
const OWNERS: &str = "
WITH RECURSIVE circle(member, role) AS (
  SELECT r.oid, r.oid FROM pg_catalog.pg_roles AS r
  WHERE r.rolname = current_user OR r.oid IN (SELECT d.datdba FROM pg_catalog.pg_database AS d UNION ALL
    SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = ANY ($tables))
  UNION
  SELECT circle.member, m.roleid FROM circle JOIN pg_catalog.pg_auth_members AS m ON m.member = circle.role
  JOIN pg_catalog.pg_roles AS g ON g.oid = m.roleid AND NOT pg_catalog.starts_with(g.rolname::text, 'pg_'))
SELECT c.oid::text, o.rolsuper OR EXISTS (
         SELECT FROM circle JOIN pg_catalog.pg_roles AS r ON r.oid = circle.member WHERE circle.role = c.relowner
         AND (r.rolname = current_user OR r.oid = (
           SELECT d.datdba FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()))),
       pg_catalog.to_json(ARRAY(SELECT r.rolname::text FROM circle JOIN pg_catalog.pg_roles AS r ON r.oid = circle.role
         WHERE circle.member = c.relowner))::text
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner WHERE c.oid = ANY ($tables)";

const TRIGGERS: &str = "
SELECT t.tgrelid::text, t.tgname::text FROM pg_catalog.pg_trigger AS t
WHERE t.tgrelid = ANY ($tables) AND NOT t.tgisinternal AND t.tgenabled <> 'D' ORDER BY t.tgname";

/// Sequences that a column's default uses and the role may not. Identity columns need no right on theirs. The CASE is
/// there because conditions are evaluated in any order, and the right can be asked of sequences only.
const CLOSED_SEQUENCES: &str = "
SELECT d.refobjid::text, d.objid::regclass::text
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refobjid = ANY ($tables) AND d.deptype = 'a'
  AND a.attidentity = ''
  AND CASE WHEN s.relkind = 'S' THEN NOT pg_catalog.has_sequence_privilege(s.oid, 'USAGE, UPDATE') END
ORDER BY 1, 2";

const PARTITIONS: &str = "
SELECT t.oid::text, n.nspname::text, c.relname::text
FROM pg_catalog.pg_class AS t
CROSS JOIN LATERAL pg_catalog.pg_partition_tree(CASE WHEN t.relkind = 'p' THEN t.oid::regclass END) AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE t.oid = ANY ($tables) AND p.isleaf AND p.relid <> t.oid ORDER BY n.nspname, c.relname";

const ENUMS: &str = "
SELECT t.typname::text, e.enumlabel::text FROM pg_catalog.pg_enum AS e
JOIN pg_catalog.pg_type AS t ON t.oid = e.enumtypid ORDER BY t.typname, e.enumsortorder";

const ROLE: &str = "SELECT current_user";

pub(super) fn questions(names: &[String]) -> String {
    let names = names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let find = FIND.replace("$names", &format!("ARRAY[{names}]::name[]"));
    let questions = [&find, TABLES, COLUMNS, TYPES, INDEXES, TRIGGERS, PARTITIONS, CLOSED_SEQUENCES, ENUMS, ROLE];
    questions.join(";").replace("$tables", OIDS)
}

pub(super) fn live_schema(session: &mut PostgresSession, names: &[String]) -> Result<LiveSchema, StoreError> {
    let (asked, answers) = std::mem::take(&mut session.catalog);
    let answers = if !names.is_empty() && asked == names { answers } else { session.answers(&questions(names))? };
    let mut answers = answers.into_iter().skip(1);
    let mut next = || answers.next().unwrap_or_default();
    let [found, columns, types, indexes, triggers, partitions, closed, enum_labels, role] = [(); 9].map(|()| next());
    let types: BTreeMap<String, &Vec<Cell>> = types.iter().map(|row| (text(row, 0), row)).collect();
    // What few databases have to be asked costs a round trip of its own there.
    let [materialized, owners] = rare(session, &found)?;
    let mut tables: Vec<(String, LiveTable)> = Vec::new();
    // Tables in schemas that the role may not use; no search path finds them.
    let mut closed_schemas: Vec<usize> = Vec::new();
    for row in &found {
        if !is_true(row, 11) {
            closed_schemas.push(tables.len());
        }
        tables.push((text(row, 0), table(row, &materialized, &owners)));
    }
    for name in names {
        let visible = visible(name, &session.visible, &tables, &closed_schemas);
        if let Some((_, table)) = visible.and_then(|at| tables.get_mut(at)) {
            table.visible = true;
        }
    }
    for (oid, table) in &mut tables {
        let is_of_table = |row: &&Vec<Cell>| text(row, 0) == *oid;
        let partition_key = found.iter().find(is_of_table).map(|row| text(row, 7)).unwrap_or_default();
        let own: Vec<&Vec<Cell>> = columns.iter().filter(is_of_table).collect();
        for row in &own {
            if words(&partition_key).any(|number| number == text(row, 6)) {
                table.key_columns.insert(text(row, 1));
            }
            add_column(table, row, &types);
        }
        indexes.iter().filter(is_of_table).for_each(|row| add_index(table, row, &own));
        if let Some(known) = &mut table.partitions {
            known.extend(partitions.iter().filter(is_of_table).map(|row| (text(row, 1), text(row, 2))));
        }
        table.closed_sequences = closed.iter().filter(is_of_table).map(|row| text(row, 1)).collect();
        table.triggers = triggers.iter().filter(is_of_table).map(|row| text(row, 1)).collect();
    }
    let mut enums: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in enum_labels {
        enums.entry(text(&row, 0)).or_default().push(text(&row, 1));
    }
    let tables = tables.into_iter().map(|(_, table)| table).collect();
    let role = role.first().map(|row| text(row, 0));
    Ok(LiveSchema { engine: Engine::Postgres, tables, role, enums })
}

/// Finds the table that an unqualified name means: the one in the first schema of the path that has one.
fn visible(name: &str, path: &[String], tables: &[(String, LiveTable)], closed_schemas: &[usize]) -> Option<usize> {
    let is_named = |table: &LiveTable| table.name == *name;
    let in_schema = |schema: &String| tables.iter().position(|(_, table)| is_named(table) && table.schema == *schema);
    // Only the right to the schema may be missing. What is missing is said of the table then, not that there is none.
    let closed = || match tables.iter().enumerate().filter(|(_, (_, table))| is_named(table)).collect::<Vec<_>>()[..] {
        [(only, _)] if closed_schemas.contains(&only) => Some(only),
        _ => None,
    };
    path.iter().find_map(in_schema).or_else(closed)
}

/// Reads a row of [`TABLES`]: the table without its columns and indexes.
fn table(row: &[Cell], materialized: &Answer, owners: &Answer) -> LiveTable {
    let (oid, owner) = (text(row, 0), text(row, 9));
    let of_owner = owners.iter().find(|of| text(of, 0) == oid);
    let owner_roles = of_owner
        .map_or_else(|| BTreeSet::from([owner.clone()]), |of| serde_json::from_str(&text(of, 2)).unwrap_or_default());
    LiveTable {
        schema: text(row, 1),
        name: text(row, 2),
        row_security: is_true(row, 3),
        may_insert: is_true(row, 4),
        may_delete: is_true(row, 5),
        is_view: is_true(row, 6),
        partitions: row.get(7).is_some_and(|key| !key.is_null()).then(Vec::new),
        is_fixed: is_true(row, 8),
        is_materialized: materialized.iter().any(|top| text(top, 0) == oid),
        is_derived: is_true(row, 10),
        is_foreign: is_true(row, 12),
        has_heirs: is_true(row, 13),
        owner,
        is_of_trusted_owner: of_owner.is_none_or(|of| is_true(of, 1)),
        owner_roles,
        ..LiveTable::default()
    }
}

/// Adds the column of a row of [`COLUMNS`].
fn add_column(table: &mut LiveTable, row: &[Cell], types: &BTreeMap<String, &Vec<Cell>>) {
    let name = text(row, 1);
    table.not_null.extend(is_true(row, 7).then(|| name.clone()));
    table.filled.extend(is_true(row, 8).then(|| name.clone()));
    let (type_name, equality) = base_type(types, text(row, 3), text(row, 2));
    let (readable, writable) = (is_true(row, 4), is_true(row, 5));
    table.columns.push(LiveColumn { name, type_name, equality, readable, writable });
}

/// Adds the index of a row of [`INDEXES`] on a table with these columns.
fn add_index(table: &mut LiveTable, row: &[Cell], columns: &[&Vec<Cell>]) {
    let (is_unique, keys, collations) = (is_true(row, 2), text(row, 4), text(row, 5));
    let keys = words(&keys).zip(words(&collations)).take(text(row, 6).parse().unwrap_or(usize::MAX));
    // Under a collation by which different texts are equal, only an index of that collation tells a column's values
    // apart as the column does.
    let mut tells_apart = true;
    let named = keys.map(|(number, collation)| {
        let column = columns.iter().find(|column| text(column, 6) == number);
        tells_apart &= column.is_none_or(|column| text(column, 9) == collation || !is_true(column, 10));
        column.map(|column| text(column, 1)).unwrap_or_default()
    });
    let columns: Vec<String> = named.collect();
    if is_unique {
        table.key_columns.extend(columns.iter().cloned());
    }
    table.unique.extend(Some(columns.clone()).filter(|_| is_unique && tells_apart));
    table.indexes.push(LiveIndex { columns, condition: row.get(3).and_then(Cell::to_text) });
}

/// The answers to [`MATERIALIZED`], asked if there are views, and [`OWNERS`], asked if the tables have several owners: one
/// may trust itself.
fn rare(session: &mut PostgresSession, found: &Answer) -> Result<[Answer; 2], StoreError> {
    let has_views = found.iter().any(|row| is_true(row, 6));
    let owners: BTreeSet<String> = found.iter().map(|row| text(row, 9)).collect();
    let questions = [(has_views, MATERIALIZED), (owners.len() > 1, OWNERS)];
    let wanted: Vec<&str> = questions.iter().filter(|(is_asked, _)| *is_asked).map(|(_, question)| *question).collect();
    if wanted.is_empty() {
        return Ok([Vec::new(), Vec::new()]);
    }
    let mut answers = session.answers(&wanted.join(";").replace("$tables", OIDS))?.into_iter();
    Ok(questions.map(|(is_asked, _)| if is_asked { answers.next().unwrap_or_default() } else { Vec::new() }))
}

/// The name of a type, and what compares its values where that is not the system's `=`; of a domain those of its base
/// type, in which its values are sent.
fn base_type(types: &BTreeMap<String, &Vec<Cell>>, mut oid: String, mut name: String) -> (String, String) {
    while let Some(base) = types.get(&oid).filter(|row| row.get(1).is_some_and(|base| !base.is_null())) {
        (oid, name) = (text(base, 1), text(base, 2));
    }
    (name, types.get(&oid).map(|row| text(row, 3)).unwrap_or_default())
}

/// The numbers of a catalog's vector.
fn words(vector: &str) -> std::str::SplitWhitespace<'_> {
    vector.split_whitespace()
}
