//! Options that select claims, and options that add proof to their age.

use super::parse_between_snapshots;
use crate::cli::CliError;
use crate::model::parse_duration;
use crate::ops::{OpsError, Selection};
use crate::policy::{Globs, INTERRUPTED_WITHIN};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;
use std::time::Duration;

/// The threshold of silence.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct OlderArgs {
    /// Treat a claim as stuck if its newest sign of life is older than this; a passed deadline still counts [default:
    /// the queue library's own threshold]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub older: Option<Duration>,
}

/// Jobs that their library failed, in the place of claims.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct InterruptedArgs {
    /// Select, instead of claims, the jobs that their library failed because their worker died
    #[arg(long, conflicts_with_all = ["older", "snapshot_file"])]
    pub interrupted: bool,
    /// With --interrupted: those that failed within this time; older ones are only counted [default: 24h]
    #[arg(long, value_name = "DURATION", requires = "interrupted", value_parser = parse_duration, allow_hyphen_values = true)]
    pub since: Option<Duration>,
}

impl InterruptedArgs {
    /// How long ago such a job may have failed; `None` where claims are selected.
    pub fn within(&self) -> Option<Duration> {
        self.interrupted.then(|| self.since.unwrap_or(INTERRUPTED_WITHIN))
    }
}

/// Filters of claims, with a limit.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct SelectArgs {
    #[command(flatten)]
    pub claims: ClaimArgs,
    /// Select at most the N longest silent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

impl SelectArgs {
    pub fn selection(&self) -> Result<Selection, CliError> {
        Ok(Selection { limit: self.limit.map(|limit| limit as usize), ..self.claims.selection()? })
    }
}

/// Filters of claims.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct ClaimArgs {
    /// Select claims of matching queues (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub queue: Vec<String>,
    /// Select claims of matching kinds (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub kind: Vec<String>,
    /// Select claims of matching owners (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub owner: Vec<String>,
    /// Select claims held on this host, given by its whole name (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub host: Vec<String>,
    /// Select claims in this state, one of the queue's own (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub state: Vec<String>,
}

impl ClaimArgs {
    pub fn selection(&self) -> Result<Selection, CliError> {
        Ok(Selection {
            queues: globs(&self.queue)?,
            kinds: globs(&self.kind)?,
            owners: globs(&self.owner)?,
            hosts: self.host.clone(),
            states: self.state.clone(),
            ..Selection::default()
        })
    }
}

pub fn globs(patterns: &[String]) -> Result<Globs, CliError> {
    Ok(Globs::new(patterns).map_err(OpsError::from)?)
}

/// Jobs by id.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct IdArgs {
    /// Select this job, by its id as it is printed; a healthy one is skipped, never forced (can be repeated)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(), allow_negative_numbers = true)]
    pub id: Vec<String>,
}

/// Evidence that is not in the database.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Proof beyond age")]
pub struct EvidenceArgs {
    /// Read the live owners from a list, one a line: hosts, host:pid, exact ids, or the output of `kubectl get pods -o
    /// name`; - is standard input. Every other owner was dead when the list was made. Reads every claim in flight
    #[arg(long, value_name = "FILE")]
    pub alive_from: Option<PathBuf>,
    /// Compare with the snapshot in this file, then save the new one there: claims unchanged since are dead, changed
    /// ones alive, whatever their timestamps say. Reads every claim in flight
    #[arg(long, value_name = "FILE")]
    pub snapshot_file: Option<PathBuf>,
}

/// A second snapshot.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Proof beyond age")]
pub struct ConfirmArgs {
    /// Take a second snapshot after this time (3s to 1h), and act only on jobs unchanged since the first
    #[arg(long, value_name = "DURATION", value_parser = parse_between_snapshots, allow_hyphen_values = true)]
    pub confirm_after: Option<Duration>,
}
