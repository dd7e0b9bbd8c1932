//! Differences between versions of a queue library: a probe and the part of the document it replaces.

use super::SpecError;
use super::fields::Fields;
use super::live::{LiveSchema, LiveTable};
use super::node::{Node, Value};
use super::template::{Piece, Template};
use crate::model::Engine;
use std::collections::BTreeMap;

/// One `[[variant]]`.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) when: Vec<Probe>,
    pub(super) refuse: Option<String>,
    pub(super) overlay: Node,
}

/// One condition of a variant.
#[derive(Debug, Clone)]
pub(super) enum Probe {
    Engine(Engine),
    Table(String, bool),
    Column(String, String, bool),
    Type(String, String, Vec<String>),
    Label(String, String),
    Sql(Template),
}

/// Asks the database one boolean question; NULL counts as no.
pub type Ask<'a, E> = &'a mut dyn FnMut(&str) -> Result<bool, E>;

/// The variants of a document whose engine leaves are picked.
pub(super) fn variants(document: &str, root: &Node) -> Result<Vec<Variant>, SpecError> {
    let Some(Node { value: Value::Array(items), .. }) = root.get("variant") else { return Ok(Vec::new()) };
    items.iter().cloned().map(|node| variant(document, node)).collect()
}

fn variant(document: &str, mut node: Node) -> Result<Variant, SpecError> {
    let missing = |what: &str| SpecError {
        document: document.to_owned(),
        key: "variant".to_owned(),
        line: Some(node.line),
        message: format!("needs `{what}`"),
    };
    let (no_name, no_when) = (missing("name"), missing("when"));
    let Some(Node { value: Value::Text(name), .. }) = node.take("name") else { return Err(no_name) };
    let when = node.take("when").ok_or(no_when)?;
    let refuse = match node.take("refuse") {
        Some(Node { value: Value::Text(why), .. }) => Some(why),
        _ => None,
    };
    let mut when = Fields::of(document, "variant.when", when)?;
    let mut probes = Vec::new();
    if let Some(field) = when.take("engine") {
        let words: Vec<(&str, Engine)> = Engine::ALL.iter().map(|engine| (engine.name(), *engine)).collect();
        probes.push(Probe::Engine(field.word(&words)?));
    }
    for (key, there) in [("table", true), ("no_table", false)] {
        for table in when.texts(key)? {
            probes.push(Probe::Table(table, there));
        }
    }
    for (key, there) in [("column", true), ("no_column", false)] {
        for place in when.take(key).map(|field| field.all_written()).transpose()?.unwrap_or_default() {
            let (table, column) = split(&place.text).ok_or_else(|| place.error("must be `table.column`"))?;
            probes.push(Probe::Column(table, column, there));
        }
    }
    if let Some(field) = when.take("type") {
        for (place, field) in field.table()?.rest() {
            let (table, column) = split(&place).ok_or_else(|| field.error("must be named `table.column`"))?;
            probes.push(Probe::Type(table, column, field.texts()?));
        }
    }
    if let Some(field) = when.take("label") {
        for (type_name, label) in field.text_table()? {
            probes.push(Probe::Label(type_name, label));
        }
    }
    if let Some(field) = when.take("sql") {
        let written = field.written()?;
        let sql = Template::parse(&written.text).map_err(|why| written.error(why.0))?;
        if sql.0.iter().any(|piece| !matches!(piece, Piece::Text(_) | Piece::Name(_))) {
            return Err(written.error("a probe takes no markers but {table}"));
        }
        probes.push(Probe::Sql(sql));
    }
    when.finish()?;
    Ok(Variant { name, when: probes, refuse, overlay: node })
}

fn split(place: &str) -> Option<(String, String)> {
    place.split_once('.').map(|(table, column)| (table.to_owned(), column.to_owned()))
}

/// The tables of a document, for the probes: live ones by logical name, absent ones as `None`.
pub(super) type Tables<'a> = BTreeMap<String, Option<&'a LiveTable>>;

/// True if every condition of the variant holds.
pub(super) fn holds<E>(variant: &Variant, live: &LiveSchema, tables: &Tables<'_>, ask: Ask<'_, E>) -> Result<bool, E> {
    for probe in &variant.when {
        let column = |table: &str, column: &str| tables.get(table).copied().flatten().and_then(|t| t.column(column));
        let holds = match probe {
            Probe::Engine(engine) => live.engine == *engine,
            Probe::Table(table, there) => tables.get(table).copied().flatten().is_some() == *there,
            Probe::Column(table, name, there) => column(table, name).is_some() == *there,
            Probe::Type(table, name, types) => column(table, name).is_some_and(|c| types.contains(&c.type_name)),
            Probe::Label(type_name, label) => live.enums.get(type_name).is_some_and(|labels| labels.contains(label)),
            Probe::Sql(sql) => ask(&probe_sql(sql, tables))?,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

fn probe_sql(sql: &Template, tables: &Tables<'_>) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Name(name) => match tables.get(name).copied().flatten() {
            Some(table) => super::ident::qualified(&table.schema, &table.name),
            None => super::ident::quoted(name),
        },
        _ => String::new(),
    };
    sql.0.iter().map(piece).collect()
}
