use super::read_back;
use crate::cli::error::CliError;
use crate::cli::targets::target_result::TargetResult;
use crate::cli::ui::Ui;
use crate::output::format::csv_under;

/// One list of all targets' rows, with the target in the first column.
#[derive(Default)]
pub(in crate::cli::targets) struct Rows {
    began: bool,
}

impl Rows {
    pub(super) fn report(&mut self, ui: &Ui, told: &TargetResult) -> Result<(), CliError> {
        let Some(rows) = read_back(told.held.out())? else { return Ok(()) };
        let has_header = !std::mem::replace(&mut self.began, true);
        ui.report(|out| csv_under("target", &told.target, has_header, rows, out))
    }
}
