use crate::model::{age, parse_duration};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The longest time that a run waits for the sweep lock, or sleeps before it begins.
const LONGEST: Duration = Duration::from_secs(3600);
/// The longest time that one sweep keeps others off.
const LONGEST_MIN_INTERVAL: Duration = Duration::from_secs(7 * 86_400);

/// For runs that nobody watches.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "From cron")]
pub struct UnattendedArgs {
    /// End with 75 if a sweep of this queue has moved something within this time (at most 7d), on any host if the queue has
    /// a ledger, else on this one
    #[arg(long, value_name = "DURATION", value_parser = parse_min_interval, allow_hyphen_values = true)]
    pub min_interval: Option<Duration>,
    /// Wait this long (at most 1h) while another sweep is at work, instead of ending with 75 at once
    #[arg(long, value_name = "DURATION", requires = "apply", value_parser = parse_pause, allow_hyphen_values = true)]
    pub lock_wait: Option<Duration>,
    /// Sleep for a random part of this time (at most 1h) before anything is opened, so that hosts whose crons start
    /// together do not all come at once; does not count as --timeout. With --restart, after a first snapshot that says which
    /// claims are older than the sweep
    #[arg(long, value_name = "DURATION", value_parser = parse_pause, allow_hyphen_values = true)]
    pub splay: Option<Duration>,
    /// Warn, and name the owners, where more jobs than this are moved
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub warn_above: Option<u64>,
    /// Write what --json prints into this file at the end of every run, whole or not at all; of a run that fails, the error
    #[arg(long, value_name = "FILE", conflicts_with = "emit_sql")]
    pub report_file: Option<PathBuf>,
    /// How stderr is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", hide_default_value = true)]
    pub log_format: LogFormat,
}

/// How stderr is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line, with the time, the level and the run
    Json,
}

/// A time that a run may be kept waiting: 1 second to 1 hour.
///
/// # Errors
/// What is wrong, and how to write it instead.
pub fn parse_pause(text: &str) -> Result<Duration, String> {
    at_most(text, LONGEST, "1h")
}

/// A time that one sweep keeps others off: 1 second to 7 days.
///
/// # Errors
/// What is wrong, and how to write it instead.
pub fn parse_min_interval(text: &str) -> Result<Duration, String> {
    at_most(text, LONGEST_MIN_INTERVAL, "7d")
}

/// A number of jobs.
fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is a number of jobs, in digits alone, as in 100".to_owned())
}

fn at_most(text: &str, longest: Duration, spelled: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        span if span > longest => Err(format!("{} is too long: the longest is {spelled}", age(span))),
        span => Ok(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_waits_for_ever() {
        assert_eq!(parse_pause("1h"), Ok(LONGEST));
        assert_eq!(parse_pause("61m"), Err("1h 1m is too long: the longest is 1h".to_owned()));
        assert_eq!(parse_min_interval("7d"), Ok(LONGEST_MIN_INTERVAL));
        assert_eq!(parse_min_interval("8d"), Err("8days is too long: the longest is 7d".to_owned()));
        assert!(parse_pause("0s").is_err() && parse_min_interval("5M").is_err());
    }
}
