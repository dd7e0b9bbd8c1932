use super::LogFormat;
use crate::output::format::Format;
use clap::{Args, ValueEnum};

/// How to say it, for lists of jobs and owners.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ListOutputArgs {
    /// The format
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<ListFormat>,
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

/// How to say it, for numbers.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct StatsOutputArgs {
    /// The format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value = "table", hide_default_value = true)]
    pub output: StatsFormat,
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
    /// How stderr is written; for the commands that have a say in it.
    #[arg(skip)]
    pub log_format: LogFormat,
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

/// See [`StatsOutputArgs`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
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
    /// One name a line
    Name,
    /// Metrics in Prometheus' text format, of what is in flight
    Prometheus,
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
    /// True if one was asked for.
    pub fn is_said(&self) -> bool {
        self.json || self.output.is_some()
    }

    /// The format that was asked for.
    pub fn format(&self) -> Format {
        match (self.json, self.output.unwrap_or_default()) {
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

impl StatsOutputArgs {
    /// The format that was asked for.
    pub fn format(&self) -> Format {
        match (self.json, self.output) {
            (true, _) | (_, StatsFormat::Json) => Format::Json,
            (_, StatsFormat::Table) => Format::Table,
            (_, StatsFormat::Wide) => Format::Wide,
            (_, StatsFormat::Jsonl) => Format::Jsonl,
            (_, StatsFormat::Csv) => Format::Csv,
            (_, StatsFormat::Name) => Format::Name,
            (_, StatsFormat::Prometheus) => Format::Prometheus,
            (_, StatsFormat::None) => Format::None,
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
