//! One run's metrics: what it found and did, told when it has ended.

use super::args::StoreArgs;
use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::previous_metrics::PreviousMetrics;
use super::textfile::Textfile;
use crate::ops::{self, OpsError, Selection, Snapshot};
use crate::output::format::prometheus;
use crate::output::metrics::{Reclaimed, Run, metrics};
use crate::output::{Measured, Reclaim};
use crate::policy::Policy;
use std::cell::{Cell, RefCell};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What a target is called where none is configured.
const NO_TARGET: &str = "default";

/// See the module.
pub struct Metrics {
    command: &'static str,
    began: Cell<Instant>,
    textfile: Option<Textfile>,
    /// True if somebody wants to know what is in flight.
    measures: bool,
    target: RefCell<Option<String>>,
    measured: RefCell<Option<Measured>>,
    reclaimed: RefCell<Option<Reclaimed>>,
    stood_back: Cell<bool>,
}

impl Metrics {
    /// Begins a run. Where a file was asked for, it is made sure that it can be written, while nothing has been done yet.
    ///
    /// # Errors
    /// When it cannot.
    pub fn begin(
        command: &'static str,
        textfile: Option<&Path>,
        store: &StoreArgs,
        context: &Context,
    ) -> Result<Metrics, CliError> {
        let named = store.target.first().map(String::as_str).or(context.environment.get("JOBDOCTOR_TARGET"));
        Ok(Metrics {
            command,
            began: Cell::new(Instant::now()),
            textfile: textfile.map(Textfile::at).transpose()?,
            measures: textfile.is_some(),
            target: RefCell::new(named.map(str::to_owned)),
            measured: RefCell::default(),
            reclaimed: RefCell::default(),
            stood_back: Cell::new(false),
        })
    }

    /// The same for a command that moves jobs.
    #[must_use]
    pub fn of_actions(self) -> Metrics {
        Metrics { reclaimed: RefCell::new(Some(Reclaimed::new())), ..self }
    }

    /// The same where they are also printed, or not.
    #[must_use]
    pub fn printed(self, printed: bool) -> Metrics {
        Metrics { measures: self.measures || printed, ..self }
    }

    /// Counts how long the run takes from here: what it waited for before is not its own time.
    pub fn begins_now(&self) {
        self.began.set(Instant::now());
    }

    /// Notes whose run it is, once the settings are known.
    pub fn is_of(&self, target: Option<&str>) {
        self.target.replace(Some(target.unwrap_or(NO_TARGET).to_owned()));
    }

    /// Notes that it could look, and left it at that because another run is at work, or has just been.
    pub fn stands_back(&self) {
        self.stood_back.set(true);
    }

    /// Measures what is in flight, if anybody wants to know: before anything is done about it.
    ///
    /// # Errors
    /// When the store cannot be read, or the selection makes no sense for this queue.
    pub fn measure(&self, snapshot: &mut Snapshot, selection: &Selection, policy: &Policy) -> Result<(), OpsError> {
        if self.measures {
            self.measured.replace(Some(ops::measure(snapshot, selection, policy)?));
        }
        Ok(())
    }

    /// Claims that were measured.
    pub fn in_flight(&self) -> u64 {
        self.measured.borrow().as_ref().map_or(0, Measured::in_flight)
    }

    /// Notes what was done. What cannot be read back of a long plan is not counted: the report, which needs all of it, will say
    /// why.
    pub fn note(&self, document: &Reclaim) {
        let mut reclaimed = self.reclaimed.borrow_mut();
        let Some(reclaimed) = reclaimed.as_mut().filter(|_| self.measures && document.applied) else { return };
        // A wake-up moves nothing.
        for step in document.steps.iter().map_while(Result::ok).filter(|step| !step.is_wake_up()) {
            if let (Some(action), Some(outcome)) = (step.job.action, step.outcome) {
                *reclaimed.entry((step.job.queue, action, outcome.name())).or_default() += 1;
            }
        }
    }

    /// The metrics of a run that ends well, as far as it has come.
    ///
    /// # Errors
    /// Never in practice: the text is written to memory.
    pub fn text(&self) -> io::Result<String> {
        self.render(Exit::Done, PreviousMetrics::default())
    }

    /// Ends the run: writes the file, if one was asked for. How the run itself has ended is not changed by that.
    ///
    /// # Errors
    /// When the file cannot be written; it is then as it was.
    pub fn end(&self, exit: Exit) -> Result<(), CliError> {
        let Some(textfile) = &self.textfile else { return Ok(()) };
        let former = textfile.former(self.command);
        let text = self.render(exit, former);
        let text = text.map_err(|error| CliError::new(Exit::Internal, error.to_string()))?;
        textfile.write(&text)
    }

    /// The same for a run that may have written to the database: what it did counts, so it ends as it would have ended, and a
    /// file that could not be written is told beside it. Monitoring notices by the age of the last run.
    pub fn end_beside(&self, context: &Context, result: Result<Exit, CliError>) -> Result<Exit, CliError> {
        let exit = result.as_ref().map_or_else(|error| error.exit, |exit| *exit);
        if let Err(error) = self.end(context.caught.signal().map_or(exit, Exit::Signal)) {
            context.ui.complain(&format!("{}; what the run did is not changed by that", error.message));
        }
        result
    }

    fn render(&self, exit: Exit, former: PreviousMetrics) -> io::Result<String> {
        // Of a run that did not get as far as its settings, the file knows best whose it is.
        let known = self.target.borrow().clone();
        let target = known.or_else(|| former.target.clone()).unwrap_or_else(|| NO_TARGET.to_owned());
        // A file that was another target's says nothing about this one.
        let former = if former.target.as_ref() == Some(&target) { former } else { PreviousMetrics::default() };
        prometheus(&metrics(&Run {
            command: self.command,
            target: &target,
            ended_at: host_time().as_secs_f64(),
            took: self.began.get().elapsed(),
            exit_code: exit.code(),
            last_success_at: former.last_success_at,
            stood_back: self.stood_back.get().then_some(&former.found),
            measured: self.measured.borrow().as_ref(),
            reclaimed: self.reclaimed.borrow().as_ref(),
        }))
    }
}

/// How a run ends that has come to this, with the signal that was sent meanwhile, if one was.
pub fn ended<T>(context: &Context, result: &Result<T, CliError>) -> Exit {
    let exit = result.as_ref().map_or_else(|error| error.exit, |_| Exit::Done);
    context.caught.signal().map_or(exit, Exit::Signal)
}

/// Since 1970, by this host's clock: when this host ran something is not the store's to say, which may be out of reach.
#[expect(clippy::disallowed_methods, reason = "no job is judged by it; it is compared with Prometheus' own clock")]
fn host_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
