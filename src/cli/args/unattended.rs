//! Options of sweeps that run unattended.

use super::{LogFormat, parse_up_to_1h, parse_up_to_7d};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Locks, pauses and reports of a sweep from cron.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "From cron")]
pub struct UnattendedArgs {
    /// End with 75 if a sweep has moved jobs of this queue within this time, at most 7d; on any host if the queue has a
    /// ledger, else on this one
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_7d, allow_hyphen_values = true)]
    pub min_interval: Option<Duration>,
    /// Wait this long, at most 1h, for another sweep to end [default: end with 75 at once]
    #[arg(long, value_name = "DURATION", requires = "apply", value_parser = parse_up_to_1h, allow_hyphen_values = true)]
    pub lock_wait: Option<Duration>,
    /// Sleep for a random part of this time, at most 1h, before anything is opened, so that hosts do not start
    /// together. Does not count as --timeout. With --restart, sleep after a first snapshot, which tells the claims
    /// older than the sweep
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_1h, allow_hyphen_values = true)]
    pub splay: Option<Duration>,
    /// Warn, and name the owners, if more than N jobs are moved
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub warn_above: Option<u64>,
    /// Write the JSON report to this file at the end of every run, atomically; of a run that fails, the error
    #[arg(long, value_name = "FILE", conflicts_with = "emit_sql")]
    pub report_file: Option<PathBuf>,
    /// Write stderr in this format [default: text]
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", hide_default_value = true)]
    pub log_format: LogFormat,
}

fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is a number of jobs, in digits alone, as in 100".to_owned())
}
