use super::format::{Format, Screen, csv, inert, json};
use super::{Spool, Target};
use crate::model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Rows of a table for people, unless they ask for another number.
pub const ROWS: usize = 50;

/// A document that is a list: each format that it can be printed in.
pub trait Document: Serialize {
    /// Writes a table for people.
    ///
    /// # Errors
    /// When the temporary file of a long list cannot be read.
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String>;

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

/// Writes a document in a format. On a terminal, names are made inert: for programs an id is exact, but a terminal must not be
/// controlled by one.
///
/// # Errors
/// When the writer, or the temporary file of a long list, fails.
pub fn write<D: Document>(
    document: &D,
    format: Format,
    screen: &Screen,
    is_terminal: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Table | Format::Wide => out.write_all(document.table(screen, format)?.as_bytes()),
        Format::Json => json(document, out),
        Format::Jsonl => document.lines(out),
        Format::Csv => document.csv(out),
        Format::Name if is_terminal => {
            let mut names = Vec::new();
            document.names(&mut names)?;
            String::from_utf8_lossy(&names).lines().try_for_each(|name| writeln!(out, "{}", inert(name)))
        }
        Format::Name => document.names(out),
        // The commands that offer it have metrics, and print those.
        Format::Prometheus => Err(io::Error::other("a list has no samples")),
        Format::None => Ok(()),
    }
}

/// Writes items that may fail to come back from their temporary file as comma-separated values.
pub(super) fn csv_of<T>(
    columns: &[&str],
    items: impl Iterator<Item = io::Result<T>>,
    values: impl Fn(&T) -> Vec<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut failed = None;
    let rows = items.map_while(|item| item.map_err(|error| failed = Some(error)).ok()).map(|item| values(&item));
    csv(columns, rows, out)?;
    failed.map_or(Ok(()), Err)
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
    serde_json::to_writer(&mut *out, &Line { r#type: kind, body })?;
    out.write_all(b"\n")
}

/// Writes a line for each item of a list.
pub(super) fn list<T: Clone + Serialize + DeserializeOwned>(
    out: &mut dyn Write,
    kind: &str,
    list: &Spool<T>,
) -> io::Result<()> {
    list.iter().try_for_each(|item| line(out, kind, &item?))
}

/// Writes the head that every document begins with; `more` are its own fields, other than lists of jobs and the summary.
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
