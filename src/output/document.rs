//! Documents that are lists: the formats they share, CSV and JSON lines.

use super::format::{Format, Inert, Page, Screen, csv, inert, json};
use super::{Spool, Target};
use crate::model::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The default limit of a table.
pub const ROWS: usize = 50;

/// A document that is a list, in each of its formats.
pub trait Document: Serialize {
    /// The table for people.
    ///
    /// # Errors
    /// When the temporary file of a long list cannot be read.
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page>;

    /// Writes comma-separated values.
    ///
    /// # Errors
    /// When the writer, or the temporary file of a long list, fails.
    fn csv(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes one name a line.
    ///
    /// # Errors
    /// When the writer, or the temporary file of a long list, fails.
    fn names(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes JSON lines: a head, one object a line, and a summary.
    ///
    /// # Errors
    /// When the writer, or the temporary file of a long list, fails.
    fn lines(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Writes a document in a format. Names are exact for programs and inert on a terminal. The sentence is about columns that the
/// screen has no room for.
///
/// # Errors
/// When the writer, or the temporary file of a long list, fails.
pub fn write<D: Document>(
    document: &D,
    format: Format,
    screen: &Screen,
    is_terminal: bool,
    out: &mut dyn Write,
) -> io::Result<Option<String>> {
    match format {
        Format::Table | Format::Wide => {
            let page = document.table(screen, format)?;
            write!(out, "{page}")?;
            return Ok(page.left_out().map(|columns| format!("{columns}; -o wide shows all")));
        }
        Format::Json => json(document, out),
        Format::Jsonl => document.lines(out),
        Format::Csv => document.csv(out),
        Format::Name if is_terminal => {
            let mut names = Vec::new();
            document.names(&mut names)?;
            String::from_utf8_lossy(&names).lines().try_for_each(|name| writeln!(out, "{}", inert(name)))
        }
        Format::Name => document.names(out),
        // The command that offers this format prints metrics instead.
        Format::Prometheus => Err(io::Error::other("a list has no samples")),
        Format::None => Ok(()),
    }
    .map(|()| None)
}

/// Writes items, given as JSON, as comma-separated values. `columns` are names of fields in the item's JSON, with spaces between; a column
/// `rule=/reasons/0/rule` has a value from inside a field. Unknown values are empty, and the texts of a list are joined by spaces.
///
/// # Errors
/// When the writer fails, or an item cannot be read from its temporary file.
pub(super) fn csv_of(
    columns: &str,
    items: impl Iterator<Item = io::Result<Vec<u8>>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = columns.split_whitespace().map(|column| column.split_once("=/").unwrap_or((column, column)));
    let (heads, paths): (Vec<&str>, Vec<&str>) = columns.unzip();
    let mut failed = None;
    let values = |item: io::Result<Vec<u8>>| -> io::Result<Vec<String>> {
        let item = item?;
        // Only what has a column is decoded.
        let fields: BTreeMap<&str, &RawValue> = serde_json::from_slice(&item)?;
        debug_assert!(paths.iter().all(|path| fields.contains_key(path.split('/').next().unwrap_or_default())));
        Ok(paths.iter().map(|path| csv_field(&fields, path)).collect::<serde_json::Result<_>>()?)
    };
    csv(&heads, items.map_while(|item| values(item).map_err(|error| failed = Some(error)).ok()), out)?;
    failed.map_or(Ok(()), Err)
}

/// Items as JSON.
pub(super) fn json_of<T: Serialize>(items: &[T]) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    items.iter().map(|item| Ok(serde_json::to_vec(item)?))
}

/// The field at that path, as CSV has it.
fn csv_field(fields: &BTreeMap<&str, &RawValue>, path: &str) -> serde_json::Result<String> {
    let (name, below) = path.split_once('/').map_or((path, None), |(name, below)| (name, Some(below)));
    let Some(field) = fields.get(name) else { return Ok(String::new()) };
    let value: Value = serde_json::from_str(field.get())?;
    let value = below.map_or(Some(&value), |below| value.pointer(&format!("/{below}")));
    Ok(value.map(csv_value).unwrap_or_default())
}

fn csv_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(csv_value).collect::<Vec<_>>().join(" "),
        // A whole number of seconds has no decimal point.
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(seconds) => seconds.to_string(),
            None => number.to_string(),
        },
        Value::Bool(_) | Value::Object(_) => value.to_string(),
    }
}

/// One line of a `jsonl` document.
#[derive(Serialize)]
struct Line<'a, T> {
    r#type: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// Writes one line of a `jsonl` document.
pub(super) fn line<T: Serialize>(out: &mut dyn Write, kind: &str, body: &T) -> io::Result<()> {
    serde_json::to_writer(Inert(out), &Line { r#type: kind, body })?;
    out.write_all(b"\n")
}

/// Writes a line for each item of a list.
pub(super) fn list<T: Serialize>(out: &mut dyn Write, kind: &str, list: &Spool<T>) -> io::Result<()> {
    list.json().try_for_each(|json| {
        // The type comes first, as in every line.
        let json = json?;
        write!(out, "{{\"type\":\"{kind}\",")?;
        Inert(out).write_all(json.strip_prefix(b"{").unwrap_or(&json))?;
        out.write_all(b"\n")
    })
}

/// Writes the first line of a `jsonl` document; `more` are its own fields but for lists and the summary.
pub(super) fn head(
    out: &mut dyn Write,
    schema: &str,
    store_time: Timestamp,
    target: &Target,
    more: &[(&str, Value)],
) -> io::Result<()> {
    let mut fields = Map::new();
    fields.insert("schema".to_owned(), schema.into());
    fields.insert("store_time".to_owned(), serde_json::to_value(store_time)?);
    fields.insert("target".to_owned(), serde_json::to_value(target)?);
    fields.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    line(out, "head", &fields)
}
