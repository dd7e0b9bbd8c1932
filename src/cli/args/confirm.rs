use crate::model::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The shortest and the longest time between two snapshots. Two stamps of a worker that writes whole seconds differ surely after two.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(3600));

/// What proves death or life beside the rows themselves.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Proof beyond age")]
pub struct EvidenceArgs {
    /// A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is
    /// standard input. Every other owner is dead as of then. Reads every claim in flight
    #[arg(long, value_name = "FILE")]
    pub alive_from: Option<PathBuf>,
    /// Compare with the snapshot saved in this file, and save this one there: what stood still is dead, and what changed is
    /// alive, whatever its clock says. Reads every claim in flight
    #[arg(long, value_name = "FILE")]
    pub snapshot_file: Option<PathBuf>,
}

/// A second snapshot.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Proof beyond age")]
pub struct ConfirmArgs {
    /// Take a second snapshot this much later (3s to 1h), and act only on jobs unchanged since
    #[arg(long, value_name = "DURATION", value_parser = parse_between_snapshots, allow_hyphen_values = true)]
    pub confirm_after: Option<Duration>,
}

/// The time between two snapshots.
///
/// # Errors
/// When it is no duration, or out of range.
pub fn parse_between_snapshots(text: &str) -> Result<Duration, String> {
    let (shortest, longest) = BETWEEN_LOOKS;
    match parse_duration(text)? {
        span if (shortest..=longest).contains(&span) => Ok(span),
        span if span < shortest => {
            Err(format!("{} is too short between two snapshots: the shortest is 3s", text.trim().escape_debug()))
        }
        _ => Err(format!("{} is too long between two snapshots: the longest is 1h", text.trim().escape_debug())),
    }
}
