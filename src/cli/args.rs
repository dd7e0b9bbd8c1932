//! Options that several commands share. The doc comments are the help texts.

use crate::model::{Move, parse_duration};
use crate::policy::Rule;
use crate::render::Format;
use clap::builder::{NonEmptyStringValueParser, PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Where the queue is.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where the queue is")]
pub struct StoreArgs {
    /// The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env:
    /// JOBDOCTOR_DB, then the config file's target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]
    #[arg(long, value_name = "URL", value_parser = PathBufValueParser::new().map(PathBuf::into_os_string))]
    pub db: Option<OsString>,
    /// A target of the config file [env: JOBDOCTOR_TARGET]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// The preset or mapping, instead of finding out
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub preset: Option<String>,
    /// The schema of the queue's tables (Postgres)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub schema: Option<String>,
    /// Another name for the table of jobs
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub table: Option<String>,
    /// What the preset cannot read from the database; `presets show NAME` lists its options
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_option)]
    pub options: Vec<(String, String)>,
    /// A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Write to a SQLite file although it lies on a network file system, where locks cannot be relied on
    #[arg(long)]
    pub network_files: bool,
    /// The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then
    /// /etc/jobdoctor/config.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Read no config file
    #[arg(long)]
    pub no_config: bool,
    /// Give up after this long [default: 30s for looking, 10m for applying]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
}

/// How to say it, for lists of jobs and owners.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ListOutputArgs {
    /// The format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value = "table", hide_default_value = true)]
    pub output: ListFormat,
    /// Short for --output json
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub tone: ToneArgs,
}

/// How to say it, for everything else.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value = "table", hide_default_value = true)]
    pub output: PlainFormat,
    /// Short for --output json
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub tone: ToneArgs,
}

/// Colour and volume.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ToneArgs {
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto", hide_default_value = true)]
    pub color: ColorArg,
    /// No hints, summaries or warnings; errors and the report stay
    #[arg(short, long)]
    pub quiet: bool,
    /// Say what was found out about the database, and warn about how it is set up
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// See [`ListOutputArgs`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Columns that fit the terminal
    #[default]
    Table,
    /// All columns
    Wide,
    /// One JSON document
    Json,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// One id a line
    Name,
    /// Nothing: the exit code says it all
    None,
}

/// See [`OutputArgs`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PlainFormat {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// Nothing: the exit code says it all
    None,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ListOutputArgs {
    /// The format that was asked for.
    pub fn format(&self) -> Format {
        match (self.json, self.output) {
            (true, _) | (_, ListFormat::Json) => Format::Json,
            (_, ListFormat::Table) => Format::Table,
            (_, ListFormat::Wide) => Format::Wide,
            (_, ListFormat::Jsonl) => Format::Jsonl,
            (_, ListFormat::Csv) => Format::Csv,
            (_, ListFormat::Name) => Format::Name,
            (_, ListFormat::None) => Format::None,
        }
    }
}

impl OutputArgs {
    /// The format that was asked for.
    pub fn format(&self) -> Format {
        match (self.json, self.output) {
            (true, _) | (_, PlainFormat::Json) => Format::Json,
            (_, PlainFormat::Table) => Format::Table,
            (_, PlainFormat::None) => Format::None,
        }
    }
}

/// How long a claim must have been silent.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct OlderArgs {
    /// Silent for longer than this, counted from the best sign of life there is [default: the queue library's own
    /// threshold]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub older: Option<Duration>,
}

/// Which claims.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct SelectArgs {
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
    /// The N longest silent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

/// Which jobs by name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which claims")]
pub struct IdArgs {
    /// This job; a healthy one is held, never forced (can be repeated)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub id: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to do")]
pub struct ActArgs {
    /// Do it: without this, nothing is written
    #[arg(long)]
    pub apply: bool,
    /// Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was
    /// requested to cancel, all others to requeue
    #[arg(long, value_name = "MOVE", value_parser = parse_move)]
    pub to: Option<Move>,
    /// Act on this rule about trouble too, although the worker may still be running: deadline_passed or max_runtime (can be
    /// repeated)
    #[arg(long, value_name = "NAME", value_parser = parse_trouble)]
    pub rule: Vec<Rule>,
    /// Refuse to apply a plan with more steps than this
    #[arg(long, value_name = "N")]
    pub max_jobs: Option<u64>,
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE, such as max_attempts=25".to_owned()),
    }
}

fn parse_move(text: &str) -> Result<Move, String> {
    Move::ALL.into_iter().find(|r#move| r#move.name() == text).ok_or_else(|| "it is requeue, fail or cancel".to_owned())
}

fn parse_trouble(text: &str) -> Result<Rule, String> {
    let trouble = |rule: &Rule| rule.proves() == crate::policy::Proves::Trouble;
    match Rule::ALL.into_iter().find(|rule| rule.name() == text) {
        Some(rule) if trouble(&rule) => Ok(rule),
        Some(rule) => Err(format!("{rule} proves death and is always acted on")),
        None => {
            let known: Vec<&str> = Rule::ALL.iter().filter(|rule| trouble(rule)).map(|rule| rule.name()).collect();
            Err(format!("it is one of {}", known.join(", ")))
        }
    }
}
