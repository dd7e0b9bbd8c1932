use crate::model::parse_duration;
use clap::Args;
use std::time::Duration;

/// To see what becomes of it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct VerifyArgs {
    /// Afterwards watch the requeued jobs for so long, or until all have ended, and say how they stand; 3 if some are stuck
    /// again. Not counted against --timeout
    #[arg(long, value_name = "DURATION", requires = "apply", value_parser = parse_watch, allow_hyphen_values = true)]
    pub verify: Option<Duration>,
}

const LONGEST: Duration = Duration::from_secs(24 * 3600);

fn parse_watch(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text)?;
    if time > LONGEST {
        return Err("that is longer than anybody watches: at most 24h".to_owned());
    }
    Ok(time)
}
