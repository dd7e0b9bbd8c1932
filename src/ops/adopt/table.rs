//! The table that is adopted, as the catalog describes it: its columns with their roles, its keys and what refers to
//! it.

use super::roles::{Class, Role, class, role};
use crate::model::Engine;
use crate::ops::OpsError;
use crate::ops::nearest_tables::suggestion;
use crate::preset::ident::{qualified, quoted};
use crate::preset::{LiveColumn, LiveSchema, LiveTable, meanings};
use crate::store::{Reader, StoreError, StoreErrorKind, catalog};

/// The table, with what the catalog says beyond [`LiveTable`].
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    /// What the mapping calls it.
    pub(super) written: String,
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
        let sql = qualified(&live.schema, &live.name);
        let written =
            if live.visible { live.name.clone() } else { format!("{}.{}", word(&live.schema), word(&live.name)) };
        let mut subject = Subject { written, sql, ..Subject::default() };
        for row in reader.texts(&catalog::keys_and_references(engine, &live))? {
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
        let comments =
            catalog::comments(engine, &live).map(|asked| reader.texts(&asked)).transpose()?.unwrap_or_default();
        let readable = live.columns.iter().filter(|column| column.readable);
        subject.columns = readable.map(|column| subject_column(&schema_live, column, &comments)).collect();
        subject.live = live;
        Ok(subject)
    }

    pub(super) fn column(&self, name: &str) -> Option<&SubjectColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

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

/// A part of a table's name in a mapping, quoted if a dot or a quote in it would be taken for more than a part of the
/// name.
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
    if !elsewhere.is_empty() {
        let message = format!("there is no table `{name}`{within}; there is {}", elsewhere.join(", "));
        return Ok(StoreError::new(StoreErrorKind::Missing, message));
    }
    let known: Vec<String> = reader.texts(catalog::all_tables(engine))?.into_iter().flatten().collect();
    let bare = meanings(name).pop().map_or_else(|| name.to_owned(), |(_, bare)| bare);
    let hint = suggestion(&known, &bare);
    let mut message = format!("there is no table `{name}`{within}{hint}");
    if hint.is_empty() && !known.is_empty() {
        let some: Vec<&str> = known.iter().take(8).map(String::as_str).collect();
        message.push_str(&format!("; there are: {}", some.join(", ")));
    }
    Ok(StoreError::new(StoreErrorKind::Missing, message))
}
