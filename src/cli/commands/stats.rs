use super::selection::globs;
use crate::cli::args::{OlderArgs, OutputArgs, RowArgs, StoreArgs, TargetsArgs, TextfileArgs, metrics_too};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::monitor::{Metrics, ended};
use crate::cli::settings::Settings;
use crate::cli::targets::Several;
use crate::model::{age, parse_duration};
use crate::ops::{self, Selection};
use crate::output::format::{Format, count, grouped, inert};
use crate::output::{Stats, StatsRuntimes};
use clap::builder::NonEmptyStringValueParser;
use std::time::Duration;

/// The default of `--since`: seven days.
const SINCE: Duration = Duration::from_secs(7 * 24 * 3600);

/// `jobdoctor stats`.
///
/// Reads the whole table once and counts jobs by queue and state; with --runtimes, reads the jobs that have ended well.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", metrics_too))]
#[command(after_help = "\
Examples:
  jobdoctor stats --db queue.db
  jobdoctor stats --db queue.db --runtimes --older 5m         how many jobs ran longer than 5m
  jobdoctor stats --db queue.db --runtimes --since 30d --kind 'Resize*'
  jobdoctor stats --db queue.db -o none --textfile /var/lib/prometheus/node-exporter/queue.prom")]
pub struct Args {
    /// Show how long the jobs ran that ended well, by kind, and how many ran longer than the threshold
    #[arg(long, conflicts_with = "textfile")]
    runtimes: bool,
    /// With --runtimes: only jobs that ended within this time [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true, requires = "runtimes")]
    since: Option<Duration>,
    #[command(flatten)]
    older: OlderArgs,
    /// Only queues that match (repeatable)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which claims")]
    queue: Vec<String>,
    /// Only kinds that match (repeatable)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which claims")]
    kind: Vec<String>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    textfile: TextfileArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) rows: RowArgs,
}

impl Args {
    /// The options about targets.
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("stats", &mut self.store, &mut self.targets).file("--textfile", self.textfile.textfile.as_mut())
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    args.rows.check(args.output.format(), &if args.runtimes { StatsRuntimes::titles() } else { Stats::titles() })?;
    if args.runtimes {
        return runtimes(args, context);
    }
    let format = args.output.format();
    let is_printed = format == Format::Prometheus;
    let metrics = Metrics::begin("stats", args.textfile.textfile.as_deref(), &args.store, context)?.printed(is_printed);
    let found = stats(args, context, &metrics);
    // Before the report is printed: an error leaves stdout empty.
    let written = metrics.write(ended(context, &found));
    if let (Err(_), Err(error)) = (&found, &written) {
        context.ui.warn(&error.message);
    }
    let Some(document) = found? else {
        written?;
        print(context, &metrics)?;
        return Ok(Exit::Done);
    };
    written?;
    context.ui.print(format, &document)?;
    if !format.is_machine() {
        note_counts(context, &document);
    }
    Ok(Exit::Done)
}

/// Counts and measures in one snapshot; `-o prometheus` reads only the jobs in flight.
fn stats(args: &Args, context: &Context, metrics: &Metrics) -> Result<Option<Stats>, CliError> {
    let selection = selection(args)?;
    let settings = Settings::resolve(&args.store, &context.environment)?;
    metrics.set_target(settings.target_name.as_deref());
    let mut snapshot = context.snapshot_with(&settings, "stats")?;
    let policy = settings.policy(args.older.older);
    metrics.measure(&mut snapshot, &selection, &policy)?;
    match args.output.format() {
        Format::Prometheus => {
            let caveats = ops::caveats(&mut snapshot, None, false, metrics.in_flight())?;
            context.warn_of_caveats(&caveats, metrics.in_flight() == 0);
            Ok(None)
        }
        _ => Ok(Some(ops::stats(&mut snapshot, &selection, &policy)?)),
    }
}

/// Prints the metrics. Names are exact for programs and inert on a terminal.
fn print(context: &Context, metrics: &Metrics) -> Result<(), CliError> {
    context.ui.report(|out| {
        let text = metrics.text()?;
        match context.ui.is_terminal() {
            true => text.lines().try_for_each(|line| writeln!(out, "{}", inert(line))),
            false => out.write_all(text.as_bytes()),
        }
    })
}

fn runtimes(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let format = args.output.format();
    if format == Format::Prometheus {
        return Err(CliError::new(
            Exit::Usage,
            "-o prometheus and --runtimes cannot be combined: metrics are about jobs in flight, run times about ended ones",
        )
        .hint("leave one of them out"));
    }
    let selection = selection(args)?;
    let (settings, mut snapshot) = context.snapshot(&args.store, "stats")?;
    let policy = settings.policy(args.older.older);
    let document = ops::runtimes(&mut snapshot, &selection, &policy, args.since.unwrap_or(SINCE))?;
    drop(snapshot);
    context.ui.print(format, &document)?;
    if !format.is_machine() {
        note_runtimes(context, &document);
    }
    Ok(Exit::Done)
}

fn selection(args: &Args) -> Result<Selection, CliError> {
    Ok(Selection { queues: globs(&args.queue)?, kinds: globs(&args.kind)?, ..Selection::default() })
}

fn note_counts(context: &Context, document: &Stats) {
    let summary = &document.summary;
    context.ui.note(&format!(
        "{}: {} in flight, {} stuck, {} unknown",
        count(summary.queues, "queue", "queues"),
        grouped(summary.counts.in_flight),
        grouped(summary.counts.stuck),
        grouped(summary.counts.unknown),
    ));
    if summary.counts.stuck > 0 {
        context.ui.hint(&format!("to list the stuck claims: {}", context.next_command("stale", &[])));
    }
}

fn note_runtimes(context: &Context, document: &StatsRuntimes) {
    let summary = &document.summary;
    let since = age(Duration::try_from_secs_f64(document.since_seconds).unwrap_or_default());
    let hit = match summary.would_hit {
        Some(hit) => format!("; the threshold would have hit {}", grouped(hit)),
        None => String::new(),
    };
    let jobs = count(summary.jobs, "job", "jobs");
    let what = if document.by == "kind" { ("kind", "kinds") } else { ("queue", "queues") };
    context
        .ui
        .note(&format!("{jobs} of {} ended well within the last {since}{hit}", count(summary.kinds, what.0, what.1)));
}
