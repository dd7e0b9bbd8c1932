//! TOML with line numbers, and the two operations that the preset format stands on: picking an engine's leaf and laying
//! a variant over a document.

use super::{SpecError, WrittenAt};
use crate::model::Engine;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of a TOML document that remembers its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The line it stands on, counted from 1.
    pub line: usize,
    pub value: Value,
}

/// What a [`Node`] holds. Tables keep the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Integer(i64),
    Boolean(bool),
    Array(Vec<Node>),
    Table(Vec<(String, Node)>),
    /// A kind of value that neither the preset format nor the configuration uses (a float, a date).
    Other(&'static str),
}

impl Value {
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Integer(_) => "an integer",
            Value::Boolean(_) => "a boolean",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Boolean(truth) => write!(f, "{truth}"),
            other => f.write_str(other.kind()),
        }
    }
}

impl Node {
    /// Reads a document. `name` is what errors call it.
    pub fn parse(name: &str, text: &str) -> Result<Node, SpecError> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| lines.at(span.start));
            WrittenAt { document: name.to_owned(), key: String::new(), line }.error(error.message())
        })?;
        Ok(Node::new(1, lines.table(table.get_ref())))
    }

    pub(super) fn new(line: usize, value: Value) -> Node {
        Node { line, value }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// A table with these of its children alone; anything else as it is.
    pub fn only(&self, keys: &[&str]) -> Node {
        let Value::Table(entries) = &self.value else { return self.clone() };
        let kept = entries.iter().filter(|(name, _)| keys.contains(&name.as_str()));
        Node::new(self.line, Value::Table(kept.cloned().collect()))
    }

    /// The items of an array; of anything else none.
    pub fn items(&self) -> &[Node] {
        if let Value::Array(items) = &self.value { items } else { &[] }
    }

    pub(super) fn entries(&self) -> &[(String, Node)] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }

    /// The texts among the children of a table, by their names.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries().iter().filter_map(|(name, node)| match &node.value {
            Value::Text(text) => Some((name.as_str(), text.as_str())),
            _ => None,
        })
    }

    pub fn take(&mut self, key: &str) -> Option<Node> {
        let Value::Table(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|(name, _)| name == key)?;
        Some(entries.remove(at).1)
    }

    /// Replaces every `{ postgres = ..., sqlite = ... }` by the value for one engine; a value given for the other
    /// engine alone disappears.
    pub fn for_engine(self, engine: Engine) -> Option<Node> {
        let line = self.line;
        let value = match self.value {
            Value::Table(entries) if is_engine_leaf(&entries) => {
                let leaf = entries.into_iter().find(|(name, _)| name == engine.name());
                return leaf.and_then(|(_, node)| node.for_engine(engine));
            }
            Value::Table(entries) => {
                let picked = |(name, node): (String, Node)| Some((name, node.for_engine(engine)?));
                Value::Table(entries.into_iter().filter_map(picked).collect())
            }
            Value::Array(items) => Value::Array(items.into_iter().filter_map(|item| item.for_engine(engine)).collect()),
            other => other,
        };
        Some(Node::new(line, value))
    }

    /// Lays another document over this one: tables deep, everything else replaced.
    pub fn overlay(&mut self, over: Node) {
        match (&mut self.value, over.value) {
            (Value::Table(under), Value::Table(entries)) => {
                for (name, node) in entries {
                    match under.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, below)) => below.overlay(node),
                        None => under.push((name, node)),
                    }
                }
            }
            (under, value) => {
                *under = value;
                self.line = over.line;
            }
        }
    }
}

fn is_engine_leaf(entries: &[(String, Node)]) -> bool {
    !entries.is_empty() && entries.iter().all(|(name, _)| Engine::from_name(name).is_some())
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }

    fn table(&self, table: &DeTable<'_>) -> Value {
        let entries = table.iter().map(|(key, value)| {
            let mut node = self.node(value);
            // A table's own span starts at its header; the key is the better place to point at.
            node.line = self.at(key.span().start);
            (key.span().start, key.get_ref().to_string(), node)
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|(at, _, _)| *at);
        Value::Table(entries.into_iter().map(|(_, name, node)| (name, node)).collect())
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let line = self.at(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Other("an integer beyond 64 bits"),
            },
            DeValue::Boolean(truth) => Value::Boolean(*truth),
            DeValue::Array(items) => Value::Array(items.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => self.table(table),
            DeValue::Float(_) => Value::Other("a floating point number"),
            DeValue::Datetime(_) => Value::Other("a date"),
        };
        Node::new(line, value)
    }
}
