//! Options of `adopt`.

use crate::model::parse_duration;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::time::Duration;

/// What is adopted, and what is known of it.
#[derive(Debug, Clone, Args)]
pub struct AdoptArgs {
    /// The table, perhaps with its schema: app.jobs
    #[arg(id = "adopted", value_name = "TABLE", value_parser = NonEmptyStringValueParser::new())]
    pub table: String,
    /// Name of the mapping [default: the table's name]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub name: Option<String>,
    /// Settle a key of the mapping, such as states.in_flight=working or claim.liveness='heartbeat pinged 2m'; none
    /// leaves it out (can be repeated)
    #[arg(long = "answer", value_name = "KEY=VALUE", value_parser = parse_answer)]
    pub answers: Vec<(String, String)>,
    /// Watch the rows for this long: a timestamp that advances on rows in flight is taken as the heartbeat
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub watch: Option<Duration>,
    /// Let the database try each action on one stuck job, in a transaction that is rolled back: server
    #[arg(long, value_name = "HOW", require_equals = true, hide_possible_values = true)]
    pub dry_run: Option<AdoptDryRun>,
    /// Add the draft to the config file, if no question is open
    #[arg(long, conflicts_with = "no_config")]
    pub write: bool,
}

/// How far a dry run of a draft goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AdoptDryRun {
    /// The database carries it out and rolls back.
    Server,
}

fn parse_answer(text: &str) -> Result<(String, String), String> {
    // A column's name may have an equals sign; that of a key of `[time]` follows the last one before the encoding.
    let cut = match text.strip_prefix("time.") {
        Some(rest) => rest.rfind('=').map(|at| at + "time.".len()),
        None => text.find('='),
    };
    let parts = cut.map(|at| (&text[..at], text[at + 1..].trim()));
    match parts {
        Some((key, answer)) if !key.is_empty() && !answer.is_empty() => Ok((key.to_owned(), answer.to_owned())),
        _ => Err("must be KEY=VALUE, such as states.in_flight=working".to_owned()),
    }
}
