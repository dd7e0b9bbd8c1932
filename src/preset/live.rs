//! What a database says about its own tables: plain facts, read by a store.

use super::ident::meanings;
use super::queue::{StateValue, Table};
use crate::model::Engine;
use std::collections::{BTreeMap, BTreeSet};

/// The tables of a database that any known preset might mean.
#[derive(Debug, Clone)]
pub struct LiveSchema {
    pub engine: Engine,
    /// The tables of the names asked for, in every schema that the catalog shows.
    pub tables: Vec<LiveTable>,
    /// The role that asks, where the engine has roles.
    pub role: Option<String>,
    /// Enum types and their labels, by type name.
    pub enums: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, Default)]
pub struct LiveTable {
    /// Its schema; `main` on SQLite.
    pub schema: String,
    pub name: String,
    /// The role that owns it; empty where the engine has no roles.
    pub owner: String,
    /// The roles of which its owner is a member, itself among them.
    pub owner_roles: BTreeSet<String>,
    /// True if its owner is a superuser, owns the database, or is a role of which that owner or this role is a member.
    pub is_of_trusted_owner: bool,
    /// True if an unqualified name would find it.
    pub visible: bool,
    pub columns: Vec<LiveColumn>,
    /// Columns of unique indexes that have no condition, and of the partition key. A change of these asks for the
    /// stronger row lock.
    pub key_columns: BTreeSet<String>,
    /// Columns that cannot be NULL. A domain's own NOT NULL is not among them.
    pub not_null: BTreeSet<String>,
    pub filled: BTreeSet<String>,
    /// The columns of each unique index that has no condition, the primary key among them.
    pub unique: Vec<Vec<String>>,
    /// The column that is SQLite's rowid.
    pub rowid: Option<String>,
    /// True for a view, whose rows no index vouches for.
    pub is_view: bool,
    /// True if no role can update its rows: those of a view with a join or DISTINCT, or of a materialized one.
    pub is_fixed: bool,
    /// True for a view that is more than some rows and columns of one table (DISTINCT, GROUP BY, window functions,
    /// joins): its rows cannot be locked.
    pub is_derived: bool,
    /// True for a materialized view, which is as old as its last refresh, and for a view of one.
    pub is_materialized: bool,
    /// True for a foreign table, whose rows another server holds.
    pub is_foreign: bool,
    /// True if other tables inherit from it: a statement on it means their rows too, of which its indexes say nothing.
    pub has_heirs: bool,
    pub indexes: Vec<LiveIndex>,
    /// The schemas and names of the partitions that hold its rows; `None` where it holds them itself.
    pub partitions: Option<Vec<(String, String)>>,
    /// The enabled ones.
    pub triggers: Vec<String>,
    /// True if it declares a conflict clause of its own, on SQLite.
    pub declares_conflict: bool,
    /// Those of its triggers in which a statement says what becomes of a conflict, on SQLite.
    pub conflict_triggers: Vec<String>,
    /// True if row-level security applies to the role that asks.
    pub row_security: bool,
    pub may_insert: bool,
    /// The sequences behind its columns that the role may not draw from.
    pub closed_sequences: Vec<String>,
    pub may_delete: bool,
}

#[derive(Debug, Clone, Default)]
pub struct LiveColumn {
    pub name: String,
    /// Its type: `format_type` on Postgres, the declared type in lower case on SQLite.
    pub type_name: String,
    /// What compares its values where that is not the system's `=`: the type on Postgres, the collation on SQLite.
    pub equality: String,
    pub readable: bool,
    pub writable: bool,
}

#[derive(Debug, Clone, Default)]
pub struct LiveIndex {
    /// Its columns in order; an expression is an empty text.
    pub columns: Vec<String>,
    /// Its condition, as the engine spells it, where it is partial.
    pub condition: Option<String>,
}

impl LiveTable {
    /// How a statement names it.
    pub(super) fn place(&self) -> Table {
        Table {
            schema: self.schema.clone(),
            name: self.name.clone(),
            declares_conflict: self.declares_conflict,
            has_triggers: !self.triggers.is_empty(),
        }
    }

    /// True if some unique index proves that no two rows agree in these columns: it says nothing of the rows of heirs.
    pub fn is_unique(&self, columns: &[&str]) -> bool {
        !self.has_heirs && self.unique.iter().any(|index| index.iter().all(|column| columns.contains(&column.as_str())))
    }

    pub fn column(&self, name: &str) -> Option<&LiveColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl LiveSchema {
    /// The table of that name: in `schema` if one is named, else the visible one.
    pub fn table(&self, schema: Option<&str>, name: &str) -> Option<&LiveTable> {
        let is_same = |a: &str, b: &str| a == b || self.engine.ignores_case_of_names() && a.eq_ignore_ascii_case(b);
        let is_there = |table: &LiveTable| schema.map_or(table.visible, |schema| is_same(schema, &table.schema));
        self.tables.iter().find(|table| is_same(&table.name, name) && is_there(table))
    }

    /// The table that a written name means. A schema that it names counts more than `within`.
    pub fn table_meant(&self, within: Option<&str>, written: &str) -> Option<&LiveTable> {
        meanings(written).iter().find_map(|(schema, name)| self.table(schema.as_deref().or(within), name))
    }

    /// The labels of a column's type, if that is an enum. Enums of one name in several schemas are taken together.
    pub fn labels(&self, column: &LiveColumn) -> Option<&[String]> {
        let name = column.type_name.rsplit('.').next()?.trim_matches('"');
        self.enums.get(name).map(Vec::as_slice)
    }

    /// A column's type, in words, where it can never hold some of these states: an enum without them, or a number, say.
    pub fn type_without(&self, column: &LiveColumn, states: &[StateValue]) -> Option<String> {
        let holds = |state: &&StateValue| match self.labels(column) {
            Some(labels) => labels.contains(&state.stored.to_string()),
            None => !self.engine.has_strict_types() || has_text_of(&column.type_name, &state.stored.to_string()),
        };
        let lacking: Vec<&str> = states.iter().filter(|state| !holds(state)).map(|state| state.name.as_str()).collect();
        let (lacking, type_name) = (lacking.join(", "), &column.type_name);
        match self.labels(column) {
            _ if lacking.is_empty() => None,
            Some(_) => Some(format!("the enum {type_name} without {lacking}")),
            None => Some(format!("of type {type_name}, which cannot hold {lacking}")),
        }
    }

    pub fn schemas_of(&self, name: &str) -> Vec<&str> {
        self.tables.iter().filter(|table| table.name == name).map(|table| table.schema.as_str()).collect()
    }
}

/// Whether Postgres reads that text as a value of a type, as far as the type shows it.
fn has_text_of(type_name: &str, text: &str) -> bool {
    match type_name.split('(').next().unwrap_or_default() {
        array if array.ends_with("[]") => text.starts_with('{'),
        "smallint" | "integer" | "bigint" | "numeric" | "real" | "double precision" => {
            text.trim().parse::<f64>().is_ok()
        }
        "boolean" => ["t", "f", "true", "false"].contains(&text.to_ascii_lowercase().as_str()),
        "json" | "jsonb" => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
        "uuid" => text.chars().filter(char::is_ascii_hexdigit).count() == 32,
        _ => true,
    }
}
