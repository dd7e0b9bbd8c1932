use super::read_back;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::targets::target_result::{Tally, TargetResult};
use crate::cli::ui::Ui;
use crate::output::format::inert;
use std::io;

/// A heading for each target that has a report, and a sentence at the end. Where no target had anything to say there is
/// nothing to sum up: cron would mail it.
#[derive(Default)]
pub(in crate::cli::targets) struct Sections {
    /// True once there is something above the next heading.
    began: bool,
    /// True once a target said anything.
    spoke: bool,
}

impl Sections {
    pub(super) fn report(&mut self, ui: &Ui, told: &TargetResult) -> Result<(), CliError> {
        self.spoke |= told.exit != Exit::Done || told.held.has_err();
        let Some(mut report) = read_back(told.held.out())? else { return Ok(()) };
        self.spoke = true;
        let above = if std::mem::replace(&mut self.began, true) { "\n" } else { "" };
        let title = ui.screen().strong(&format!("target {}", inert(&told.target)));
        ui.report(|out| {
            writeln!(out, "{above}{title}")?;
            io::copy(&mut report, out).map(drop)
        })
    }

    pub(super) fn end(self, ui: &Ui, tally: &Tally) {
        if self.spoke {
            ui.note(&tally.sentence());
        }
    }
}
