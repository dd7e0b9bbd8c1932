//! The report about several targets, in each format.

use crate::cli::streams::Buffered;
use crate::cli::ui::Ui;
use crate::cli::{CliError, Exit, OrEnd};
use crate::output::format::{Format, csv_under, inert};
use crate::output::{Targets, TargetsEnding, TargetsSummary, TargetsWriter};
use crate::policy::State;
use anyhow::Context as _;
use std::io::{self, Read};
use std::mem::replace;
use std::sync::Arc;

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
    /// For people: a line for each target.
    LineEach,
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
            Format::Table if command == "status" => Shape::LineEach,
            Format::Table | Format::Wide | Format::Markdown | Format::None => Shape::Sections { has_news: false },
            Format::Json => Shape::Document(TargetsWriter::default()),
            Format::Jsonl => Shape::Lines,
            Format::Csv => Shape::Rows,
            Format::Name | Format::Prometheus => {
                let message = format!("-o {} has no place for the targets' names", format.name());
                return Err(
                    CliError::usage(message).hint("-o csv has the target in its first column, -o jsonl in each line")
                );
            }
        };
        Ok(Report { command, has_begun: false, shape })
    }

    /// Adds the next target, and writes what can be written already.
    pub(super) fn add(&mut self, ui: &Ui, result: &TargetResult) -> Result<(), CliError> {
        let (target, exit_code) = (&result.target, result.exit.code());
        let output = read_back(result.buffered.out())?;
        let error = result.error.as_ref().map(CliError::document);
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
            Shape::LineEach => {
                let mut text = String::new();
                if let Some(mut output) = output {
                    read_back(output.read_to_string(&mut text))?;
                } else if let Some(error) = &result.error {
                    text = format!("UNKNOWN: {}\n", inert(&error.message).replace('\n', " "));
                }
                ui.report(|out| write!(out, "{}: {text}", inert(target)))?;
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
            Shape::Sections { has_news: true } | Shape::LineEach => {
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

pub(super) struct TargetResult {
    pub(super) target: String,
    pub(super) exit: Exit,
    /// Why it has no report.
    pub(super) error: Option<CliError>,
    pub(super) buffered: Arc<Buffered>,
}

impl TargetResult {
    /// The result of a run that ended. An error for people is added to its output.
    pub(super) fn new(target: &str, end: Result<Exit, CliError>, ui: &Ui, buffered: Arc<Buffered>) -> TargetResult {
        let (exit, error) = match end {
            Ok(exit) => (exit, None),
            Err(error) => (error.exit, Some(error)),
        };
        if let Some(error) = error.as_ref().filter(|_| !ui.is_for_machines()) {
            ui.error(error);
        }
        TargetResult { target: target.to_owned(), exit, error, buffered }
    }

    /// The result of a run that panicked; its place is printed already.
    pub(super) fn defect(target: &str) -> TargetResult {
        let error =
            CliError::new(Exit::Internal, format!("jobdoctor has a defect: the run on target {target} was abandoned"));
        TargetResult { target: target.to_owned(), exit: Exit::Internal, error: Some(error), buffered: Arc::default() }
    }
}

#[derive(Default)]
pub(super) struct Tally(Vec<(String, Exit)>);

impl Tally {
    pub(super) fn add(&mut self, target: &str, exit: Exit) {
        self.0.push((target.to_owned(), exit));
    }

    pub(super) fn worst(&self) -> Exit {
        self.0.iter().fold(Exit::Done, |worst, (_, exit)| worst.worse(*exit))
    }

    pub(super) fn summary(&self) -> TargetsSummary {
        let ending = |(exit, targets): (Exit, Vec<&str>)| TargetsEnding {
            exit_code: exit.code(),
            kind: exit.name().to_owned(),
            targets: targets.into_iter().map(str::to_owned).collect(),
        };
        TargetsSummary {
            targets: self.0.len() as u64,
            ends: self.by_exit().into_iter().map(ending).collect(),
            exit_code: self.worst().code(),
        }
    }

    /// The counts in a sentence: `4 targets: 3 done, 1 unreachable (staging)`.
    pub(super) fn sentence(&self) -> String {
        let part = |(exit, targets): (Exit, Vec<&str>)| match exit {
            Exit::Done | Exit::Health(State::Ok) => format!("{} {}", targets.len(), exit.of_target()),
            _ => format!("{} {} ({})", targets.len(), exit.of_target(), targets.join(", ")),
        };
        let parts: Vec<String> = self.by_exit().into_iter().map(part).collect();
        let targets = if self.0.len() == 1 { "target" } else { "targets" };
        format!("{} {targets}: {}", self.0.len(), parts.join(", "))
    }

    /// The targets by exit, the best exit first.
    fn by_exit(&self) -> Vec<(Exit, Vec<&str>)> {
        let mut ends: Vec<(Exit, Vec<&str>)> = Vec::new();
        for (target, exit) in &self.0 {
            match ends.iter_mut().find(|(end, _)| end == exit) {
                Some((_, targets)) => targets.push(target),
                None => ends.push((*exit, vec![target])),
            }
        }
        ends.sort_by_key(|(exit, _)| exit.severity());
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_exit_is_that_of_the_whole_and_named_last() {
        let mut tally = Tally::default();
        for (target, exit) in
            [("a", Exit::Unavailable), ("b", Exit::Done), ("c", Exit::Partial), ("d", Exit::Done), ("e", Exit::Partial)]
        {
            tally.add(target, exit);
        }
        assert_eq!(tally.worst(), Exit::Unavailable);
        assert_eq!(tally.sentence(), "5 targets: 2 done, 2 done in part (c, e), 1 unreachable (a)");
        let summary = tally.summary();
        assert_eq!((summary.targets, summary.exit_code, summary.ends.len()), (5, 69, 3));
        assert_eq!(summary.ends[1].targets, ["c", "e"]);
    }
}
