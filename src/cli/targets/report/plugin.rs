use super::read_back;
use crate::cli::error::CliError;
use crate::cli::targets::target_result::{Tally, TargetResult};
use crate::cli::ui::Ui;
use crate::output::format::inert;
use std::io::Read;

/// One plugin of all targets: the line that comes first is about the whole, performance data of every target stands behind it
/// under the target's name, and what each had to say comes after.
#[derive(Default)]
pub(in crate::cli::targets) struct Plugin {
    data: Vec<String>,
    more: String,
}

impl Plugin {
    pub(super) fn report(&mut self, told: &TargetResult) -> Result<(), CliError> {
        let mut said = String::new();
        if let Some(mut out) = read_back(told.held.out())? {
            read_back(out.read_to_string(&mut said))?;
        } else if let Some(error) = &told.error {
            said.clone_from(&error.message);
        }
        let target = inert(&told.target).to_string();
        for (n, line) in said.lines().enumerate() {
            let (text, data) = line.split_once(" | ").filter(|_| n == 0).unwrap_or((line, ""));
            self.more.push_str(&format!("{}: {text}\n", target.replace('|', "_")));
            // What ends a label, or begins its value, cannot stand in one.
            let label = target.replace(['\'', '=', '|', ' '], "_");
            self.data.extend(data.split(' ').filter_map(|one| Some(format!("'{label}.{}", one.strip_prefix('\'')?))));
        }
        Ok(())
    }

    pub(super) fn end(self, ui: &Ui, tally: &Tally) -> Result<(), CliError> {
        let state = tally.worst().state().name().to_uppercase();
        let sentence = tally.sentence().replace('|', "_");
        let data = if self.data.is_empty() { String::new() } else { format!(" | {}", self.data.join(" ")) };
        ui.report(|out| {
            writeln!(out, "JOBDOCTOR {state} - {}{data}", inert(&sentence))?;
            out.write_all(self.more.as_bytes())
        })
    }
}
