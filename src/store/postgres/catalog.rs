//! Reads the live schema from `pg_catalog`; `information_schema` would hide tables on which the role has no rights.

use super::session::{PostgresSession, is_true};
use super::snapshot::CLUSTER;
use crate::model::{Cell, Engine};
use crate::preset::ident::literal;
use crate::preset::{LiveColumn, LiveIndex, LiveSchema, LiveTable};
use crate::store::StoreError;
use crate::store::sql::text;
use std::collections::BTreeMap;

/// `under` has each view's tables and views, down to the last; `circle` each role's own memberships. `pg_has_role`
/// would make a superuser a member of every role, and so every stranger one to be trusted; so would Postgres' own
/// roles, which many are members of.
const TABLES: &str = "
WITH RECURSIVE under(top, oid) AS (
  SELECT v.oid, v.oid FROM pg_catalog.pg_class AS v WHERE v.relname = ANY ($names) AND v.relkind IN ('v', 'm')
  UNION
  SELECT under.top, d.refobjid
  FROM under JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = under.oid
  JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_class'::regclass),
circle(member, role) AS (
  SELECT r.oid, r.oid FROM pg_catalog.pg_roles AS r
  WHERE r.rolname = current_user OR r.oid IN (SELECT d.datdba FROM pg_catalog.pg_database AS d UNION ALL
    SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = ANY ($tables))
  UNION
  SELECT circle.member, m.roleid FROM circle JOIN pg_catalog.pg_auth_members AS m ON m.member = circle.role
  JOIN pg_catalog.pg_roles AS g ON g.oid = m.roleid AND NOT pg_catalog.starts_with(g.rolname::text, 'pg_'))
SELECT c.oid::text, n.nspname::text, c.relname::text,
       pg_catalog.row_security_active(c.oid),
       pg_catalog.has_table_privilege(c.oid, 'INSERT'), pg_catalog.has_table_privilege(c.oid, 'DELETE'),
       c.relkind IN ('v', 'm'), c.relkind = 'p',
       pg_catalog.pg_relation_is_updatable(c.oid, true) & 4 = 0,
       EXISTS (SELECT FROM under JOIN pg_catalog.pg_class AS u ON u.oid = under.oid
               WHERE under.top = c.oid AND u.relkind = 'm'),
       c.relkind = 'v' AND pg_catalog.pg_relation_is_updatable(c.oid, false) & 4 = 0,
       pg_catalog.has_schema_privilege(n.oid, 'USAGE'), c.relkind = 'f',
       c.relkind <> 'p' AND EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid),
       o.rolname::text, o.rolsuper OR EXISTS (
         SELECT FROM circle JOIN pg_catalog.pg_roles AS r ON r.oid = circle.member WHERE circle.role = c.relowner
         AND (r.rolname = current_user OR r.oid = (
           SELECT d.datdba FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()))),
       pg_catalog.to_json(ARRAY(SELECT r.rolname::text FROM circle JOIN pg_catalog.pg_roles AS r ON r.oid = circle.role
         WHERE circle.member = c.relowner))::text
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
WHERE c.oid = ANY ($tables)
ORDER BY n.nspname, c.relname";

/// The oids of the tables, for the questions about them: all are asked in one round trip.
const OIDS: &str = "ARRAY(
  SELECT c.oid FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relname = ANY ($names) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
  AND n.nspname NOT LIKE 'pg_temp%')";

/// A column of a domain gets the domain's base type, in which its values are sent.
const COLUMNS: &str = "
SELECT a.attrelid::text, a.attname::text, base.type_name,
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'UPDATE'),
       coalesce(a.attnum = ANY (p.partattrs::smallint[]), false), a.attnotnull, a.atthasdef,
       base.equality
FROM pg_catalog.pg_attribute AS a LEFT JOIN pg_catalog.pg_partitioned_table AS p ON p.partrelid = a.attrelid
CROSS JOIN LATERAL (
  WITH RECURSIVE under(type, modifier) AS (
    SELECT a.atttypid, a.atttypmod
    UNION ALL
    SELECT t.typbasetype, t.typtypmod FROM under JOIN pg_catalog.pg_type AS t ON t.oid = under.type WHERE t.typtype = 'd')
  SELECT pg_catalog.format_type(under.type, under.modifier) AS type_name,
    CASE WHEN t.typtype = 'b' AND t.typcategory <> 'A' AND t.typnamespace <> 'pg_catalog'::regnamespace THEN t.typname::text END AS equality
  FROM under JOIN pg_catalog.pg_type AS t ON t.oid = under.type WHERE t.typtype <> 'd') AS base
WHERE a.attrelid = ANY ($tables) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum";

/// The last column says whether the index tells a column's values apart as the column does: under a collation by which
/// different texts are equal, only an index of that collation does.
const INDEXES: &str = "
SELECT i.indrelid::text, i.indexrelid::text, i.indisunique AND i.indpred IS NULL,
       pg_catalog.pg_get_expr(i.indpred, i.indrelid),
       coalesce(a.attname::text, ''),
       NOT coalesce(l.oid <> i.indcollation[k.n - 1] AND NOT l.collisdeterministic, false)
FROM pg_catalog.pg_index AS i
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, n)
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
WHERE i.indrelid = ANY ($tables) AND i.indisvalid AND k.n <= i.indnkeyatts
ORDER BY i.indrelid, i.indexrelid, k.n";

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
FROM pg_catalog.unnest($tables) AS t(oid)
CROSS JOIN LATERAL pg_catalog.pg_partition_tree(t.oid::regclass) AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE p.isleaf AND p.relid <> t.oid ORDER BY n.nspname, c.relname";

