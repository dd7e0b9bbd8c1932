//! The report about several targets, in each format.

use super::target_result::{Tally, TargetResult};
use crate::cli::error::{CliError, OrEnd};
use crate::cli::exit::Exit;
use crate::cli::ui::Ui;
use crate::output::format::{Format, csv_under, inert};
use crate::output::{Targets, TargetsWriter};
use anyhow::Context as _;
use std::io::{self, Read};
use std::mem::replace;

/// A report in the making: each target is added when its turn comes.
pub(super) struct Report {
    command: &'static str,
    /// True once something was added.
    has_begun: bool,
    shape: Shape,
}

enum Shape {
    /// For people: a heading for each target that printed anything, and a summary.
    Sections {
        /// True once a target printed or reported anything. Without that there is no summary, because cron would mail
        /// it.
        has_news: bool,
    },
    /// For monitoring systems: a status line about all targets with the performance data of each, then their lines.
    Plugin { data: Vec<String>, lines: String },
    /// One JSON document that holds those of the targets.
    Document(TargetsWriter),
    /// JSON lines, each with the target's name.
    Lines,
    /// Comma-separated values with the target in the first column.
    Rows,
}

impl Report {
    pub(super) fn new(format: Format, command: &'static str) -> Result<Report, CliError> {
        let shape = match format {
            Format::Table if command == "health" => Shape::Plugin { data: Vec::new(), lines: String::new() },
            Format::Table | Format::Wide | Format::None => Shape::Sections { has_news: false },
            Format::Json => Shape::Document(TargetsWriter::default()),
            Format::Jsonl => Shape::Lines,
            Format::Csv => Shape::Rows,
            Format::Name | Format::Prometheus => {
                let message = format!("-o {} has no place for the targets' names", format.name());
                return Err(CliError::new(Exit::Usage, message)
                    .hint("-o csv has the target in its first column, -o jsonl in each line"));
            }
        };
        Ok(Report { command, has_begun: false, shape })
    }

    /// Adds the next target, and writes what can be written already.
    pub(super) fn add(&mut self, ui: &Ui, result: &TargetResult) -> Result<(), CliError> {
        let (target, exit_code) = (&result.target, result.exit.code());
        let output = read_back(result.buffered.out())?;
        let error = result.error_document();
        match &mut self.shape {
            Shape::Sections { has_news } => {
                *has_news |= result.exit != Exit::Done || result.buffered.has_err() || output.is_some();
                if let Some(mut output) = output {
                    let above = if replace(&mut self.has_begun, true) { "\n" } else { "" };
                    let title = ui.screen().strong(&format!("target {}", inert(target)));
                    ui.report(|out| {
                        writeln!(out, "{above}{title}")?;
                        io::copy(&mut output, out).map(drop)
                    })?;
                }
            }
            Shape::Plugin { data, lines } => {
                let mut text = String::new();
                if let Some(mut output) = output {
                    read_back(output.read_to_string(&mut text))?;
                } else if let Some(error) = &result.error {
                    text.clone_from(&error.message);
                }
                add_plugin(target, &text, data, lines);
            }
            Shape::Document(writer) => read_back(writer.add(target, exit_code, output, error.as_ref()))?,
            Shape::Lines => {
                let is_first = !replace(&mut self.has_begun, true);
                ui.report(|out| {
                    if is_first {
                        Targets::first_line(self.command, out)?;
                    }
                    Targets::lines_of(target, exit_code, output, error.as_ref(), out)
                })?;
            }
            Shape::Rows => {
                if let Some(rows) = output {
                    let has_header = !replace(&mut self.has_begun, true);
                    ui.report(|out| csv_under("target", target, has_header, rows, out))?;
                }
            }
        }
        if let Some(buffered) = read_back(result.buffered.err())? {
            ui.forward(target, buffered);
        }
        Ok(())
    }

    pub(super) fn end(self, ui: &Ui, tally: &Tally) -> Result<(), CliError> {
        match self.shape {
            Shape::Sections { has_news: true } => {
                ui.note(&tally.sentence());
                Ok(())
            }
            Shape::Sections { has_news: false } | Shape::Rows => Ok(()),
            Shape::Plugin { data, lines } => {
                let state = tally.worst().state().name().to_uppercase();
                let sentence = tally.sentence().replace('|', "_");
                let data = if data.is_empty() { String::new() } else { format!(" | {}", data.join(" ")) };
                ui.report(|out| {
                    writeln!(out, "JOBDOCTOR {state} - {}{data}", inert(&sentence))?;
                    out.write_all(lines.as_bytes())
                })
            }
            Shape::Document(writer) => ui.report(|out| writer.write(self.command, &tally.summary(), out)),
            Shape::Lines => ui.report(|out| Targets::last_line(&tally.summary(), out)),
        }
    }
}

/// Adds the output of one target's plugin: its performance data under the target's name, and its lines.
fn add_plugin(target: &str, text: &str, data: &mut Vec<String>, lines: &mut String) {
    let target = inert(target).to_string();
    // A label must not hold the characters that end it or begin its value.
    let label = target.replace(['\'', '=', '|', ' '], "_");
    for (n, line) in text.lines().enumerate() {
        let (text, values) = line.split_once(" | ").filter(|_| n == 0).unwrap_or((line, ""));
        lines.push_str(&format!("{}: {text}\n", target.replace('|', "_")));
        data.extend(values.split(' ').filter_map(|value| Some(format!("'{label}.{}", value.strip_prefix('\'')?))));
    }
}

fn read_back<T>(read: io::Result<T>) -> Result<T, CliError> {
    read.context("the output of a target cannot be read from its temporary file").or_end(Exit::Internal)
}
