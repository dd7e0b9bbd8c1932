//! The report about several targets, in each format that has a place for them.

use crate::cli::streams::Buffered;
use crate::cli::ui::Ui;
use crate::cli::{CliError, Context, Exit, OrEnd};
use crate::output::format::{Format, Plugin, inert};
use crate::output::{TargetExit, TargetsEnding, TargetsSummary, TargetsWriter};
use crate::policy::State;
use anyhow::Context as _;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// How the command ended on a target, with what it printed.
pub(super) struct TargetResult {
    pub(super) target: String,
    pub(super) end: Result<Exit, CliError>,
    pub(super) buffered: Arc<Buffered>,
}

/// A report in the making: each target is added when its turn comes.
pub(super) struct Report<'a> {
    ui: &'a Ui,
    shape: Shape,
    tally: Tally,
    /// True once a target printed or reported anything; without news there is no summary, because cron would mail it.
    has_news: bool,
}

enum Shape {
    /// For people: a heading for each target that printed anything, and a summary.
    Sections { have_begun: bool },
    /// For monitoring systems: a status line about all targets with the performance data of each, then their lines.
    Plugin(Plugin),
    /// For programs: what the targets printed, each under its name.
    Documents(TargetsWriter),
}

impl Report<'_> {
    pub(super) fn new<'a>(context: &'a Context, command: &'static str) -> Result<Report<'a>, CliError> {
        let shape = match context.format {
            Format::Table if command == "health" => Shape::Plugin(Plugin::default()),
            Format::Table | Format::None => Shape::Sections { have_begun: false },
            Format::Json | Format::Jsonl => Shape::Documents(TargetsWriter::new(command, context.format)),
            format @ (Format::Wide | Format::Csv | Format::Name | Format::Prometheus | Format::Markdown) => {
                let message = format!("-o {} makes no sense with several targets: it shows one queue", format.name());
                return Err(CliError::usage(message)
                    .hint("use -o json or -o jsonl, or run one target at a time, with --target NAME"));
            }
        };
        Ok(Report { ui: &context.ui, shape, tally: Tally::default(), has_news: false })
    }

    /// Adds the next target, and writes what can be written already.
    pub(super) fn add(&mut self, result: &TargetResult) -> Result<(), CliError> {
        let (ui, target) = (self.ui, result.target.as_str());
        let (exit, error) = match &result.end {
            Ok(exit) => (*exit, None),
            Err(error) => (error.exit, Some(error.document())),
        };
        self.tally.0.push((target.to_owned(), exit));
        let (output, messages) = (read_back(result.buffered.out())?, read_back(result.buffered.err())?);
        self.has_news |= exit != Exit::Done || output.is_some() || messages.is_some();
        let end = TargetExit { target, exit_code: exit.code(), error };
        match &mut self.shape {
            Shape::Sections { have_begun } => {
                if let Some(mut output) = output {
                    let above = if std::mem::replace(have_begun, true) { "\n" } else { "" };
                    let title = ui.screen().strong(&format!("target {}", inert(target)));
                    ui.report(|out| {
                        writeln!(out, "{above}{title}")?;
                        io::copy(&mut output, out).map(drop)
                    })?;
                }
            }
            Shape::Plugin(all) => {
                let text = end.error.map(|error| error.message).unwrap_or_default();
                let unread = || Plugin { state: State::Unknown, text, ..Plugin::default() };
                all.add(target, result.buffered.plugin().unwrap_or_else(unread));
            }
            Shape::Documents(writer) => ui.report(|out| writer.add(&end, output, out))?,
        }
        messages.into_iter().for_each(|messages| ui.forward(target, messages));
        Ok(())
    }

    /// Writes what is about all targets. The worst exit is that of the whole.
    pub(super) fn end(self) -> Result<Exit, CliError> {
        let (ui, tally) = (self.ui, self.tally);
        match self.shape {
            Shape::Sections { .. } if self.has_news => ui.note(&tally.sentence()),
            Shape::Sections { .. } => {}
            Shape::Plugin(all) => {
                ui.report_plugin(Plugin { state: tally.worst().state(), text: tally.sentence(), ..all })?;
            }
            Shape::Documents(writer) => ui.report(|out| writer.end(&tally.summary(), out))?,
        }
        Ok(tally.worst())
    }
}

fn read_back<T>(read: io::Result<T>) -> Result<T, CliError> {
    read.context("the output of a target cannot be read from its temporary file").or_end(Exit::Internal)
}

/// The targets, each with its exit.
#[derive(Default)]
struct Tally(Vec<(String, Exit)>);

impl Tally {
    fn worst(&self) -> Exit {
        self.0.iter().fold(Exit::Done, |worst, (_, exit)| worst.worse(*exit))
    }

    fn summary(&self) -> TargetsSummary {
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
    fn sentence(&self) -> String {
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
        let mut ends = BTreeMap::new();
        for (target, exit) in &self.0 {
            let (_, targets) = ends.entry((exit.severity(), exit.code())).or_insert((*exit, Vec::new()));
            targets.push(target.as_str());
        }
        ends.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_exit_is_that_of_the_whole_and_named_last() {
        let (done, partial) = (Exit::Done, Exit::Partial);
        let ends = [("a", Exit::Unavailable), ("b", done), ("c", partial), ("d", done), ("e", partial)];
        let tally = Tally(ends.map(|(target, exit)| (target.to_owned(), exit)).into());
        assert_eq!(tally.worst(), Exit::Unavailable);
        assert_eq!(tally.sentence(), "5 targets: 2 done, 2 done in part (c, e), 1 unreachable (a)");
        let summary = tally.summary();
        assert_eq!((summary.targets, summary.exit_code, summary.ends.len()), (5, 69, 3));
        assert_eq!(summary.ends[1].targets, ["c", "e"]);
    }
}
