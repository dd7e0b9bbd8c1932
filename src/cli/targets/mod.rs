//! Several targets: the command runs on each as if it alone were named, a few at a time, and reports them in the config
//! file's order. A target that fails does not stop the others.

mod report;
mod several;
mod worker_pool;

pub use several::Several;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::settings::Settings;
use report::{Report, Tally, TargetResult};

/// The targets that a command runs on.
pub struct EachTarget {
    name: &'static str,
    targets: Vec<String>,
}

/// Runs the command on the target of that name.
type Run<'a> = &'a (dyn Fn(&str, &mut Context) -> Result<Exit, CliError> + Sync);

impl EachTarget {
    /// The targets that these options name.
    pub fn of(several: Several<'_>, context: &Context) -> Result<EachTarget, CliError> {
        several.check_options()?;
        let (targets, broken) = Settings::targets(several.store, &context.environment)?;
        broken.iter().for_each(|error| context.ui.warn_about_setup(&error.to_string()));
        several.check_files(&targets)?;
        Ok(EachTarget { name: several.name, targets })
    }

    /// Runs the command on each target; the worst exit is that of the whole.
    pub fn run(&self, context: &Context, run: Run<'_>) -> Result<Exit, CliError> {
        let mut report = Report::new(context.format, self.name)?;
        let mut tally = Tally::default();
        let run = |n: usize| self.targets.get(n).map(|target| run_on(target, context, run));
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
}

/// Runs the command on one target, with its output buffered.
fn run_on(target: &str, context: &Context, run: Run<'_>) -> TargetResult {
    let (ui, buffered) = context.ui.buffered(target);
    let mut context = context.with(ui);
    let end = match context.interrupt.is_raised() {
        true => Err(CliError::new(Exit::Signal(signal_hook::consts::SIGINT), "interrupted")),
        false => run(target, &mut context),
    };
    let end = end.map_err(|error| error.after(context.caught.signal()));
    TargetResult::new(target, end, &context.ui, buffered)
}
