use crate::model::{age, parse_duration};
use clap::Args;
use std::time::Duration;

/// The longest delay, and the longest window.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// How gently jobs go back.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How gently")]
pub struct GentleArgs {
    /// Jobs that go back to the queue may run this much later than now, at most 7d
    #[arg(long, value_name = "DURATION", value_parser = parse_wait, allow_hyphen_values = true)]
    pub delay: Option<Duration>,
    /// Spread them over a window of this length, after --delay if there is one, at most 7d
    #[arg(long, value_name = "DURATION", value_parser = parse_wait, allow_hyphen_values = true)]
    pub jitter: Option<Duration>,
    /// Fail a job that was lost N times before, instead of giving it back again: 0 fails it at once, 1 at the second loss
    #[arg(long, value_name = "N")]
    pub max_stalls: Option<u32>,
}

/// How long a job may be made to wait: 1 second to 7 days, in the words of every other duration.
///
/// # Errors
/// What is wrong, and how to write it instead.
pub fn parse_wait(text: &str) -> Result<Duration, String> {
    let wait = parse_duration(text)?;
    if wait > LONGEST {
        return Err(format!("{} is too long to wait: the longest is 7d", age(wait)));
    }
    Ok(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_the_longest() {
        assert_eq!(parse_wait("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_wait("7d"), Ok(LONGEST));
        assert_eq!(parse_wait("7d 1s"), Err("7days 1s is too long to wait: the longest is 7d".to_owned()));
        assert!(parse_wait("0s").is_err() && parse_wait("5M").is_err() && parse_wait("-5m").is_err());
    }
}
