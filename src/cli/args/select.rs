use crate::model::parse_duration;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::time::Duration;

/// How long a claim must have been silent.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct OlderArgs {
    /// Silent for longer than this, counted from the best sign of life there is [default: the queue library's own
    /// threshold]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub older: Option<Duration>,
}

/// Which claims, and how many.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct SelectArgs {
    #[command(flatten)]
    pub claims: ClaimArgs,
    /// The N longest silent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

/// Which claims.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct ClaimArgs {
    /// Of queues that match (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub queue: Vec<String>,
    /// Of kinds that match (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub kind: Vec<String>,
    /// Held by owners that match (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub owner: Vec<String>,
    /// Held on this host, named whole (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub host: Vec<String>,
    /// In this state, in the queue's own words (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub state: Vec<String>,
}

/// Which jobs by name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct IdArgs {
    /// This job; a healthy one is skipped, never forced (can be repeated)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(), allow_negative_numbers = true)]
    pub id: Vec<String>,
}
