//! Documents that are lists: the formats they share, CSV and JSON lines.

use super::Listing;
use super::columns::Columns;
use super::format::{Format, Inert, Page, Screen, Table, Times, csv_line, inert, json};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
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

    fn rows(&self, format: Format) -> usize {
        if format == Format::Wide { usize::MAX } else { ROWS }
    }

    /// The page of a terminal, where it is another one: jobs under their causes.
    fn by_cause(&self, _screen: &Screen) -> Option<Page> {
        None
    }

    fn table(&self, screen: &Screen, format: Format) -> Page {
        if let Some(page) = self.by_cause(screen) {
            return page;
        }
        let mut page = Page::from(self.above(screen));
        for list in self.lists(format, screen.times) {
            let table = (list.table)(self.rows(format));
            if !table.columns.is_empty() && !table.rows.is_empty() {
                page.table(list.heading, &table, screen);
            }
        }
        page.push(&self.below(screen));
        page
    }

    /// Writes comma-separated values: the first list that has fields, and the lists with the same fields.
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lists = self.lists(Format::Csv, Times::default());
        let fields = lists.iter().map(|list| list.shape.fields.clone()).find(|fields| !fields.is_empty());
        lists.retain(|list| fields.as_ref() == Some(&list.shape.fields));
        csv_line(fields.iter().flatten().map(|(name, _)| name), out)?;
        lists.into_iter().try_for_each(|list| list.write(Format::Csv, out))
    }

    /// Writes the name of each item of the first list that has fields, one a line.
    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lists = self.lists(Format::Name, Times::default()).into_iter();
        lists.find(|list| !list.shape.fields.is_empty()).map_or(Ok(()), |list| list.write(Format::Name, out))
    }

    /// Writes JSON lines: a head, one object a line, and a summary.
    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let (head, summary) = self.head_and_summary();
        line(out, "head", &head)?;
        let mut lists = self.lists(Format::Jsonl, Times::default()).into_iter();
        lists.try_for_each(|list| list.write(Format::Jsonl, out))?;
        line(out, "summary", &summary)
    }
}

/// How an item of a list becomes a line of a format.
pub struct Shape {
    /// The `type` of its JSON lines.
    kind: &'static str,
    /// The fields of csv, each with its path. A field `rule=/reasons/0/rule` is called `rule` and lies inside a field.
    fields: Vec<(&'static str, &'static str)>,
    /// The field that names an item: the first one of the first column that is shown.
    name: &'static str,
}

impl Shape {
    pub(super) fn of<T>(kind: &'static str, columns: &Columns<'_, T>) -> Shape {
        let fields = columns.fields().into_iter().map(|field| field.split_once("=/").unwrap_or((field, field)));
        Shape { kind, fields: fields.collect(), name: columns.name() }
    }

    /// Writes the line of an item that is JSON already. Unknown values of csv are empty, and the texts of a list are
    /// joined by spaces.
    pub(super) fn line(&self, format: Format, json: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Csv => {
                // Only what has a column is decoded.
                let fields: Fields<'_> = serde_json::from_slice(json)?;
                let values = self.fields.iter().map(|(_, path)| csv_field(fields.at(path)?));
                csv_line(values.collect::<serde_json::Result<Vec<_>>>()?.iter().map(|value| value.as_bytes()), out)
            }
            Format::Name => {
                let fields: Fields<'_> = serde_json::from_slice(json)?;
                let name = fields.get(self.name).map(serde_json::from_str::<Option<String>>);
                name.transpose()?.flatten().map_or(Ok(()), |name| writeln!(out, "{name}"))
            }
            // The type comes first, as in every line.
            _ => {
                write!(out, "{{\"type\":\"{}\",", self.kind)?;
                Inert(out).write_all(json.strip_prefix(b"{").unwrap_or(json))?;
                out.write_all(b"\n")
            }
        }
    }
}

/// A list of a document, whatever its items are. They are read once, for one format.
pub struct List<'a> {
    heading: &'static str,
    shape: Shape,
    /// Each item as JSON, or as a line of the format.
    items: Box<dyn Iterator<Item = io::Result<Vec<u8>>> + 'a>,
    are_lines: bool,
    table: Box<dyn FnOnce(usize) -> Table + 'a>,
}

impl<'a> List<'a> {
    /// A list in memory; without columns it is neither a table nor in csv.
    pub(super) fn of<T: Serialize>(kind: &'static str, items: &'a [T], columns: Columns<'a, T>) -> List<'a> {
        List {
            heading: "",
            shape: Shape::of(kind, &columns),
            items: Box::new(items.iter().map(|item| Ok(serde_json::to_vec(item)?))),
            are_lines: false,
            table: Box::new(move |rows| columns.table(items.iter().take(rows))),
        }
    }

    /// A list that may be lines of the format already.
    pub(super) fn listing<T: Serialize>(
        kind: &'static str,
        listing: &'a Listing<T>,
        columns: Columns<'a, T>,
    ) -> List<'a> {
        let list = List::of(kind, listing.items(), columns);
        match listing {
            Listing::Items(_) => list,
            Listing::Lines(lines) => List { items: Box::new(lines.iter()), are_lines: true, ..list },
        }
    }

    /// The list with more items, which are JSON; a table leaves them out.
    pub(super) fn and(self, more: impl Iterator<Item = io::Result<Vec<u8>>> + 'a) -> List<'a> {
        List { items: Box::new(self.items.chain(more)), ..self }
    }

    fn write(self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        for item in self.items {
            if self.are_lines { out.write_all(&item?)? } else { self.shape.line(format, &item?, out)? }
        }
        Ok(())
    }

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
            let page = document.table(screen, format);
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
        Format::Prometheus | Format::Markdown => Err(io::Error::other("a list is not told in this format")),
        Format::None => Ok(()),
    }
    .map(|()| None)
}

/// The fields of a JSON object as they are spelled: a map of so few would cost more than to look for one.
struct Fields<'j>(Vec<(&'j str, &'j RawValue)>);

impl<'j> Deserialize<'j> for Fields<'j> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(Vec::with_capacity(32)))
    }
}

impl<'j> Visitor<'j> for Fields<'j> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(field) = map.next_entry()? {
            self.0.push(field);
        }
        Ok(self)
    }
}

impl<'j> Fields<'j> {
    fn get(&self, name: &str) -> Option<&'j str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, json)| json.get())
    }

    /// What is at that path; `null` if nothing is.
    fn at(&self, path: &str) -> serde_json::Result<&'j str> {
        let (name, below) = path.split_once('/').unwrap_or((path, ""));
        let mut json = self.get(name);
        for name in below.split('/').filter(|name| !name.is_empty()) {
            json = match json {
                Some(list) if list.starts_with('[') => {
                    let items: Vec<&RawValue> = serde_json::from_str(list)?;
                    name.parse().ok().and_then(|n: usize| items.get(n).map(|item| item.get()))
                }
                Some(object) if object.starts_with('{') => serde_json::from_str::<Fields<'_>>(object)?.get(name),
                _ => None,
            };
        }
        Ok(json.unwrap_or("null"))
    }
}

/// A value as CSV has it. Only what is spelled otherwise there is decoded.
fn csv_field(json: &str) -> serde_json::Result<Cow<'_, str>> {
    let plain = json.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match plain.filter(|text| !text.contains('\\')) {
        Some(text) => Ok(text.into()),
        None if json == "null" => Ok("".into()),
        None if json.bytes().all(|byte| byte.is_ascii_digit()) => Ok(json.into()),
        None => Ok(csv_value(&serde_json::from_str(json)?).into()),
    }
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
