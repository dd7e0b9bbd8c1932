//! Options of commands that write: what to do, to which plan, and why.

use super::{LogFormat, parse_up_to_1d, parse_up_to_1h, parse_up_to_7d};
use crate::cli::masked;
use crate::model::Action;
use crate::ops::Mode;
use crate::policy::{Proves, Rule};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use strum::IntoEnumIterator;

/// The longest reason in characters: it goes into a column of each job.
const LONGEST_REASON: usize = 500;

/// What to do to stuck jobs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct ActArgs {
    /// Carry out the plan: without this, nothing is written
    #[arg(long, group = "writing")]
    pub apply: bool,
    /// Write nothing, the default; wins over --apply. With =server the database carries out each step in transactions
    /// that are rolled back, and the report says what it refused
    #[arg(short = 'n', long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "plan")]
    #[arg(hide_possible_values = true)]
    pub dry_run: Option<DryRun>,
    /// Do this to every job [default: fail without attempts left, cancel where that was requested, otherwise requeue]
    #[arg(long, value_name = "ACTION", value_parser = named(actions()))]
    pub to: Option<Action>,
    /// Act on this rule about trouble too, although the worker may be alive: deadline_passed, max_runtime or
    /// no_progress (can be repeated)
    #[arg(long, value_name = "NAME", value_parser = named(switchable_rules()), hide_possible_values = true)]
    pub rule: Vec<Rule>,
    /// Refuse a plan with more steps than N; as an option, not as a config key, it also overrides the brake
    #[arg(long, value_name = "N")]
    pub max_jobs: Option<u64>,
    /// Refuse a plan with another digest than this one, which the dry run printed; its first 8 digits are enough
    #[arg(long, value_name = "DIGEST", requires = "writing", value_parser = parse_digest)]
    pub expect: Option<String>,
    /// Let requeued jobs run only after this time, at most 7d [default: at once]
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_7d, allow_hyphen_values = true)]
    #[arg(help_heading = "How gently")]
    pub delay: Option<Duration>,
    /// Spread requeued jobs over this time, at most 7d, which begins after --delay
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_7d, allow_hyphen_values = true)]
    #[arg(help_heading = "How gently")]
    pub jitter: Option<Duration>,
    /// Fail a job that was lost N times before, instead of requeuing it: 0 fails it at once, 1 at the second loss
    #[arg(long, value_name = "N", help_heading = "How gently")]
    pub max_stalls: Option<u32>,
    /// Fail a job whose requeue a unique key refuses, because a job that is there already holds the key
    #[arg(long, value_name = "ACTION", value_parser = ["fail"], conflicts_with = "to")]
    pub if_refused: Option<String>,
    /// Watch the requeued jobs for this time, at most 1d, or until all have ended, and report how they stand; end with
    /// 3 if some are stuck again. Does not count as --timeout
    #[arg(long, value_name = "DURATION", requires = "apply", value_parser = parse_up_to_1d, allow_hyphen_values = true)]
    pub verify: Option<Duration>,
    #[command(flatten)]
    pub fast: FastArgs,
    #[command(flatten)]
    pub reason: ReasonArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// The plan is printed.
    Plan,
    /// The database carries it out and rolls back.
    Server,
}

impl ActArgs {
    pub fn mode(&self) -> Mode {
        match self.dry_run {
            Some(DryRun::Server) => Mode::ServerDryRun,
            None if self.apply => Mode::Apply,
            Some(DryRun::Plan) | None => Mode::Plan,
        }
    }
}

/// How gently it is done.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How gently")]
pub struct FastArgs {
    /// Write without pauses, for when all workers are stopped. Otherwise workers on SQLite, where one writer keeps all
    /// others out, get the lock for 20 to 40 ms after every 5 ms (10 to 15 ms after every 50 while no other process has
    /// written for two seconds), and those on Postgres a pause after a batch that locked the rows of owners for over
    /// 50 ms
    #[arg(long, requires = "apply")]
    pub fast: bool,
}

