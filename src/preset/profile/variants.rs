//! Variants as they are written: the conditions one by one, and the part of the document that they replace.

use super::{Condition, TableProfile, VariantProfile};
use crate::model::Engine;
use crate::preset::node::{Node, Value};

impl VariantProfile {
    /// Whether it can be met on that engine.
    pub(super) fn is_on(&self, engine: Engine) -> bool {
        !self.conditions.iter().any(|c| c.probe == "engine" && c.subject != engine.name())
    }
}

/// The variants of a document whose engine leaves are picked.
pub(super) fn variants(root: &Node, tables: &[TableProfile]) -> Vec<(VariantProfile, Node)> {
    let Some(Node { value: Value::Array(items), .. }) = root.get("variant") else { return Vec::new() };
    let mut names: Vec<(String, String)> =
        tables.iter().map(|table| (table.logical.clone(), table.physical.clone())).collect();
    for node in items {
        // A probe may name a table that only some variant has.
        let Some(Node { value: Value::Table(own), .. }) = node.get("tables") else { continue };
        for (logical, physical) in own {
            if names.iter().all(|(known, _)| known != logical) {
                names.push((logical.clone(), texts(physical).concat()));
            }
        }
    }
    items.iter().cloned().map(|node| variant(node, &names)).collect()
}

fn variant(mut node: Node, tables: &[(String, String)]) -> (VariantProfile, Node) {
    let mut text = |key: &str| node.take(key).map(|node| texts(&node).concat());
    let (name, refused) = (text("name").unwrap_or_default(), text("refuse"));
    let conditions = match node.take("when") {
        Some(Node { value: Value::Table(probes), .. }) => {
            probes.iter().flat_map(|(probe, node)| conditions(probe, node)).map(|c| named(c, tables)).collect()
        }
        _ => Vec::new(),
    };
    (VariantProfile { name, conditions, refused }, node)
}

/// A condition with the tables' names in the database.
fn named(mut condition: Condition, tables: &[(String, String)]) -> Condition {
    let physical = |logical: &str| {
        let found = tables.iter().find(|(known, _)| known == logical);
        found.map_or_else(|| logical.to_owned(), |(_, physical)| physical.clone())
    };
    let subject = &condition.subject;
    condition.subject = match condition.probe.as_str() {
        "table" | "no_table" => physical(subject),
        "column" | "no_column" | "type" => match subject.split_once('.') {
            Some((table, column)) => format!("{}.{column}", physical(table)),
            None => subject.clone(),
        },
        "sql" => {
            let text = subject.split_whitespace().collect::<Vec<_>>().join(" ");
            tables.iter().fold(text, |text, (logical, name)| text.replace(&format!("{{{logical}}}"), name))
        }
        _ => return condition,
    };
    condition
}

fn conditions(probe: &str, node: &Node) -> Vec<Condition> {
    let condition =
        |subject: &str, values: Vec<String>| Condition { probe: probe.to_owned(), subject: subject.to_owned(), values };
    match &node.value {
        Value::Table(entries) => entries.iter().map(|(subject, node)| condition(subject, texts(node))).collect(),
        _ => texts(node).iter().map(|subject| condition(subject, Vec::new())).collect(),
    }
}

/// A text, a number, a truth, or a list of them.
pub(super) fn texts(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Text(text) => vec![text.clone()],
        Value::Integer(number) => vec![number.to_string()],
        Value::Boolean(truth) => vec![truth.to_string()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Table(_) | Value::Other(_) => Vec::new(),
    }
}
