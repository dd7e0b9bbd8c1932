//! Options that name the database and the queue in it.

use crate::model::parse_duration;
use clap::builder::{NonEmptyStringValueParser, PathBufValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Where the queue is.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where the queue is")]
pub struct StoreArgs {
    /// Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or
    /// "service=app" [env: JOBDOCTOR_DB, then the config file's target, then DATABASE_URL, then PGHOST, PGDATABASE,
    /// PGSERVICE]
    #[arg(long, value_name = "URL", value_parser = PathBufValueParser::new().map(PathBuf::into_os_string))]
    #[arg(value_hint = ValueHint::FilePath)]
    pub db: Option<OsString>,
    /// Use this target of the config file [env: JOBDOCTOR_TARGET]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub target: Vec<String>,
    /// Use this preset or mapping [default: detected from the tables]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub preset: Option<String>,
    /// Find the queue's tables in this schema (Postgres)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub schema: Option<String>,
    /// Use this table of jobs [default: the preset's]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub table: Option<String>,
    /// Set an option of the preset; `presets show NAME` lists them (can be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_option)]
    pub options: Vec<(String, String)>,
    /// Read the password from the first line of this file; it overrides every other password [env:
    /// JOBDOCTOR_PASSWORD_FILE]
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Write to a SQLite file on a network file system, although locks are unreliable there
    #[arg(long)]
    pub network_files: bool,
    /// Use a SQLite file that has a second name, although its journals may lie next to the other
    #[arg(long)]
    pub second_name: bool,
    /// Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then
    /// /etc/jobdoctor/config.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Read no config file
    #[arg(long)]
    pub no_config: bool,
    /// Give up after this long [default: 30s for reading, 10m for applying]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
}

/// Several queues at once.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where the queue is")]
pub struct TargetsArgs {
    /// Run for every target of the config file, at most 4 at a time, each with its own settings and --timeout; for some
    /// of them, repeat --target. {target} in the path of a written file stands for the target's name
    #[arg(long, conflicts_with = "target")]
    pub all_targets: bool,
}

impl StoreArgs {
    /// The target, where one is named; of several, the first.
    pub fn target(&self) -> Option<&str> {
        self.target.first().map(String::as_str)
    }
}

pub fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE, such as max_attempts=25".to_owned()),
    }
}
