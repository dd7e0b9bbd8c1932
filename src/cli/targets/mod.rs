//! Several targets at once: each is asked as if it alone were named, a few at a time, and told of in the config file's order.
//! What fails in one does not stop the others.

mod report;
mod several;
mod target_result;
mod worker_pool;

pub use several::Several;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::settings::Settings;
use crate::output::format::Format;
use report::Teller;
use several::at;
use target_result::{Tally, TargetResult};

/// A parsed command line that may name several targets.
pub trait Request: Clone + Sync {
    /// What it says of targets; `None` for a command that knows one alone.
    fn several(&mut self) -> Option<Several<'_>>;

    /// The format of its report.
    fn format(&self) -> Format;

    /// Runs it with the one target that it names.
    ///
    /// # Errors
    /// When the command fails.
    fn run_alone(&self, context: &Context) -> Result<Exit, CliError>;
}

/// A command, and the targets that are asked.
pub struct EachTarget<'a, R> {
    command: &'a R,
    name: &'static str,
    targets: Vec<String>,
}

/// What several targets are to be asked, if they are.
///
/// # Errors
/// When there are no such targets, or something was said that makes sense with one alone.
pub fn asked<'a, R: Request>(command: &'a R, context: &Context) -> Result<Option<EachTarget<'a, R>>, CliError> {
    let mut probe = command.clone();
    let Some(several) = probe.several().filter(Several::is_meant) else { return Ok(None) };
    several.must_fit()?;
    let targets = Settings::targets(several.store, &context.environment)?;
    several.must_name_files(&targets)?;
    Ok(Some(EachTarget { command, name: several.name, targets }))
}

impl<R: Request> EachTarget<'_, R> {
    /// Asks them all.
    ///
    /// # Errors
    /// When the format has no place for several targets, or the report cannot be written. How the targets ended is in the
    /// report: the worst of it is the end of the whole.
    pub fn run(&self, context: &Context) -> Result<Exit, CliError> {
        let mut teller = Teller::of(self.command.format(), self.name)?;
        let mut tally = Tally::default();
        let ask = |n: usize| self.targets.get(n).map(|target| self.ask(target, context));
        let mut failed = None;
        worker_pool::in_order(self.targets.len(), &ask, |n, came| {
            let Some(target) = self.targets.get(n) else { return };
            let told = came.ok().flatten().unwrap_or_else(|| TargetResult::defect(target));
            tally.add(target, told.exit);
            context.ui.redraw("");
            if let Err(error) = teller.report(&context.ui, told) {
                // What cannot be told is done all the same; the others must not suffer.
                failed.get_or_insert(error);
            }
            context.ui.redraw(&format!("{} of {} targets", n + 1, self.targets.len()));
        })?;
        context.ui.redraw("");
        match failed {
            Some(error) => Err(error),
            None => teller.end(&context.ui, &tally).map(|()| tally.worst()),
        }
    }

    /// Asks one, with what it says held back until its turn has come.
    fn ask(&self, target: &str, context: &Context) -> TargetResult {
        let (ui, held) = context.ui.held(target);
        let (command, words) = at(self.command, target, context.words());
        let context = context.with(ui, words);
        let end = match context.interrupt.is_raised() {
            true => Err(CliError::new(Exit::Signal(signal_hook::consts::SIGINT), "interrupted")),
            false => command.run_alone(&context),
        };
        let end = end.map_err(|error| error.after(context.caught.signal()));
        TargetResult::new(target, end, &context.ui, held)
    }
}
