//! The output formats, and the JSON one.

use crate::model::escaped_json;
use serde::Serialize;
use std::io::{self, Write};

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns, as many as the screen is wide.
    Table,
    /// Aligned columns, all of them.
    Wide,
    Json,
    /// One JSON document per line.
    Jsonl,
    /// Comma-separated values under a line of column names.
    Csv,
    /// Ids alone, one per line.
    Name,
    /// Prometheus' text format, for metrics alone.
    Prometheus,
    /// Nothing: only the exit code counts.
    None,
}

impl Format {
    /// Every format, in the order in which help lists them.
    pub const ALL: [Format; 8] = [
        Format::Table,
        Format::Wide,
        Format::Json,
        Format::Jsonl,
        Format::Csv,
        Format::Name,
        Format::Prometheus,
        Format::None,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Wide => "wide",
            Format::Json => "json",
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Name => "name",
            Format::Prometheus => "prometheus",
            Format::None => "none",
        }
    }

    /// True if a program reads it: then data is exact, and there is no limit by default.
    pub fn is_machine(self) -> bool {
        !matches!(self, Format::Table | Format::Wide)
    }
}

/// A writer of JSON in which nothing acts on a terminal.
pub struct Inert<'a>(pub &'a mut dyn Write);

impl Write for Inert<'_> {
    /// A serializer hands over whole characters.
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(json) {
            Ok(text) => self.0.write_all(escaped_json(text).as_bytes())?,
            Err(_) => self.0.write_all(json)?,
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes one JSON document, indented, with a newline at the end. Long lists that come as ready JSON stay one object a
/// line.
pub fn json<T: Serialize>(document: &T, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(Inert(out), document)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_readers() {
        let names = ["table", "wide", "json", "jsonl", "csv", "name", "prometheus", "none"];
        assert_eq!(Format::ALL.map(Format::name), names);
        assert_eq!(Format::ALL.map(Format::is_machine), [false, false, true, true, true, true, true, true]);
    }
}
