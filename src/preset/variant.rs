//! Differences between versions of a queue library: a probe and the part of the document it replaces. Which of them a
//! database has is found out in `probe.rs`.

use super::SpecError;
use super::fields::Fields;
use super::node::{Node, Value};
use super::template::{Piece, Template};
use crate::model::Engine;

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
    Function(String, bool),
    Option(String, String),
    Sql(Template),
}

impl Variant {
    /// The tables that its overlay names, with their physical names.
    pub(super) fn tables(&self) -> Vec<(String, String)> {
        let tables = self.overlay.get("tables").into_iter().flat_map(Node::texts);
        tables.map(|(logical, name)| (logical.to_owned(), name.to_owned())).collect()
    }
}

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
    for (key, there) in [("function", true), ("no_function", false)] {
        for function in when.texts(key)? {
            probes.push(Probe::Function(function, there));
        }
    }
    if let Some(field) = when.take("option") {
        for (option, value) in field.text_table()? {
            probes.push(Probe::Option(option, value));
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
