use clap::Args;
use std::path::PathBuf;

/// A plan in a file, and jobs from a list.
#[derive(Debug, Clone, Default, Args)]
pub struct PlanArgs {
    /// The jobs of a list: one id a line, or the lines of `-o jsonl`; - is standard input. An empty list means no job. What
    /// is healthy is skipped, as with --id
    #[arg(long, value_name = "FILE", help_heading = "Which claims")]
    pub from_file: Option<PathBuf>,
    /// Keep the plan in a file, private to its user, to be looked at and carried out later with --plan
    #[arg(long, value_name = "FILE", help_heading = "What to do", conflicts_with_all = ["apply", "emit_sql", "plan"])]
    pub save_plan: Option<PathBuf>,
    /// The jobs of a saved plan, judged as they were then: only those, and of them only the ones that have not changed since
    #[arg(long, value_name = "FILE", help_heading = "Which claims", conflicts_with_all = [
        "from_file", "id", "older", "queue", "kind", "owner", "host", "state", "limit", "to", "rule", "expect",
    ])]
    pub plan: Option<PathBuf>,
}
