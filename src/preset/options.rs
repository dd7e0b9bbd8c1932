//! What only the operator knows about a queue (a limit that stands in the application's code, say): `[options.NAME]`. A
//! text `option NAME` anywhere in the document stands for the value that was given, or for the default, in `[sql]` as a
//! literal; `{options.NAME}` stands for it within the texts of `[time]`, `tables`, `liveness` and `silent_after`, which are no SQL: a
//! table's prefix, a threshold that is a product.

use super::field::Field;
use super::ident::literal;
use super::node::{Node, Value};
use super::{SpecError, WrittenAt, did_you_mean};
use crate::model::parse_duration;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct PresetOption {
    pub name: String,
    pub kind: OptionKind,
    /// Those that a [`OptionKind::Word`] may be.
    pub words: Vec<String>,
    /// The value it has unless the operator gives another; without one, it must be given.
    pub default: Option<Value>,
    pub help: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    Integer,
    /// A duration as on the command line: `90s`, `4h`.
    Duration,
    Word,
    /// Whatever the place where it is put understands.
    Text,
}

/// A value as SQL: whatever the operator writes is a value there and never a statement.
fn as_sql(value: &Value) -> Value {
    Value::Text(match value {
        Value::Text(text) => literal(text),
        number => number.to_string(),
    })
}

impl PresetOption {
    /// Reads a value; else says what it should have been.
    fn value(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            OptionKind::Integer => match text.parse::<i64>() {
                Ok(number) if number >= 0 => Ok(Value::Integer(number)),
                _ => Err(format!("`{text}` is not a number of 0 or more")),
            },
            OptionKind::Duration => parse_duration(text).map(|_| Value::Text(text.to_owned())),
            OptionKind::Word if !self.words.iter().any(|word| word == text) => {
                Err(format!("`{text}` is not one of {}", self.words.join(", ")))
            }
            OptionKind::Word | OptionKind::Text => Ok(Value::Text(text.to_owned())),
        }
    }

    /// The default, or some value, so that a document can be read without the operator's.
    fn sample(&self) -> Value {
        let sample = || match self.kind {
            OptionKind::Integer => Value::Integer(1),
            OptionKind::Duration => Value::Text("1h".to_owned()),
            OptionKind::Text | OptionKind::Word => Value::Text(self.words.first().cloned().unwrap_or_default()),
        };
        self.default.clone().unwrap_or_else(sample)
    }
}

#[derive(Deserialize)]
struct OptionDoc {
    kind: OptionKind,
    #[serde(default)]
    values: Vec<String>,
    help: String,
}

/// Reads `[options]` of a document's root.
pub(super) fn options(root: &Field<'_>) -> Result<Vec<PresetOption>, SpecError> {
    let entries = root.child("options").map_or_else(|| Ok(Vec::new()), |field| field.entries())?;
    entries.into_iter().map(|(name, field)| option(name, field)).collect()
}

fn option(name: &str, field: Field<'_>) -> Result<PresetOption, SpecError> {
    let field = field.except(&["default"]);
    let OptionDoc { kind, values: words, help } = field.read()?;
    match (kind == OptionKind::Word, words.is_empty()) {
        (true, true) => return Err(field.error("a `word` needs `values`: which words?")),
        (false, false) => return Err(field.error("`values` belong to a `word`")),
        _ => {}
    }
    let option = PresetOption { name: name.to_owned(), kind, words, default: None, help };
    let read = |field: Field<'_>| match &field.node.value {
        value @ (Value::Text(_) | Value::Integer(_)) => {
            option.value(&value.to_string()).map_err(|why| field.error(why))
        }
        _ => Err(field.error("must be text or an integer")),
    };
    Ok(PresetOption { default: field.child("default").map(read).transpose()?, ..option })
}

/// What every preset has: states of rows that are no matter of the queue, separated by commas.
pub(super) const IGNORED_STATES: &str = "ignored_states";

/// The values in force: given ones, else defaults.
pub(super) fn chosen(
    document: &str,
    options: &[PresetOption],
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Value>, SpecError> {
    let wrong = |message: String| SpecError::whole(document, message);
    let is_known = |name: &str| name == IGNORED_STATES || options.iter().any(|option| option.name == name);
    if let Some(name) = given.keys().find(|name| !is_known(name)) {
        let hint = did_you_mean(name, options.iter().map(|option| option.name.as_str()));
        let known: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(wrong(format!("there is no option `{name}`{hint}; its options: {known}")));
    }
    let mut values = BTreeMap::new();
    for option in options {
        let value = match (given.get(&option.name), &option.default) {
            (Some(text), _) => option.value(text).map_err(|why| wrong(format!("option {}: {why}", option.name)))?,
            (None, Some(default)) => default.clone(),
            (None, None) => {
                return Err(wrong(format!(
                    "needs the option `{name}`: {}; set it with --option {name}=..., or with `options` of the target",
                    option.help,
                    name = option.name
                )));
            }
        };
        values.insert(option.name.clone(), value);
    }
    Ok(values)
}

/// Values with which a document can be read without the operator's.
pub(super) fn samples(options: &[PresetOption]) -> BTreeMap<String, Value> {
    options.iter().map(|option| (option.name.clone(), option.sample())).collect()
}

/// Puts the values where the document says `option NAME`, spelled so, and within names and spellings of times.
pub(super) fn fill(
    document: &str,
    node: &mut Node,
    values: &BTreeMap<String, Value>,
    spell: fn(&Value) -> Value,
) -> Result<(), SpecError> {
    match &mut node.value {
        Value::Text(text) => {
            let Some(name) = text.strip_prefix("option ") else { return Ok(()) };
            let Some(value) = values.get(name).map(spell) else {
                let hint = did_you_mean(name, values.keys().map(String::as_str));
                let at = WrittenAt::new(document, "options", node.line);
                return Err(at.error(format!("there is no option `{name}`{hint}")));
            };
            node.value = value;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(document, item, values, spell)),
        Value::Table(entries) => entries.iter_mut().try_for_each(|(key, inner)| {
            if ["time", "tables", "liveness", "silent_after"].contains(&key.as_str()) {
                within(inner, values);
            }
            fill(document, inner, values, if key == "sql" { as_sql } else { spell })
        }),
        _ => Ok(()),
    }
}

/// Replaces `{options.NAME}` in all texts of a table. What stays is an error of the place it stands in.
fn within(node: &mut Node, values: &BTreeMap<String, Value>) {
    match &mut node.value {
        Value::Text(text) => {
            for (name, value) in values {
                *text = text.replace(&format!("{{options.{name}}}"), &value.to_string());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| within(item, values)),
        Value::Table(entries) => entries.iter_mut().for_each(|(_, inner)| within(inner, values)),
        _ => {}
    }
}
