use super::ErrorDocument;
use super::document::line;
use super::format::Inert;
use crate::model::escaped_json;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::io::{self, BufRead, Seek, Write};
use tempfile::SpooledTempFile;

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

/// Writes a [`Targets`] without holding a target's document in memory.
pub struct TargetsWriter {
    entries: SpooledTempFile,
    is_empty: bool,
}

impl Targets {
    pub const SCHEMA: &'static str = "jobdoctor.targets/v1";
}

impl Default for TargetsWriter {
    fn default() -> Self {
        TargetsWriter { entries: SpooledTempFile::new(IN_MEMORY), is_empty: true }
    }
}

impl TargetsWriter {
    /// Adds the next target. `document` is JSON and is copied.
    pub fn add<R: BufRead>(
        &mut self,
        target: &str,
        exit_code: u8,
        document: Option<R>,
        error: Option<&ErrorDocument>,
    ) -> io::Result<()> {
        let out = &mut self.entries;
        let before = if std::mem::replace(&mut self.is_empty, false) { "" } else { "," };
        write!(out, "{before}\n    {{\n      \"target\": ")?;
        serde_json::to_writer(Inert(out), target)?;
        write!(out, ",\n      \"exit_code\": {exit_code},\n      \"document\": ")?;
        match document {
            Some(document) => indented(document, "      ", out)?,
            None => write!(out, "null")?,
        }
        write!(out, ",\n      \"error\": ")?;
        indented(escaped_json(&serde_json::to_string_pretty(&error)?).as_bytes(), "      ", out)?;
        write!(out, "\n    }}")
    }

    pub fn write(mut self, command: &str, summary: &TargetsSummary, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\n  \"schema\": \"{}\",\n  \"command\": \"{command}\",\n  \"targets\": [", Targets::SCHEMA)?;
        self.entries.rewind()?;
        io::copy(&mut self.entries, out)?;
        write!(out, "\n  ],\n  \"summary\": ")?;
        indented(escaped_json(&serde_json::to_string_pretty(summary)?).as_bytes(), "  ", out)?;
        writeln!(out, "\n}}")
    }
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

#[derive(Serialize)]
struct TargetLine<'a> {
    target: &'a str,
    line: &'a RawValue,
}

impl Targets {
    /// Writes the first line of `-o jsonl`.
    pub fn first_line(command: &str, out: &mut dyn Write) -> io::Result<()> {
        line(out, "head", &json!({"schema": Targets::SCHEMA, "command": command}))
    }

    /// Writes the lines of one target: each line of the command with the target's name, then the exit.
    pub fn lines_of<R: BufRead>(
        target: &str,
        exit_code: u8,
        lines: Option<R>,
        error: Option<&ErrorDocument>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for own in lines.into_iter().flat_map(BufRead::lines) {
            let own = own?;
            line(out, "line", &TargetLine { target, line: serde_json::from_str(&own)? })?;
        }
        line(out, "target", &json!({"target": target, "exit_code": exit_code, "error": error}))
    }

    /// Writes the last line of `-o jsonl`.
    pub fn last_line(summary: &TargetsSummary, out: &mut dyn Write) -> io::Result<()> {
        line(out, "summary", summary)
    }
}