/// Why it is done.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct ReasonArgs {
    /// Reason recorded in the journal and the ledger, and as a job's last error where the queue keeps one
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    pub reason: Option<String>,
    /// An id of yours, such as that of a deploy, that the journal records with the run
    #[arg(long, value_name = "ID", value_parser = parse_reason)]
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, Default, Args)]
pub struct PlanArgs {
    /// Select the jobs of a list: one id a line as `-o name` prints it, or the lines of `-o jsonl`; - is standard
    /// input. An empty list selects no job; healthy jobs are skipped
    #[arg(long, value_name = "FILE", help_heading = "Which claims")]
    pub from_file: Option<PathBuf>,
    /// Save the plan in this file, readable by its owner alone, to be applied later with --plan
    #[arg(long, value_name = "FILE", help_heading = "What to do", conflicts_with_all = ["apply", "plan"])]
    pub save_plan: Option<PathBuf>,
    /// Select the jobs of a saved plan, judged as they were then; those that have changed since are skipped
    #[arg(long, value_name = "FILE", help_heading = "Which claims", conflicts_with_all = [
        "from_file", "id", "older", "queue", "kind", "owner", "host", "state", "limit", "to", "rule", "expect",
    ])]
    pub plan: Option<PathBuf>,
}

impl PlanArgs {
    /// True if the list of jobs is standard input.
    pub fn is_piped(&self) -> bool {
        self.from_file.as_deref().is_some_and(|list| list.as_os_str() == "-")
    }
}

/// A parser of these values by their names.
pub fn named<T: Into<&'static str> + Copy + Send + Sync + 'static>(values: Vec<T>) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|value| (*value).into()))
        .try_map(move |text| values.iter().copied().find(|value| (*value).into() == text).ok_or("it is not known"))
}

/// The actions on a job in flight, which cannot be woken.
pub fn actions() -> Vec<Action> {
    Action::ALL.into_iter().filter(|action| *action != Action::Wake).collect()
}

/// The rules that are acted on only where the operator switches them on.
pub fn switchable_rules() -> Vec<Rule> {
    // The age of a claim is trouble where its owner shows life.
    let switchable = |rule: &Rule| rule.proves() != Proves::Death && *rule != Rule::TooLong;
    Rule::iter().filter(switchable).collect()
}

pub fn parse_digest(text: &str) -> Result<String, String> {
    let is_digest = (8..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit());
    if is_digest { Ok(text.to_ascii_lowercase()) } else { Err("a digest is 8 to 64 hexadecimal digits".to_owned()) }
}

fn parse_reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    match () {
        () if text.is_empty() => Err("it is empty".to_owned()),
        () if text.chars().count() > LONGEST_REASON => Err(format!("it is longer than {LONGEST_REASON} characters")),
        () if text.chars().any(char::is_control) => Err("it has a control character or a line break in it".to_owned()),
        () if masked(text) != text => Err("it holds what looks like a password".to_owned()),
        () => Ok(text.to_owned()),
    }
}

/// Locks, pauses and reports of a sweep from cron.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "From cron")]
pub struct UnattendedArgs {
    /// End with 75 if a sweep has moved jobs of this queue within this time, at most 7d; on any host if the queue has a
    /// ledger, else on this one
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_7d, allow_hyphen_values = true)]
    pub min_interval: Option<Duration>,
    /// Wait this long, at most 1h, for another sweep to end [default: end with 75 at once]
    #[arg(long, value_name = "DURATION", requires = "apply", value_parser = parse_up_to_1h, allow_hyphen_values = true)]
    pub lock_wait: Option<Duration>,
    /// Sleep for a random part of this time, at most 1h, before anything is opened, so that hosts do not start
    /// together. Does not count as --timeout. With --restart, sleep after a first snapshot, which tells the claims
    /// older than the sweep
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_1h, allow_hyphen_values = true)]
    pub splay: Option<Duration>,
    /// Warn, and name the owners, if more than N jobs are moved
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub warn_above: Option<u64>,
    /// Write the JSON report to this file at the end of every run, atomically; of a run that fails, the error
    #[arg(long, value_name = "FILE")]
    pub report_file: Option<PathBuf>,
    /// Write stderr in this format [default: text]
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", hide_default_value = true)]
    pub log_format: LogFormat,
}

fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is a number of jobs, in digits alone, as in 100".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons() {
        assert_eq!(parse_reason(" INC-42: web1 lost power "), Ok("INC-42: web1 lost power".to_owned()));
        assert_eq!(parse_reason(&"ü".repeat(500)), Ok("ü".repeat(500)));
        for bad in ["", " ", &"x".repeat(501), "a\nb", "a\x1b[2Jb", "postgres://u:secret@h/d", "password=x"] {
            assert!(parse_reason(bad).is_err(), "{bad}");
        }
    }
}