const ENUMS: &str = "
SELECT t.typname::text, e.enumlabel::text FROM pg_catalog.pg_enum AS e
JOIN pg_catalog.pg_type AS t ON t.oid = e.enumtypid ORDER BY t.typname, e.enumsortorder";

const ROLE: &str = "SELECT current_user";

/// Reads the tables of these names.
pub(super) fn live_schema(session: &mut PostgresSession, names: &[String]) -> Result<LiveSchema, StoreError> {
    let names_list = names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let cluster = Some(CLUSTER).filter(|_| session.may_ask_for_cluster);
    let questions = [TABLES, COLUMNS, INDEXES, TRIGGERS, PARTITIONS, CLOSED_SEQUENCES, ENUMS, ROLE];
    let questions = questions.into_iter().chain(cluster).collect::<Vec<_>>().join(";");
    let questions = questions.replace("$tables", OIDS).replace("$names", &format!("ARRAY[{names_list}]::text[]"));
    let mut answers = session.answers(&questions)?.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let [found, columns, indexes, triggers, partitions, closed, enum_labels, role, identity] = [(); 9].map(|()| next());
    session.identity = identity.first().map(|row| text(row, 0));
    let mut tables: Vec<(String, LiveTable)> = Vec::new();
    // Tables in schemas that the role may not use; no search path finds them.
    let mut closed_schemas: Vec<usize> = Vec::new();
    for row in found {
        let table = LiveTable {
            schema: text(&row, 1),
            name: text(&row, 2),
            row_security: is_true(&row, 3),
            may_insert: is_true(&row, 4),
            may_delete: is_true(&row, 5),
            is_view: is_true(&row, 6),
            partitions: is_true(&row, 7).then(Vec::new),
            is_fixed: is_true(&row, 8),
            is_materialized: is_true(&row, 9),
            is_derived: is_true(&row, 10),
            is_foreign: is_true(&row, 12),
            has_heirs: is_true(&row, 13),
            owner: text(&row, 14),
            is_of_trusted_owner: is_true(&row, 15),
            owner_roles: serde_json::from_str(&text(&row, 16)).unwrap_or_default(),
            ..LiveTable::default()
        };
        if !is_true(&row, 11) {
            closed_schemas.push(tables.len());
        }
        tables.push((text(&row, 0), table));
    }
    for name in names {
        let is_named = |table: &LiveTable| table.name == *name;
        // An unqualified name means the table in the first schema of the path that has one.
        let on_path = session
            .visible
            .iter()
            .find_map(|schema| tables.iter().position(|(_, table)| is_named(table) && table.schema == *schema));
        // Only the right to the schema may be missing. What is missing is said of the table then, not that there is
        // none.
        let closed = || match tables.iter().enumerate().filter(|(_, (_, table))| is_named(table)).collect::<Vec<_>>()[..]
        {
            [(only, _)] if closed_schemas.contains(&only) => Some(only),
            _ => None,
        };
        let visible = on_path.or_else(closed);
        if let Some((_, table)) = visible.and_then(|at| tables.get_mut(at)) {
            table.visible = true;
        }
    }
    for (oid, table) in &mut tables {
        for row in columns.iter().filter(|row| text(row, 0) == *oid) {
            if is_true(row, 5) {
                table.key_columns.insert(text(row, 1));
            }
            if is_true(row, 6) {
                table.not_null.insert(text(row, 1));
            }
            if is_true(row, 7) {
                table.filled.insert(text(row, 1));
            }
            table.columns.push(LiveColumn {
                name: text(row, 1),
                type_name: text(row, 2),
                equality: text(row, 8),
                readable: is_true(row, 3),
                writable: is_true(row, 4),
            });
        }
        let mut by_index: BTreeMap<String, (LiveIndex, bool)> = BTreeMap::new();
        for row in indexes.iter().filter(|row| text(row, 0) == *oid) {
            let (index, unique) = by_index.entry(text(row, 1)).or_default();
            index.columns.push(text(row, 4));
            index.condition = row.get(3).and_then(Cell::to_text);
            *unique = is_true(row, 2) && is_true(row, 5) && (*unique || index.columns.len() == 1);
            if is_true(row, 2) {
                table.key_columns.insert(text(row, 4));
            }
        }
        for (index, unique) in by_index.into_values() {
            table.unique.extend(Some(index.columns.clone()).filter(|_| unique));
            table.indexes.push(index);
        }
        let of_table = partitions.iter().filter(|row| text(row, 0) == *oid);
        table.partitions =
            table.partitions.is_some().then(|| of_table.map(|row| (text(row, 1), text(row, 2))).collect());
        table.closed_sequences = closed.iter().filter(|row| text(row, 0) == *oid).map(|row| text(row, 1)).collect();
        table.triggers = triggers.iter().filter(|row| text(row, 0) == *oid).map(|row| text(row, 1)).collect();
    }
    let mut enums: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in enum_labels {
        enums.entry(text(&row, 0)).or_default().push(text(&row, 1));
    }
    let tables = tables.into_iter().map(|(_, table)| table).collect();
    let role = role.first().map(|row| text(row, 0));
    Ok(LiveSchema { engine: Engine::Postgres, tables, role, enums })
}
