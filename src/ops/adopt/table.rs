//! The table that is adopted, as the catalog describes it: its columns with their roles, its keys and what refers to it.

use super::roles::{Class, Role, class, role};
use crate::model::Engine;
use crate::ops::OpsError;
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::{LiveColumn, LiveSchema, LiveTable, all_tables_sql, did_you_mean, meanings};
use crate::store::{Reader, StoreError, StoreErrorKind};

/// The table, with what the catalog says beyond [`LiveTable`].
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    /// What the mapping calls it.
    pub(super) written: String,
    /// Its name in statements.
    pub(super) sql: String,
    pub(super) live: LiveTable,
    /// Its columns that the role may read.
    pub(super) columns: Vec<SubjectColumn>,
    pub(super) primary: Vec<String>,
    /// Columns with the table and column that they refer to.
    pub(super) foreign: Vec<Foreign>,
    /// Tables that refer to it.
    pub(super) referred_from: Vec<String>,
}

/// A column with what it probably keeps.
#[derive(Debug, Clone)]
pub(super) struct SubjectColumn {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) class: Class,
    pub(super) role: Option<Role>,
    /// The labels of an enum.
    pub(super) labels: Option<Vec<String>>,
    /// The comment in the catalog.
    pub(super) comment: Option<String>,
}

/// A foreign key of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foreign {
    pub(super) column: String,
    pub(super) schema: String,
    pub(super) table: String,
    pub(super) to: String,
}

