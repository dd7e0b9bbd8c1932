//! The options of a pass: the command line over the target's settings.

use crate::cli::args::{ActArgs, ConfirmArgs, EvidenceArgs, OutputArgs};
use crate::cli::settings::APPLYING;
use crate::cli::{CliError, READING, Settings};
use crate::model::{Action, age};
use crate::policy::{Delay, Override};
use std::time::Duration;

pub struct Options<'a> {
    pub name: &'static str,
    pub act: &'a ActArgs,
    pub(super) evidence: &'a EvidenceArgs,
    pub(super) output: &'a OutputArgs,
    /// How much later than now requeued jobs may run.
    pub(super) delay: Delay,
    /// After how many losses a job is failed.
    pub max_stalls: Option<u32>,
    /// The time between the plan and the snapshot that confirms it.
    pub(super) confirm_after: Option<Duration>,
    /// How long the run may take, unless the operator says.
    pub time: Duration,
    /// Whether the document goes to a file too.
    pub has_report_file: bool,
    /// True for a restart sweep: workers start after it, and jobs of theirs that stay where they are wait for a person.
    pub is_restart: bool,
    /// How long ago a job may have been interrupted where these are planned instead of claims.
    pub interrupted: Option<Duration>,
}

impl<'a> Options<'a> {
    /// Takes the options of a command line alone, as for an undo, to which no setting about stuck jobs applies.
    pub fn of(name: &'static str, act: &'a ActArgs, evidence: &'a EvidenceArgs, output: &'a OutputArgs) -> Self {
        Options {
            name,
            act,
            evidence,
            output,
            delay: Delay::default(),
            max_stalls: None,
            confirm_after: None,
            time: if act.mode().writes() { APPLYING } else { READING },
            has_report_file: false,
            is_restart: false,
            interrupted: None,
        }
    }

    /// Resolves the options about stuck jobs, which the target may set too.
    pub fn resolve(self, confirm: &ConfirmArgs, settings: &Settings) -> Result<Options<'a>, CliError> {
        let (act, target) = (self.act, &settings.target);
        let delay = match act.to {
            // No job is requeued, so the target's delay does not apply.
            Some(Action::Fail | Action::Cancel | Action::TimeOut | Action::Wake) => Delay::default(),
            Some(Action::Requeue) | None => {
                Delay { delay: act.delay.or(target.delay), jitter: act.jitter.or(target.jitter) }
            }
        };
        check_requeue_options(act)?;
        let confirm_after = confirm.confirm_after.or(target.confirm_after);
        if let (Some(pause), Some(limit)) = (confirm_after, settings.stated_timeout())
            && limit <= pause
        {
            let (pause, limit) = (age(pause), age(limit));
            let message = format!("the pause of {pause} between two snapshots does not fit into --timeout {limit}");
            return Err(CliError::usage(message).hint("make --timeout longer, or --confirm-after shorter"));
        }
        let (max_stalls, time) = (act.max_stalls.or(target.max_stalls), self.time + confirm_after.unwrap_or_default());
        Ok(Options { delay, max_stalls, confirm_after, time, ..self })
    }

    /// Names the document that the command prints.
    pub(super) fn schema(&self) -> &'static str {
        match self.name {
            "sweep" => "jobdoctor.sweep/v1",
            "undo" => "jobdoctor.undo/v1",
            _ => "jobdoctor.reclaim/v1",
        }
    }

    /// What overrides the brake: `--max-jobs` of this command line, but not `max_jobs` of the config file.
    pub fn overridden(&self, settings: &Settings) -> Option<Override> {
        let of_target = (settings.target.brake == Some(false)).then_some(Override::Target);
        self.act.max_jobs.map(Override::MaxJobs).or(of_target)
    }
}

/// Refuses options about requeued jobs where no job is requeued.
fn check_requeue_options(act: &ActArgs) -> Result<(), CliError> {
    let flags = [
        ("--delay", act.delay.is_some()),
        ("--jitter", act.jitter.is_some()),
        ("--max-stalls", act.max_stalls.is_some()),
    ];
    let flag = flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    match (act.to, flag) {
        (Some(to @ (Action::Fail | Action::Cancel | Action::TimeOut)), Some(flag)) => {
            Err(CliError::usage(format!("{flag}: with --to {to} no job is requeued"))
                .hint(format!("leave out {flag} or --to")))
        }
        _ => Ok(()),
    }
}
