use super::read_back;
use crate::cli::error::CliError;
use crate::cli::targets::target_result::{Tally, TargetResult};
use crate::cli::ui::Ui;
use crate::output::TargetsWriter;

/// One document with those of the targets in it.
pub(in crate::cli::targets) struct Document {
    command: &'static str,
    writer: TargetsWriter,
}

impl Document {
    pub(super) fn of(command: &'static str) -> Document {
        Document { command, writer: TargetsWriter::default() }
    }

    pub(super) fn report(&mut self, told: &TargetResult) -> Result<(), CliError> {
        let document = read_back(told.held.out())?;
        let error = told.error_document();
        read_back(self.writer.add(&told.target, told.exit.code(), document, error.as_ref()))
    }

    pub(super) fn end(self, ui: &Ui, tally: &Tally) -> Result<(), CliError> {
        ui.report(|out| self.writer.write(self.command, &tally.summary(), out))
    }
}
