//! The results of the targets, and their exits in one summary.

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::streams::Buffered;
use crate::cli::ui::Ui;
use crate::output::{ErrorDocument, TargetsEnding, TargetsSummary};
use crate::policy::State;
use std::sync::Arc;

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

    /// Why it has no report, as a document.
    pub(super) fn error_document(&self) -> Option<ErrorDocument> {
        self.error.as_ref().map(CliError::document)
    }
}

/// The exits of the targets so far.
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
