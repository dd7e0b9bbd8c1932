use clap::Args;
use std::path::PathBuf;

/// For node_exporter.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct TextfileArgs {
    /// Also keep the run's metrics in this file, for the textfile collector of node_exporter: replaced whole, after a run that
    /// failed too. Counts every claim in flight, before anything is done. One file for each command and target
    #[arg(long, value_name = "FILE")]
    pub textfile: Option<PathBuf>,
}
