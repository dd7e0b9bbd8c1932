//! Several targets: the command runs on each as if it alone were named, a few at a time, and reports them in the config
//! file's order. A target that fails does not stop the others.

mod report;
mod several;
mod worker_pool;

pub use several::Several;

use super::commands::Command;
use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::settings::Settings;
use report::{Report, Tally, TargetResult};
use several::for_target;

/// A command and the targets that it runs on.
pub struct EachTarget<'a> {
    command: &'a Command,
    name: &'static str,
    targets: Vec<String>,
}

/// The command on each of its targets, if it names several.
pub fn each_target<'a>(command: &'a Command, context: &Context) -> Result<Option<EachTarget<'a>>, CliError> {
    let mut probe = command.clone();
    let Some(several) = probe.several().filter(Several::are_requested) else { return Ok(None) };
    several.check_options()?;
    let (targets, broken) = Settings::targets(several.store, &context.environment)?;
    broken.iter().for_each(|error| context.ui.warn_about_setup(&error.to_string()));
    several.check_files(&targets)?;
    Ok(Some(EachTarget { command, name: several.name, targets }))
}

impl EachTarget<'_> {
    /// Runs the command on each target; the worst exit is that of the whole.
    pub fn run(&self, context: &Context) -> Result<Exit, CliError> {
        let mut report = Report::new(context.format, self.name)?;
        let mut tally = Tally::default();
        let run = |n: usize| self.targets.get(n).map(|target| self.run_on(target, context));
        let mut failed = None;
        worker_pool::in_order(self.targets.len(), &run, |n, result| {
            let Some(target) = self.targets.get(n) else { return };
            let result = result.ok().flatten().unwrap_or_else(|| TargetResult::defect(target));
            tally.add(target, result.exit);
            context.ui.redraw("");
            if let Err(error) = report.add(&context.ui, &result) {
                // The command has run on this target, and the others must not suffer: go on.
                failed.get_or_insert(error);
            }
            context.ui.redraw(&format!("{} of {} targets", n + 1, self.targets.len()));
        })?;
        context.ui.redraw("");
        match failed {
            Some(error) => Err(error),
            None => report.end(&context.ui, &tally).map(|()| tally.worst()),
        }
    }

    /// Runs the command on one target, with its output buffered.
    fn run_on(&self, target: &str, context: &Context) -> TargetResult {
        let (ui, buffered) = context.ui.buffered(target);
        let (command, words) = for_target(self.command, target, context.words());
        let context = context.with(ui, words);
        let end = match context.interrupt.is_raised() {
            true => Err(CliError::new(Exit::Signal(signal_hook::consts::SIGINT), "interrupted")),
            false => command.run_alone(&context),
        };
        let end = end.map_err(|error| error.after(context.caught.signal()));
        TargetResult::new(target, end, &context.ui, buffered)
    }
}
