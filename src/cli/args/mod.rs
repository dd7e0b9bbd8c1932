//! Options that several commands share; the doc comments of the fields are the help texts.

mod act;
mod claims;
mod output;
mod store;

pub use act::{
    ActArgs, FastArgs, PlanArgs, ReasonArgs, UnattendedArgs, actions, named, parse_digest, switchable_rules,
};
pub use claims::{ClaimArgs, ConfirmArgs, EvidenceArgs, IdArgs, InterruptedArgs, OlderArgs, SelectArgs, globs};
pub use output::{
    ColorArg, ListArgs, LogFormat, OutputArgs, TextfileArgs, TimeArg, ToneArgs, few_formats, markdown_too, metrics_too,
    text_or_json,
};
pub use store::{StoreArgs, TargetsArgs, parse_option};

use crate::model::{age, parse_duration};
use std::time::Duration;

/// Reads a duration of up to an hour: what a run may wait or sleep for.
pub fn parse_up_to_1h(text: &str) -> Result<Duration, String> {
    within(text, "1s", "1h")
}

/// Reads a duration of up to a day: how long jobs may be watched.
pub fn parse_up_to_1d(text: &str) -> Result<Duration, String> {
    within(text, "1s", "1d")
}

/// Reads a duration of up to a week: how long a job or a sweep may be put off.
pub fn parse_up_to_7d(text: &str) -> Result<Duration, String> {
    within(text, "1s", "7d")
}

/// Reads the time between two snapshots, 3s to 1h: after two seconds, timestamps written in whole ones differ.
pub fn parse_between_snapshots(text: &str) -> Result<Duration, String> {
    within(text, "3s", "1h")
}

fn within(text: &str, shortest: &str, longest: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        span if span < parse_duration(shortest)? => {
            Err(format!("{} is too short: the shortest is {shortest}", age(span)))
        }
        span if span > parse_duration(longest)? => Err(format!("{} is too long: the longest is {longest}", age(span))),
        span => Ok(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_waits_for_ever() {
        assert_eq!(parse_up_to_1h("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(parse_up_to_1h("61m"), Err("1h 1m is too long: the longest is 1h".to_owned()));
        assert_eq!(parse_up_to_1d("25h"), Err("1 day 1 h is too long: the longest is 1d".to_owned()));
        assert_eq!(parse_up_to_7d("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_up_to_7d("7d"), Ok(Duration::from_secs(7 * 86_400)));
        assert_eq!(parse_up_to_7d("7d 1s"), Err("7 days 1 s is too long: the longest is 7d".to_owned()));
        assert_eq!(parse_between_snapshots("2s"), Err("2s is too short: the shortest is 3s".to_owned()));
        assert_eq!(parse_between_snapshots("2h"), Err("2h is too long: the longest is 1h".to_owned()));
        for parse in [parse_up_to_1h, parse_up_to_1d, parse_up_to_7d, parse_between_snapshots] {
            assert!(parse("0s").is_err() && parse("5M").is_err() && parse("-5m").is_err());
        }
    }
}
