use clap::Args;

/// To have it done by somebody else.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct EmitArgs {
    /// Print the guarded statements instead, for a change ticket: a script for psql or sqlite3 that does what --apply would
    /// do, one transaction a batch
    #[arg(long, group = "writing", conflicts_with_all = ["apply", "verify", "output", "json", "delay", "jitter"])]
    pub emit_sql: bool,
}
