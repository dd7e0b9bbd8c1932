//! Differences between versions of a queue library: a probe and the part of the document it replaces. Which of them a
//! database has is found out in `probe.rs`.

use super::fields::{Fields, Fragment, Read, Written};
use super::node::{Node, Value};
use super::template::{Piece, Template};
use super::{SpecError, WrittenAt};
use crate::model::Engine;

#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) when: Vec<Probe>,
    pub(crate) refuse: Option<String>,
    pub(super) overlay: Node,
}

#[derive(Debug, Clone)]
pub(crate) enum Probe {
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
    pub(crate) fn tables(&self) -> Vec<(String, String)> {
        let tables = self.overlay.get("tables").into_iter().flat_map(Node::texts);
        tables.map(|(logical, name)| (logical.to_owned(), name.to_owned())).collect()
    }

    /// Whether a database of that engine can have it.
    pub(crate) fn is_on(&self, engine: Engine) -> bool {
        !self.when.iter().any(|probe| matches!(probe, Probe::Engine(other) if *other != engine))
    }
}

/// The variants of a document whose engine leaves are picked.
pub(super) fn variants(document: &str, root: &Node) -> Result<Vec<Variant>, SpecError> {
    root.get("variant").map_or(&[][..], Node::items).iter().cloned().map(|node| variant(document, node)).collect()
}

fn variant(document: &str, mut node: Node) -> Result<Variant, SpecError> {
    let missing = |what: &str| WrittenAt::new(document, "variant", node.line).error(format!("needs `{what}`"));
    let (no_name, no_when) = (missing("name"), missing("when"));
    let Some(Node { value: Value::Text(name), .. }) = node.take("name") else { return Err(no_name) };
    let when = node.take("when").ok_or(no_when)?;
    let mut text = |key| match node.take(key) {
        Some(Node { value: Value::Text(text), .. }) => Some(text),
        _ => None,
    };
    let refuse = text("refuse");
    // The author's reason is no part of what is laid over.
    text("why");
    Ok(Variant { name, when: probes(Fields::of(document, "variant.when", when)?)?, refuse, overlay: node })
}

fn probes(mut when: Fields<'_>) -> Result<Vec<Probe>, SpecError> {
    let mut probes: Vec<Probe> = when.get("engine")?.map(Probe::Engine).into_iter().collect();
    for (key, there) in [("table", true), ("no_table", false)] {
        let tables: Vec<String> = when.get_or_default(key)?;
        probes.extend(tables.into_iter().map(|table| Probe::Table(table, there)));
    }
    for (key, there) in [("column", true), ("no_column", false)] {
        for place in when.get_or_default::<Vec<Written>>(key)? {
            let (table, column) = split(&place.text).ok_or_else(|| place.error("must be `table.column`"))?;
            probes.push(Probe::Column(table, column, there));
        }
    }
    if let Some(field) = when.take("type") {
        for (place, field) in field.table()?.rest() {
            let (table, column) = split(&place).ok_or_else(|| field.error("must be named `table.column`"))?;
            probes.push(Probe::Type(table, column, Read::read(field)?));
        }
    }
    probes.extend(when.named("label")?.into_iter().map(|(type_name, label)| Probe::Label(type_name, label)));
    for (key, there) in [("function", true), ("no_function", false)] {
        let functions: Vec<String> = when.get_or_default(key)?;
        probes.extend(functions.into_iter().map(|function| Probe::Function(function, there)));
    }
    probes.extend(when.named("option")?.into_iter().map(|(option, value)| Probe::Option(option, value)));
    if let Some(Fragment { written, sql }) = when.get("sql")? {
        if sql.0.iter().any(|piece| !matches!(piece, Piece::Text(_) | Piece::Name(_))) {
            return Err(written.error("a probe takes no markers but {table}"));
        }
        probes.push(Probe::Sql(sql));
    }
    when.finish()?;
    Ok(probes)
}

fn split(place: &str) -> Option<(String, String)> {
    place.split_once('.').map(|(table, column)| (table.to_owned(), column.to_owned()))
}
