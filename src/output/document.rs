//! Documents that are lists: the formats they share, CSV and JSON lines.

use super::columns::Columns;
use super::format::{Format, Inert, Page, Screen, Table, Times, csv, inert, json};
use super::{Spool, Spooled};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The default limit of a table.
pub const ROWS: usize = 50;

/// A document: its head, its lists and its summary. Every format comes from these.
pub trait Document: Serialize {
    /// The first and the last of its JSON lines: all but the lists and the summary, and the summary.
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize);

    /// The lists in order, with the columns that this format and this style of instants show.
    fn lists(&self, format: Format, times: Times) -> Vec<List<'_>>;

    /// The text for people above the tables.
    fn above(&self, _screen: &Screen) -> String {
        String::new()
    }

    /// The text for people below the tables.
    fn below(&self, _screen: &Screen) -> String {
        String::new()
    }

    /// The most rows of a table.
    fn rows(&self, format: Format) -> usize {
        if format == Format::Wide { usize::MAX } else { ROWS }
    }

    /// Lays out the page for people.
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let mut page = Page::from(self.above(screen));
        for list in self.lists(format, screen.times) {
            let table = (list.table)(self.rows(format))?;
            if !table.columns.is_empty() && !table.rows.is_empty() {
                page.table(list.heading, &table, screen);
            }
        }
        page.push(&self.below(screen));
        Ok(page)
    }

    /// Writes comma-separated values: the first list that has fields, and the lists with the same fields.
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lists = self.lists(Format::Csv, Times::default());
        let fields = lists.iter().map(|list| list.fields.clone()).find(|fields| !fields.is_empty()).unwrap_or_default();
        lists.retain(|list| list.fields == fields);
        csv_of(&fields, lists.into_iter().flat_map(|list| list.json), out)
    }

    /// Writes the name of each item of the first list that has fields, one a line.
    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lists = self.lists(Format::Name, Times::default()).into_iter();
        let Some(list) = lists.find(|list| !list.fields.is_empty()) else { return Ok(()) };
        for item in list.json {
            let item = item?;
            let fields: BTreeMap<&str, &RawValue> = serde_json::from_slice(&item)?;
            let name = fields.get(list.name).map(|name| serde_json::from_str::<Option<String>>(name.get()));
            name.transpose()?.flatten().map_or(Ok(()), |name| writeln!(out, "{name}"))?;
        }
        Ok(())
    }

    /// Writes JSON lines: a head, one object a line, and a summary.
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let (head, summary) = self.head_and_summary();
        line(out, "head", &head)?;
        for mut list in self.lists(Format::Jsonl, Times::default()) {
            list.json.try_for_each(|item| item_line(out, list.kind, &item?))?;
        }
        line(out, "summary", &summary)
    }
}

/// A list of a document, whatever its items are. They are read once, for one format.
pub struct List<'a> {
    /// The `type` of its JSON lines.
    kind: &'static str,
    /// The heading of its table.
    heading: &'static str,
    /// The fields of csv, with spaces between.
    fields: String,
    /// The field that names an item: the first one of the first column that is shown.
    name: &'static str,
    json: Box<dyn Iterator<Item = io::Result<Vec<u8>>> + 'a>,
    /// Makes the table of the first items.
    table: Box<dyn FnOnce(usize) -> io::Result<Table> + 'a>,
}

impl<'a> List<'a> {
    /// A list in memory; without columns it is neither a table nor in csv.
    pub(super) fn of<T: Serialize>(kind: &'static str, items: &'a [T], columns: Columns<'a, T>) -> List<'a> {
        List {
            kind,
            heading: "",
            fields: columns.fields(),
            name: columns.name(),
            json: Box::new(items.iter().map(|item| Ok(serde_json::to_vec(item)?))),
            table: Box::new(move |rows| columns.table(items.iter().take(rows).map(Ok))),
        }
    }

    /// A list that may be in a temporary file.
    pub(super) fn spooled<T: Spooled>(kind: &'static str, items: &'a Spool<T>, columns: Columns<'a, T>) -> List<'a> {
        List {
            kind,
            heading: "",
            fields: columns.fields(),
            name: columns.name(),
            json: Box::new(items.json()),
            table: Box::new(move |rows| columns.table(items.iter().take(rows))),
        }
    }

    /// Puts a heading above its table.
    pub(super) fn under(self, heading: &'static str) -> List<'a> {
        List { heading, ..self }
    }
}

/// Writes a document in a format. Names are exact for programs and inert on a terminal. The sentence is about columns
/// that the screen has no room for.
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

/// Writes items, given as JSON, as comma-separated values. `columns` are names of fields in the item's JSON, with
/// spaces between; a column `rule=/reasons/0/rule` has a value from inside a field. Unknown values are empty, and the
/// texts of a list are joined by spaces.
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

/// Writes the line of an item that is JSON already. The type comes first, as in every line.
fn item_line(out: &mut dyn Write, kind: &str, json: &[u8]) -> io::Result<()> {
    write!(out, "{{\"type\":\"{kind}\",")?;
    Inert(out).write_all(json.strip_prefix(b"{").unwrap_or(json))?;
    out.write_all(b"\n")
}
