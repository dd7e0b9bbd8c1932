use super::ErrorDocument;
use super::document::line;
use super::format::Format;
use crate::model::escaped_json;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::io::{self, BufRead, Seek, Write};
use tempfile::SpooledTempFile;

const SCHEMA: &str = "jobdoctor.targets/v1";
/// Up to this size the targets' documents stay in memory; beyond it, they go to a temporary file without a name.
const IN_MEMORY: usize = 4 << 20;

/// `jobdoctor.targets/v1`: a command's documents of several targets, printed whatever their exits are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Targets {
    /// `jobdoctor.targets/v1`.
    pub schema: &'static str,
    /// The command.
    pub command: String,
    /// The targets, in the order of the config file.
    pub targets: Vec<TargetEnd>,
    /// Their exits.
    pub summary: TargetsSummary,
}

/// One target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TargetEnd {
    /// Its name in the config file.
    pub target: String,
    /// The exit code of the command on this target.
    pub exit_code: u8,
    /// The command's document; null if there is none.
    pub document: Option<serde_json::Value>,
    /// The error; null if nothing went wrong.
    pub error: Option<ErrorDocument>,
}

/// The counts of a [`Targets`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TargetsSummary {
    /// Targets.
    pub targets: u64,
    /// The targets by exit, the best exit first.
    pub ends: Vec<TargetsEnding>,
    /// The exit code of the whole: that of the worst.
    pub exit_code: u8,
}

/// Targets with one exit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TargetsEnding {
    /// The exit code.
    pub exit_code: u8,
    /// Its name.
    pub kind: String,
    /// The targets' names.
    pub targets: Vec<String>,
}

/// How a command ended on one target: the last of that target's JSON lines.
#[derive(Serialize)]
pub struct TargetExit<'a> {
    pub target: &'a str,
    pub exit_code: u8,
    pub error: Option<ErrorDocument>,
}

#[derive(Serialize)]
struct TargetLine<'a> {
    target: &'a str,
    line: &'a RawValue,
}

/// Writes a [`Targets`] without holding a target's document in memory: as JSON lines, or as one document at the end.
pub struct TargetsWriter {
    command: &'static str,
    has_begun: bool,
    /// The targets of the document; `None` for JSON lines.
    entries: Option<SpooledTempFile>,
}

impl TargetsWriter {
    pub fn new(command: &'static str, format: Format) -> TargetsWriter {
        let entries = (format == Format::Json).then(|| SpooledTempFile::new(IN_MEMORY));
        TargetsWriter { command, has_begun: false, entries }
    }

    /// Adds the next target. `report` is what the command printed in the same format, and is copied.
    pub fn add(&mut self, end: &TargetExit<'_>, report: Option<impl BufRead>, out: &mut dyn Write) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if let Some(entries) = &mut self.entries {
            entries.write_all(if is_first { b"" } else { b"," })?;
            return write_entry(end, report, entries);
        }
        if is_first {
            line(out, "head", &json!({"schema": SCHEMA, "command": self.command}))?;
        }
        for own in report.into_iter().flat_map(BufRead::lines) {
            let own = own?;
            line(out, "line", &TargetLine { target: end.target, line: serde_json::from_str(&own)? })?;
        }
        line(out, "target", end)
    }

    /// Writes what is about all targets.
    pub fn end(self, summary: &TargetsSummary, out: &mut dyn Write) -> io::Result<()> {
        let Some(mut entries) = self.entries else { return line(out, "summary", summary) };
        let command = self.command;
        write!(out, "{{\n  \"schema\": \"{SCHEMA}\",\n  \"command\": \"{command}\",\n  \"targets\": [")?;
        entries.rewind()?;
        io::copy(&mut entries, out)?;
        write!(out, "\n  ],\n  \"summary\": ")?;
        pretty(summary, "  ", out)?;
        writeln!(out, "\n}}")
    }
}

/// Writes a [`TargetEnd`] with a copy of its document.
fn write_entry(end: &TargetExit<'_>, document: Option<impl BufRead>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\n    {{\n      \"target\": ")?;
    pretty(end.target, "", out)?;
    write!(out, ",\n      \"exit_code\": {},\n      \"document\": ", end.exit_code)?;
    match document {
        Some(document) => indented(document, "      ", out)?,
        None => write!(out, "null")?,
    }
    write!(out, ",\n      \"error\": ")?;
    pretty(&end.error, "      ", out)?;
    write!(out, "\n    }}")
}

fn pretty(value: &(impl Serialize + ?Sized), indent: &str, out: &mut dyn Write) -> io::Result<()> {
    indented(escaped_json(&serde_json::to_string_pretty(value)?).as_bytes(), indent, out)
}

/// Indents JSON: line breaks stand only between its tokens, so blanks after them change nothing.
fn indented(json: impl BufRead, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for (n, line) in json.split(b'\n').enumerate() {
        if n > 0 {
            write!(out, "\n{indent}")?;
        }
        out.write_all(&line?)?;
    }
    Ok(())
}
