//! A drafted mapping: its keys with the grade of each, the questions that are open, and what was seen through it.

use super::CheckFinding;
use super::format::inert;
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::Error as _;
use std::borrow::Cow;
use strum::IntoStaticStr;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, Value};

/// `jobdoctor.adopt/v1`: the mapping that `adopt` drafts for a table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Adopt {
    /// `jobdoctor.adopt/v1`.
    pub schema: &'static str,
    /// The store's own time of the sample.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The database, without its secrets.
    pub database: String,
    /// The table, as the mapping names it.
    pub table: String,
    /// The mapping's name.
    pub name: String,
    /// True if no question is open.
    pub complete: bool,
    /// The mapping, as it stands in a config file.
    pub toml: String,
    /// Its keys.
    pub keys: Vec<DraftKey>,
    /// What only the operator can settle; their keys are left out.
    pub questions: Vec<Question>,
    /// The columns that no action writes.
    pub untouched: Vec<String>,
    /// What could not be read or found, and what was seen beside the keys.
    pub notes: Vec<String>,
    /// What is seen through the draft; null while a question is open.
    pub proof: Option<Proof>,
    /// The config file to which the draft was added.
    pub written: Option<String>,
    /// The target that was added with it.
    pub target: Option<String>,
    /// The command that goes on: with an answer to each question, to add the draft, or to use it.
    pub next: String,
}

/// `jobdoctor.adopt-tables/v1`: the tables that look like a queue, or all where none does.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AdoptTables {
    /// `jobdoctor.adopt-tables/v1`.
    pub schema: &'static str,
    /// False if no table looks like a queue.
    pub are_alike: bool,
    /// The tables, the likeliest first.
    pub tables: Vec<Lookalike>,
}

/// A table that may be adopted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Lookalike {
    /// The table, as `adopt` is given it.
    pub table: String,
    /// The columns that say so, or all.
    pub columns: Vec<String>,
}

/// How a key of a draft is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Grade {
    /// The catalog shows it, or every row that was read, five that wait and five in flight at least.
    Shown,
    /// Fewer rows make it likely, or name and type.
    Likely,
    /// The operator was asked, and answered.
    Asked,
}

/// One key of a drafted mapping.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DraftKey {
    /// Its dotted path below the mapping.
    pub key: String,
    /// Its value.
    #[serde(serialize_with = "as_json")]
    #[schemars(with = "serde_json::Value")]
    pub value: Value,
    /// How it is known.
    pub grade: Grade,
    /// Why, in words.
    pub reason: String,
}

/// Something that only the operator can settle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Question {
    /// The key to answer.
    pub key: String,
    /// What is asked.
    pub question: String,
    /// What was seen of it.
    pub seen: Vec<String>,
    /// What a wrong answer does.
    pub harm: String,
    /// A proposal that rows support; without such rows the form of an answer, in which words in capitals are to be
    /// filled in.
    pub form: String,
    /// True if `form` is a proposal.
    pub is_proposal: bool,
}

/// What is seen through a draft.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Proof {
    /// Claims in flight.
    pub in_flight: u64,
    /// Those that show life.
    pub alive: u64,
    /// Those that are stuck.
    pub stuck: u64,
    /// Those that cannot be judged.
    pub unknown: u64,
    /// What `check` finds wrong or costly; with --dry-run=server also what each action would do to one stuck job, as
    /// `dry_run`.
    pub findings: Vec<CheckFinding>,
}

impl Grade {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl DraftKey {
    pub fn new(key: &str, value: impl Into<Value>, grade: Grade, reason: impl Into<String>) -> DraftKey {
        DraftKey { key: key.to_owned(), value: value.into(), grade, reason: reason.into() }
    }

    /// The parts of its path; the column in `time.COLUMN` may have dots of its own.
    fn path(&self) -> Vec<&str> {
        match self.key.strip_prefix("time.") {
            Some(column) => vec!["time", column],
            None => self.key.split('.').collect(),
        }
    }
}

/// The TOML of a mapping, each key with its grade and reason in a comment, under a head of comment lines.
pub fn mapping_toml(name: &str, head: &[String], keys: &[DraftKey]) -> String {
    let mut document = DocumentMut::new();
    document.insert("mapping", Item::Table(implicit()));
    if let Some(mapping) = document.get_mut("mapping").and_then(Item::as_table_mut) {
        mapping.insert_formatted(&inert_key(name), Item::Table(mapping_table(keys)));
    }
    let head: String = head.iter().map(|line| format!("# {}\n", inert(line))).collect();
    format!("{head}\n{}", document.to_string().trim_start())
}

/// The TOML of a target that uses the mapping of its name; an address that may hold a password is left out.
pub fn target_toml(name: &str, db: Option<&str>) -> String {
    let mut target = Table::new();
    for (key, text) in db.map(|db| ("db", db)).into_iter().chain([("preset", name)]) {
        target.insert(key, Item::Value(inert_value(&Value::from(text))));
    }
    let mut targets = implicit();
    targets.insert_formatted(&inert_key(name), Item::Table(target));
    let mut document = DocumentMut::new();
    document.insert("target", Item::Table(targets));
    document.to_string()
}

fn mapping_table(keys: &[DraftKey]) -> Table {
    let mut mapping = implicit();
    for key in keys {
        let path = key.path();
        let Some((last, parents)) = path.split_last() else { continue };
        let mut table = &mut mapping;
        for parent in parents {
            let entry = table.entry_format(&inert_key(parent)).or_insert_with(|| Item::Table(implicit()));
            let Some(inner) = entry.as_table_mut() else { return mapping };
            table = inner;
        }
        let mut name = inert_key(last);
        // A comment ends with its line, so that nothing from the database may break it.
        name.leaf_decor_mut().set_prefix(format!("# {}: {}\n", key.grade.name(), inert(&key.reason)));
        table.insert_formatted(&name, Item::Value(inert_value(&key.value)));
    }
    mapping
}

/// A value whose texts hold nothing that a terminal would act on: such characters are escaped, where toml_edit may
/// write them raw.
fn inert_value(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            escaped(text.value()).and_then(|text| text.parse().ok()).unwrap_or_else(|| value.clone())
        }
        Value::Array(values) => values.iter().map(inert_value).collect::<Array>().into(),
        Value::InlineTable(table) => {
            let inert = table.iter().map(|(key, value)| (inert_key(key), inert_value(value)));
            inert.collect::<InlineTable>().into()
        }
        other => other.clone(),
    }
}

fn inert_key(key: &str) -> Key {
    escaped(key).and_then(|key| key.parse().ok()).unwrap_or_else(|| Key::new(key))
}

/// A basic string of TOML, for a text that a terminal would act on.
fn escaped(text: &str) -> Option<String> {
    if matches!(inert(text), Cow::Borrowed(_)) {
        return None;
    }
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if matches!(inert(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_)) => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    };
    Some(format!("\"{}\"", text.chars().map(escape).collect::<String>()))
}

/// A table whose header is written only if it has keys of its own.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn as_json<S: serde::Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let document: Result<serde_json::Value, _> = toml::from_str(&format!("value = {value}"));
    document.map_err(S::Error::custom)?["value"].serialize(serializer)
}
