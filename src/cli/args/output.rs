//! Options that say in which format, colour and volume a command reports.

use crate::output::format::Format;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, ValueEnum};
use std::path::PathBuf;

/// How a report is written: in the formats of lists, unless the command names others ([`few_formats`], [`metrics_too`]).
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the report in this format [default: table]
    #[arg(short, long, value_name = "FORMAT", value_parser = one_of(|format| format != Format::Prometheus))]
    pub output: Option<Format>,
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
    /// Use colour [default: auto]
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto", hide_default_value = true)]
    pub color: ColorArg,
    /// Print no hints, summaries or warnings; errors and the report stay
    #[arg(short, long)]
    pub quiet: bool,
    /// Print what was detected about the database, and warnings about its setup
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// How stderr is written; for the commands that have a say in it.
    #[arg(skip)]
    pub log_format: LogFormat,
}

/// A file of metrics.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct TextfileArgs {
    /// Also write the run's metrics to this file, for node_exporter's textfile collector; after a run that failed too, and
    /// atomically. Counts every claim in flight before anything is done. Use one file for each command and target
    #[arg(long, value_name = "FILE")]
    pub textfile: Option<PathBuf>,
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

/// How stderr is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object a line, with the time, the level and the run
    Json,
}

impl OutputArgs {
    /// True if a format was asked for.
    pub fn is_said(&self) -> bool {
        self.json || self.output.is_some()
    }

    /// The format to write.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.output.unwrap_or(Format::Table) }
    }
}

/// Gives `--output` the formats of a report that is no list.
pub fn few_formats(output: Arg) -> Arg {
    output.value_parser(one_of(|format| matches!(format, Format::Table | Format::Json | Format::None)))
}

/// Gives `--output` every format, metrics included.
pub fn metrics_too(output: Arg) -> Arg {
    output.value_parser(one_of(|_| true))
}

fn one_of(is_known: impl Fn(Format) -> bool) -> impl TypedValueParser<Value = Format> {
    let known = Format::ALL.into_iter().filter(|format| is_known(*format));
    let values = known.map(|format| PossibleValue::new(format.name()).help(help(format)));
    let named = |name: String| Format::ALL.into_iter().find(|format| format.name() == name).ok_or("it is no format");
    PossibleValuesParser::new(values).try_map(named)
}

fn help(format: Format) -> &'static str {
    match format {
        Format::Table => "Text that fits the terminal",
        Format::Wide => "Text with all columns",
        Format::Json => "One JSON document",
        Format::Jsonl => "One JSON object a line",
        Format::Csv => "Comma-separated values with a header",
        Format::Name => "One id or name a line",
        Format::Prometheus => "Metrics of what is in flight, in Prometheus' text format",
        Format::None => "Nothing: the exit code says it all",
    }
}
