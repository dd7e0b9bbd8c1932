//! Options that say in which format, colour and volume a command reports.

use super::StoreArgs;
use crate::cli::CliError;
use crate::output::format::{Format, Times};
use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, ValueEnum};
use std::path::PathBuf;

/// What a command has that lists rows of a queue.
#[derive(Debug, Clone, Default, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub rows: RowArgs,
}

/// The columns of what is skipped or unknown, which has a table of its own.
const OF_OTHER_LISTS: [&str; 3] = ["problem", "reason", "state"];

impl ListArgs {
    /// Refuses columns that the table does not have, before anything is read.
    pub fn check(&self, columns: &[&str]) -> Result<(), CliError> {
        let RowArgs { sort, columns: named, .. } = &self.rows;
        let mut asked_for = sort.iter().chain(named).peekable();
        let format = self.output.format();
        if asked_for.peek().is_some() && !matches!(format, Format::Table | Format::Wide) {
            let option = if sort.is_some() { "--sort orders" } else { "--columns selects" };
            let message = format!("{option} what a table shows, and -o {} is not one", format.name());
            return Err(CliError::usage(message).hint("leave one of them out"));
        }
        let columns: Vec<String> = columns.iter().map(|title| title.replace(' ', "-")).collect();
        let is_of_another = |name: &String| named.contains(name) && OF_OTHER_LISTS.contains(&name.as_str());
        let unknown = asked_for.find(|name| !columns.contains(name) && !is_of_another(name));
        let Some(name) = unknown else { return Ok(()) };
        let hint = format!("its columns are {}", columns.join(", "));
        Err(CliError::usage(format!("no column `{name}` in this table")).hint(hint))
    }
}

/// How a report is written: in the formats of lists, unless the command names others ([`few_formats`],
/// [`metrics_too`], [`markdown_too`]).
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the report in this format [default: table]
    #[arg(short, long, value_name = "FORMAT", value_parser = one_of(is_of_lists))]
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
    /// Print what was detected about the database, warnings about its setup, and a plan's SQL
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// From here on for the commands that have them: [`ToneArgs::of`].
    #[arg(skip)]
    pub log_format: LogFormat,
    #[arg(skip)]
    pub rows: RowArgs,
    #[arg(skip)]
    pub time: TimeArg,
}

/// The rows of a table.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct RowArgs {
    /// Order the rows of a table by this column: numbers and spans largest first, texts from A to Z. Which rows are
    /// shown stays the same: with --limit N the first N of the default order, in `stale` the N longest silent
    #[arg(long, value_name = "COLUMN", value_parser = column())]
    pub sort: Option<String>,
    /// Show these columns of a table, in this order [default: those that fit and differ from row to row]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = column())]
    pub columns: Vec<String>,
    /// Print tables without the line of column titles
    #[arg(long)]
    pub no_header: bool,
}

/// A column's title as it is compared: `IN FLIGHT` may be typed as in-flight.
fn column() -> impl TypedValueParser<Value = String> {
    NonEmptyStringValueParser::new().map(|title| title.trim().to_lowercase().replace(' ', "-"))
}

/// How instants are shown.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct TimeArg {
    /// Show instants in tables and texts as spans, in the local zone (TZ) or in UTC [default: silence as a span, others
    /// in UTC]
    #[arg(long, value_name = "STYLE", value_parser = time_styles())]
    time: Option<Times>,
}

impl ToneArgs {
    /// The output options of a parsed command and its format, as far as it has them: others print one kind of text.
    pub fn of(matches: &ArgMatches) -> (ToneArgs, Format) {
        let log_format = matches.try_get_one("log_format").ok().flatten().copied().unwrap_or_default();
        let (rows, time) = (given(matches, "sort"), given(matches, "time"));
        let format = match matches.try_get_one("json") {
            Ok(Some(true)) => Format::Json,
            _ => matches.try_get_one("output").ok().flatten().copied().unwrap_or(Format::Table),
        };
        (ToneArgs { log_format, rows, time, ..given(matches, "color") }, format)
    }
}

/// The options of a group, if the command has the one of that id: asking clap for an unknown one is a defect.
fn given<T: Args + Default>(matches: &ArgMatches, id: &str) -> T {
    matches.try_contains_id(id).ok().and_then(|_| T::from_arg_matches(matches).ok()).unwrap_or_default()
}

impl TimeArg {
    pub fn times(&self) -> Times {
        self.time.unwrap_or_default()
    }
}

fn time_styles() -> impl TypedValueParser<Value = Times> {
    let style = |name, help| PossibleValue::new(name).help(help);
    let relative = style("relative", "How long ago, or how far ahead");
    let styles = [relative, style("local", "In the zone of this machine"), style("utc", "In UTC")];
    PossibleValuesParser::new(styles).map(|name| match name.as_str() {
        "relative" => Times::Relative,
        "local" => Times::Local,
        _ => Times::Utc,
    })
}

/// A file of metrics.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct TextfileArgs {
    /// Also write the run's metrics to this file, for node_exporter's textfile collector; after a run that failed too,
    /// and atomically. Counts every claim in flight before anything is done. Use one file for each command and target
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
    output.value_parser(one_of(|format| is_of_lists(format) || format == Format::Prometheus))
}

/// The formats of lists and Markdown, for commands about a run.
pub fn markdown_too(output: Arg) -> Arg {
    output.value_parser(one_of(|format| is_of_lists(format) || format == Format::Markdown))
}

fn is_of_lists(format: Format) -> bool {
    !matches!(format, Format::Prometheus | Format::Markdown)
}

/// A parser of two formats: a text of that name, which is the default, and JSON.
pub fn text_or_json(name: &'static str, help: &'static str) -> impl TypedValueParser<Value = Format> {
    let values = [PossibleValue::new(name).help(help), PossibleValue::new("json").help("One JSON document")];
    PossibleValuesParser::new(values).map(|name| if name == "json" { Format::Json } else { Format::Table })
}

fn one_of(is_known: impl Fn(Format) -> bool) -> impl TypedValueParser<Value = Format> {
    let known = Format::ALL.iter().copied().filter(|format| is_known(*format));
    let values = known.map(|format| PossibleValue::new(format.name()).help(help(format)));
    let named =
        |name: String| Format::ALL.iter().copied().find(|format| format.name() == name).ok_or("it is not a format");
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
        Format::Markdown => "A run to paste into a ticket or a channel",
        Format::None => "Nothing: the exit code says it all",
    }
}