impl Subject {
    /// Finds the table.
    ///
    /// # Errors
    /// When there is no such table, with the nearest names.
    pub(super) fn find(
        reader: &mut dyn Reader,
        engine: Engine,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Subject, OpsError> {
        let names: Vec<String> = meanings(name).into_iter().map(|(_, name)| name).collect();
        let schema_live = reader.live_schema(&names)?;
        let Some(live) = schema_live.table_meant(schema, name).cloned() else {
            return Err(missing(reader, engine, schema, name, &schema_live)?.into());
        };
        let sql = table_sql(engine, &live.schema, &live.name);
        let is_plain = engine == Engine::Sqlite || live.visible;
        let written = if is_plain { live.name.clone() } else { format!("{}.{}", word(&live.schema), word(&live.name)) };
        let mut subject = Subject { written, sql, ..Subject::default() };
        for row in reader.texts(&facts(engine, &live))? {
            let [kind, a, b, c, d] = row.as_slice() else { continue };
            match kind.as_str() {
                "primary" => subject.primary.push(a.clone()),
                "foreign" => {
                    let (column, schema, table, to) = (a.clone(), b.clone(), c.clone(), d.clone());
                    subject.foreign.push(Foreign { column, schema, table, to });
                }
                "from" => subject.referred_from.push(a.clone()),
                _ => {}
            }
        }
        let comments = if engine == Engine::Postgres { reader.texts(&comments(&live))? } else { Vec::new() };
        let readable = live.columns.iter().filter(|column| column.readable);
        subject.columns = readable.map(|column| subject_column(&schema_live, column, &comments)).collect();
        subject.live = live;
        Ok(subject)
    }

    /// The column of that name.
    pub(super) fn column(&self, name: &str) -> Option<&SubjectColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns of that role.
    pub(super) fn of_role(&self, role: Role) -> impl Iterator<Item = &SubjectColumn> {
        self.columns.iter().filter(move |column| column.role == Some(role))
    }

    /// The columns whose rows no role of this database user may read.
    pub(super) fn unreadable(&self) -> Vec<&str> {
        self.live.columns.iter().filter(|column| !column.readable).map(|column| column.name.as_str()).collect()
    }

    /// The key that tells its rows apart: the primary key, or else a unique one without NULLs.
    pub(super) fn key(&self) -> Option<Vec<String>> {
        if !self.primary.is_empty() {
            return Some(self.primary.clone());
        }
        let is_set = |key: &&Vec<String>| key.iter().all(|column| self.live.not_null.contains(column));
        self.live.unique.iter().filter(is_set).min_by_key(|key| key.len()).cloned()
    }
}

fn subject_column(schema: &LiveSchema, column: &LiveColumn, comments: &[Vec<String>]) -> SubjectColumn {
    let labels = schema.labels(column).map(<[String]>::to_vec);
    let class = class(&column.type_name);
    let comment = comments.iter().find_map(|row| (row.first() == Some(&column.name)).then(|| row.get(1)).flatten());
    SubjectColumn {
        role: role(&column.name, class, labels.is_some()),
        name: column.name.clone(),
        type_name: column.type_name.clone(),
        class,
        labels,
        comment: comment.filter(|comment| !comment.is_empty()).cloned(),
    }
}

/// A table's name in a statement.
pub(super) fn table_sql(engine: Engine, schema: &str, name: &str) -> String {
    match engine {
        Engine::Postgres => qualified(schema, name),
        Engine::Sqlite => quoted(name),
    }
}

/// A part of a table's name in a mapping, quoted if a dot or a quote in it would be taken for more than a part of the name.
pub(super) fn word(name: &str) -> String {
    if name.contains(['.', '"']) { quoted(name) } else { name.to_owned() }
}

fn missing(
    reader: &mut dyn Reader,
    engine: Engine,
    schema: Option<&str>,
    name: &str,
    live: &LiveSchema,
) -> Result<StoreError, StoreError> {
    let elsewhere = live.tables.iter().map(|table| format!("{}.{}", table.schema, table.name)).collect::<Vec<_>>();
    let within = schema.map_or_else(String::new, |schema| format!(" in schema `{schema}`"));
    if engine == Engine::Postgres && !elsewhere.is_empty() {
        let message = format!("there is no table `{name}`{within}; there is {}", elsewhere.join(", "));
        return Ok(StoreError::new(StoreErrorKind::Missing, message));
    }
    let known: Vec<String> = reader.texts(all_tables_sql(engine))?.into_iter().flatten().collect();
    let bare = meanings(name).pop().map_or_else(|| name.to_owned(), |(_, bare)| bare);
    let hint = match known.iter().find(|known| known.to_lowercase() == bare.to_lowercase()) {
        Some(known) => format!(", did you mean `{known}`?"),
        None => did_you_mean(&bare, known.iter().map(String::as_str)),
    };
    let mut message = format!("there is no table `{name}`{within}{hint}");
    if hint.is_empty() && !known.is_empty() {
        let some: Vec<&str> = known.iter().take(8).map(String::as_str).collect();
        message.push_str(&format!("; there are: {}", some.join(", ")));
    }
    Ok(StoreError::new(StoreErrorKind::Missing, message))
}

/// The query for keys and references: rows of five texts, the kind first.
fn facts(engine: Engine, table: &LiveTable) -> String {
    let name = literal(&table.name);
    match engine {
        Engine::Sqlite => format!(
            "SELECT 'primary', name, '', '', '' FROM pragma_table_xinfo({name}, 'main') WHERE pk > 0 \
             UNION ALL SELECT 'foreign', \"from\", '', \"table\", coalesce(\"to\", (SELECT p.name FROM \
             pragma_table_info(f.\"table\", 'main') AS p WHERE p.pk = 1)) FROM pragma_foreign_key_list({name}, 'main') AS f \
             UNION ALL SELECT 'from', t.name, '', '', '' FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f \
             WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND f.\"table\" = {name} COLLATE NOCASE AND t.name <> {name}"
        ),
        Engine::Postgres => {
            let oid = format!("{}::regclass", literal(&qualified(&table.schema, &table.name)));
            format!(
                "SELECT 'primary', a.attname::text, '', '', '' FROM pg_catalog.pg_index AS i \
                 CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, n) \
                 JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum \
                 WHERE i.indisprimary AND i.indrelid = {oid} AND k.n <= i.indnkeyatts \
                 UNION ALL SELECT 'foreign', a.attname::text, n.nspname::text, t.relname::text, b.attname::text \
                 FROM pg_catalog.pg_constraint AS c JOIN pg_catalog.pg_class AS t ON t.oid = c.confrelid \
                 JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace \
                 JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
                 JOIN pg_catalog.pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1] \
                 WHERE c.contype = 'f' AND c.conrelid = {oid} AND pg_catalog.cardinality(c.conkey) = 1 \
                 UNION ALL SELECT DISTINCT 'from', t.relname::text, '', '', '' FROM pg_catalog.pg_constraint AS c \
                 JOIN pg_catalog.pg_class AS t ON t.oid = c.conrelid \
                 WHERE c.contype = 'f' AND c.confrelid = {oid} AND c.conrelid <> c.confrelid"
            )
        }
    }
}

fn comments(table: &LiveTable) -> String {
    let oid = format!("{}::regclass", literal(&qualified(&table.schema, &table.name)));
    format!(
        "SELECT a.attname::text, pg_catalog.left(pg_catalog.col_description(a.attrelid, a.attnum), 200) \
         FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = {oid} AND a.attnum > 0 \
         AND pg_catalog.col_description(a.attrelid, a.attnum) IS NOT NULL"
    )
}
