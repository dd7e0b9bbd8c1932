//! What `reclaim` and `sweep` are asked to do to jobs: the command line over the target's settings.

use crate::cli::args::{ActArgs, ConfirmArgs};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::{APPLYING, READING, Settings};
use crate::model::{Action, age};
use crate::policy::{Delay, Lifted};
use std::time::Duration;

/// The options of one run.
pub(in crate::cli::commands) struct Options<'a> {
    /// The command.
    pub(in crate::cli::commands) name: &'static str,
    /// The schema of its document.
    pub(in crate::cli::commands) schema: &'static str,
    /// The command line.
    pub(in crate::cli::commands) act: &'a ActArgs,
    /// How much later than now requeued jobs may run.
    pub(super) later: Delay,
    /// After how many losses a job is failed.
    pub(super) max_stalls: Option<u32>,
    /// How long before the plan a second snapshot is taken, if it is.
    pub(super) confirm_after: Option<Duration>,
    /// How long the run may take, unless the operator says.
    pub(super) time: Duration,
}

impl<'a> Options<'a> {
    /// Resolves the options of a run that may wait so long for the sweep lock.
    ///
    /// # Errors
    /// When an option would do nothing, or leaves no time for the run.
    pub(in crate::cli::commands) fn resolve(
        (name, schema): (&'static str, &'static str),
        act: &'a ActArgs,
        confirm: &ConfirmArgs,
        settings: &Settings,
        lock_wait: Duration,
    ) -> Result<Options<'a>, CliError> {
        let target = &settings.target;
        let later = match act.to {
            // The target's delay is about jobs that are requeued; here none is.
            Some(Action::Fail | Action::Cancel | Action::TimeOut | Action::Wake) => Delay::default(),
            Some(Action::Requeue) | None => {
                Delay { delay: act.delay.or(target.delay), jitter: act.jitter.or(target.jitter) }
            }
        };
        requeues_something(act)?;
        if act.emit_sql && later.is_asked() {
            let message = "--emit-sql: a script cannot spread jobs by the target's delay and jitter";
            return Err(CliError::new(Exit::Usage, message)
                .hint("take them out of the target in the config file, or say --no-config"));
        }
        let confirm_after = confirm.confirm_after.or(target.confirm_after);
        let usual = if act.apply { APPLYING } else { READING } + lock_wait;
        Ok(Options {
            name,
            schema,
            act,
            later,
            max_stalls: act.max_stalls.or(target.max_stalls),
            confirm_after,
            time: with_pause(usual, confirm_after, settings.stated_timeout())?,
        })
    }

    /// What overrides the brake: a number of jobs on this command line, not one that the config file allows each run.
    pub(super) fn lifted(&self, settings: &Settings) -> Option<Lifted> {
        let of_target = (settings.target.brake == Some(false)).then_some(Lifted::Target);
        self.act.max_jobs.map(Lifted::MaxJobs).or(of_target)
    }
}

/// Refuses options about requeued jobs where no job is requeued.
fn requeues_something(act: &ActArgs) -> Result<(), CliError> {
    let flags = [
        ("--delay", act.delay.is_some()),
        ("--jitter", act.jitter.is_some()),
        ("--max-stalls", act.max_stalls.is_some()),
    ];
    let flag = flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    match (act.to, flag) {
        (Some(to @ (Action::Fail | Action::Cancel | Action::TimeOut)), Some(flag)) => {
            Err(CliError::new(Exit::Usage, format!("{flag}: with --to {to} no job goes back to the queue"))
                .hint(format!("leave out {flag} or --to")))
        }
        _ => Ok(()),
    }
}

/// The usual time and the pause between two snapshots, which must fit into a time limit of the operator's.
fn with_pause(usual: Duration, pause: Option<Duration>, limit: Option<Duration>) -> Result<Duration, CliError> {
    match (pause, limit) {
        (Some(pause), Some(limit)) if limit <= pause => {
            let (pause, limit) = (age(pause), age(limit));
            let message = format!("waiting {pause} between two snapshots leaves nothing of --timeout {limit}");
            Err(CliError::new(Exit::Usage, message).hint("make --timeout longer, or --confirm-after shorter"))
        }
        _ => Ok(usual + pause.unwrap_or_default()),
    }
}
