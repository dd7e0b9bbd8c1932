use crate::model::parse_duration;
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PathBufValueParser, TypedValueParser};
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
    pub target: Vec<String>,
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

impl StoreArgs {
    /// The target, where one is named; of several, the first.
    pub fn target(&self) -> Option<&str> {
        self.target.first().map(String::as_str)
    }
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE, such as max_attempts=25".to_owned()),
    }
}
