//! The output formats, and the JSON one.

use super::cell::{Cell, Tone};
use super::inert::inert;
use super::width::wrap;
use crate::model::{Timestamp, age, escaped_json};
use jiff::tz::TimeZone;
use serde::Serialize;
use std::io::{self, Write};
use strum::{IntoStaticStr, VariantArray};
use unicode_width::UnicodeWidthStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Format {
    /// Aligned columns, as many as the screen is wide.
    Table,
    /// Aligned columns, all of them.
    Wide,
    Json,
    /// One JSON document per line.
    Jsonl,
    Csv,
    /// Ids alone, one per line.
    Name,
    /// Prometheus' text format, for metrics alone.
    Prometheus,
    /// A run as a paragraph of Markdown, for a ticket or a channel.
    Markdown,
    /// Nothing: only the exit code counts.
    None,
}

impl Format {
    /// Every format, in the order in which help lists them.
    pub const ALL: &[Format] = Format::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
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

/// The indent of the lines after the first, so that none of them can pass for another paragraph.
const INDENT: usize = 4;

/// The screen that output for people is laid out for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screen {
    /// Display cells per line; `None` is unlimited: then nothing is cut, dropped or wrapped.
    pub width: Option<usize>,
    pub color: bool,
    /// True if tables have no line of titles.
    pub no_header: bool,
    /// The column that tables are sorted by, with dashes for the blanks of its title; `None` keeps the order of the
    /// document.
    pub sort: Option<String>,
    /// The columns that a table shows, in this order, named as for `sort`; empty for those that fit and say something. A
    /// table that has none of them shows its first.
    pub columns: Vec<String>,
    pub times: Times,
    /// True if jobs stand under their causes, a few of each: on a terminal, where no order was asked for.
    pub by_cause: bool,
}

/// How instants are shown to people; programs get RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Times {
    /// Silence as a span, all others in UTC.
    #[default]
    Mixed,
    /// As spans: how long ago, or how far ahead.
    Relative,
    /// In the zone of this machine.
    Local,
    Utc,
}

impl Times {
    /// An instant as of `now`, to the second.
    pub fn show(self, at: Timestamp, now: Timestamp) -> String {
        let Ok(time) = jiff::Timestamp::from_microsecond(at.micros() - at.micros().rem_euclid(1_000_000)) else {
            return at.to_string();
        };
        match self {
            Times::Relative if at.seconds_since(now) > 0.0 => format!("in {}", age(at.since(now))),
            Times::Relative => format!("{} ago", age(now.since(at))),
            Times::Local => time.display_with_offset(TimeZone::system().to_offset(time)).to_string(),
            Times::Mixed | Times::Utc => time.to_string(),
        }
    }
}

impl Screen {
    /// A heading on a line of its own, in the style of column titles.
    pub fn heading(&self, title: &str) -> String {
        format!("{}\n", self.strong(&inert(title).to_uppercase()))
    }

    /// A text in bold, where the screen has colours.
    pub fn strong(&self, text: &str) -> String {
        if self.color { Tone::Strong.paint(text) } else { text.to_owned() }
    }

    /// A sentence on lines of its own, inert and wrapped, each of them indented.
    pub fn indented(&self, cell: &Cell) -> String {
        self.set(cell, INDENT)
    }

    /// A sentence on lines of its own, inert, wrapped, and indented from the second line on.
    pub fn paragraph(&self, cell: &Cell) -> String {
        self.set(cell, 0)
    }

    pub fn findings(&self, findings: &[String]) -> String {
        findings.iter().map(|finding| self.paragraph(&format!("! {finding}").into())).collect()
    }

    fn set(&self, cell: &Cell, indent: usize) -> String {
        let text = inert(&cell.text);
        let lines = match self.width {
            Some(width) if text.width() + indent > width => wrap(&text, width.saturating_sub(INDENT).max(1)),
            _ => vec![text.as_ref()],
        };
        let paint = |line: &str| if self.color { cell.tone.paint(line) } else { line.to_owned() };
        let set =
            |(n, line): (usize, &&str)| format!("{:1$}{2}\n", "", if n == 0 { indent } else { INDENT }, paint(line));
        lines.iter().enumerate().map(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::format::Tone;

    #[test]
    fn names_and_readers() {
        let names = ["table", "wide", "json", "jsonl", "csv", "name", "prometheus", "markdown", "none"];
        let all: Vec<(&str, bool)> = Format::ALL.iter().map(|format| (format.name(), format.is_machine())).collect();
        assert_eq!(all, names.map(|name| (name, !["table", "wide"].contains(&name))));
    }

    #[test]
    fn what_does_not_fit_goes_on_below_and_stays_inert() {
        let cell = Cell::new("host web1\nFAKE vanished: 3 jobs", Tone::Bad);
        let screen = |width, color| Screen { width, color, ..Screen::default() };
        assert_eq!(screen(None, false).paragraph(&cell), "host web1\\nFAKE vanished: 3 jobs\n");
        assert_eq!(screen(Some(24), false).paragraph(&cell), "host web1\\nFAKE\n    vanished: 3 jobs\n");
        assert_eq!(screen(None, true).paragraph(&"x".into()), "x\n");
        assert_eq!(screen(Some(2), false).paragraph(&"ab".into()), "ab\n");
        assert_eq!(screen(Some(1), false).paragraph(&"ab".into()), "a\n    b\n");
    }

    #[test]
    fn instants_have_no_fraction() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let now = at("2026-11-20T10:00:00.5Z");
        let cases = [
            (Times::Utc, "2026-11-20T09:46:28Z"),
            (Times::Mixed, "2026-11-20T09:46:28Z"),
            (Times::Relative, "13m 32s ago"),
        ];
        for (times, shown) in cases {
            assert_eq!(times.show(at("2026-11-20T09:46:28.123456Z"), now), shown, "{times:?}");
        }
        assert_eq!(Times::Relative.show(at("2026-11-20T10:02:00.5Z"), now), "in 2m");
    }
}
