use clap::Args;

/// Several queues at once.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where the queue is")]
pub struct TargetsArgs {
    /// Every target of the config file, at most 4 at a time, each with its own settings and --timeout; to ask some of them,
    /// repeat --target. A {target} in the path of a file that is written is the target's name
    #[arg(long, conflicts_with = "target")]
    pub all_targets: bool,
}
