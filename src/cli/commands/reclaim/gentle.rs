//! How gently jobs go back: flags over the target's settings.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::record::journals;
use crate::model::{Action, age};
use crate::ops::{OpsError, Snapshot};
use crate::output::Reclaim;
use crate::policy::Later;
use std::time::Duration;

impl Reclaiming<'_> {
    /// How much later than now jobs that go back may run.
    pub(super) fn later(&self) -> Later {
        let (said, target) = (&self.act.gentle, &self.settings.target);
        match self.act.to {
            // What the target says is of jobs that go back; here none does.
            Some(Action::Fail | Action::Cancel | Action::TimeOut | Action::Wake) => Later::default(),
            Some(Action::Requeue) | None => {
                Later { delay: said.delay.or(target.delay), jitter: said.jitter.or(target.jitter) }
            }
        }
    }

    /// After how many losses a job is failed.
    pub(super) fn max_stalls(&self) -> Option<u32> {
        self.act.gentle.max_stalls.or(self.settings.target.max_stalls)
    }

    /// The same snapshot with losses counted, where a budget asks for it.
    pub(super) fn counting(&self, snapshot: Snapshot, context: &Context) -> Result<Snapshot, OpsError> {
        match self.max_stalls() {
            Some(_) => snapshot.counting_losses(journals(&context.environment).as_ref()),
            None => Ok(snapshot),
        }
    }

    /// Refuses flags that would do nothing.
    pub(super) fn gentle_flags_mean_something(&self) -> Result<(), CliError> {
        let said = &self.act.gentle;
        if self.act.emit.emit_sql && self.later().is_asked() {
            return Err(CliError::new(
                Exit::Usage,
                "--emit-sql: the target's delay and jitter cannot be told in a script",
            )
            .hint("take them out of the target in the config file, or say --no-config"));
        }
        let (Some(to @ (Action::Fail | Action::Cancel | Action::TimeOut)), Some(flag)) = (
            self.act.to,
            [
                ("--delay", said.delay.is_some()),
                ("--jitter", said.jitter.is_some()),
                ("--max-stalls", said.max_stalls.is_some()),
            ]
            .into_iter()
            .find_map(|(flag, is_said)| is_said.then_some(flag)),
        ) else {
            return Ok(());
        };
        Err(CliError::new(Exit::Usage, format!("{flag}: with --to {to} no job goes back to the queue"))
            .hint(format!("leave out {flag} or --to")))
    }
}

/// When the jobs that go back may run, for people; `None` if that is at once.
pub(super) fn when(document: &Reclaim) -> Option<String> {
    let span = |seconds: Option<f64>| seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).map(age);
    match (span(document.delay_seconds), span(document.jitter_seconds)) {
        (None, None) => None,
        (Some(delay), None) => Some(format!("jobs that go back may run {delay} later")),
        (None, Some(jitter)) => Some(format!("jobs that go back may run some time within {jitter}")),
        (Some(delay), Some(jitter)) => Some(format!("jobs that go back may run {delay} later, spread over {jitter}")),
    }
}
