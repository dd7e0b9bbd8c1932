use super::read_back;
use crate::cli::error::CliError;
use crate::cli::targets::target_result::{Tally, TargetResult};
use crate::cli::ui::Ui;
use crate::output::Targets;

/// Each line of a target under the target's name.
pub(in crate::cli::targets) struct Lines {
    command: &'static str,
    began: bool,
}

impl Lines {
    pub(super) fn of(command: &'static str) -> Lines {
        Lines { command, began: false }
    }

    pub(super) fn report(&mut self, ui: &Ui, told: &TargetResult) -> Result<(), CliError> {
        let lines = read_back(told.held.out())?;
        let error = told.error_document();
        let is_first = !std::mem::replace(&mut self.began, true);
        ui.report(|out| {
            if is_first {
                Targets::first_line(self.command, out)?;
            }
            Targets::lines_of(&told.target, told.exit.code(), lines, error.as_ref(), out)
        })
    }

    pub(super) fn end(ui: &Ui, tally: &Tally) -> Result<(), CliError> {
        ui.report(|out| Targets::last_line(&tally.summary(), out))
    }
}
