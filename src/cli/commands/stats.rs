use crate::cli::args::{OlderArgs, OutputArgs, StoreArgs, TargetsArgs, TextfileArgs, metrics_too};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::metrics::{Metrics, ended};
use crate::cli::settings::Settings;
use crate::cli::targets::Several;
use crate::model::{age, parse_duration};
use crate::ops::{self, OpsError, Selection};
use crate::output::format::{Format, count, grouped, inert};
use crate::output::{Stats, StatsRuntimes};
use crate::policy::Globs;
use clap::builder::NonEmptyStringValueParser;
use std::time::Duration;

/// The window of `--runtimes` unless told: seven days.
const SINCE: Duration = Duration::from_secs(7 * 24 * 3600);

/// `jobdoctor stats`.
///
/// It reads the whole table once, to count what is in which state; with --runtimes, the jobs that have ended well.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", metrics_too))]
#[command(after_help = "\
Examples:
  jobdoctor stats --db queue.db
  jobdoctor stats --db queue.db --runtimes --older 5m         what 5m would have hit
  jobdoctor stats --db queue.db --runtimes --since 30d --kind 'Resize*'
  jobdoctor stats --db queue.db -o none --textfile /var/lib/prometheus/node-exporter/queue.prom")]
pub struct Args {
    /// How long jobs ran that have ended well, by kind, and how many of them the threshold would have hit
    #[arg(long, conflicts_with = "textfile")]
    runtimes: bool,
    /// With --runtimes: jobs that ended within this time [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true, requires = "runtimes")]
    since: Option<Duration>,
    #[command(flatten)]
    older: OlderArgs,
    /// Of queues that match (can be repeated)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which claims")]
    queue: Vec<String>,
    /// Of kinds that match (can be repeated)
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
}

impl Args {
    /// What is said of targets.
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("stats", &mut self.store, &mut self.targets).file("--textfile", self.textfile.textfile.as_mut())
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    if args.runtimes {
        return runtimes(args, context);
    }
    let format = args.output.format();
    let is_printed = format == Format::Prometheus;
    let metrics = Metrics::begin("stats", args.textfile.textfile.as_deref(), &args.store, context)?.printed(is_printed);
    let found = stats(args, context, &metrics);
    // Before anything is printed: an error leaves stdout empty.
    let kept = metrics.end(ended(context, &found));
    if let (Err(_), Err(error)) = (&found, &kept) {
        context.ui.warn(&error.message);
    }
    let Some(document) = found? else {
        kept?;
        print(context, &metrics)?;
        return Ok(Exit::Done);
    };
    kept?;
    context.ui.print(format, &document)?;
    if !format.is_machine() {
        say(context, &document);
    }
    Ok(Exit::Done)
}

/// Counts and measures in one snapshot. For metrics nothing but what is in flight is read.
fn stats(args: &Args, context: &Context, metrics: &Metrics) -> Result<Option<Stats>, CliError> {
    let selection = selection(args)?;
    let settings = Settings::resolve(&args.store, &context.environment)?;
    metrics.is_of(settings.target_name.as_deref());
    let mut snapshot = context.snapshot_with(&settings, "stats")?;
    let policy = settings.policy(args.older.older);
    metrics.measure(&mut snapshot, &selection, &policy)?;
    match args.output.format() {
        Format::Prometheus => {
            context.warn_if_blind(&mut snapshot, metrics.in_flight())?;
            Ok(None)
        }
        _ => Ok(Some(ops::stats(&mut snapshot, &selection, &policy)?)),
    }
}

/// For programs a name is exact; a terminal must not be moved by one.
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
            "-o prometheus has metrics of what is in flight, and --runtimes of what has ended",
        )
        .hint("leave out one of them"));
    }
    let selection = selection(args)?;
    let (settings, mut snapshot) = context.snapshot(&args.store, "stats")?;
    let policy = settings.policy(args.older.older);
    let document = ops::runtimes(&mut snapshot, &selection, &policy, args.since.unwrap_or(SINCE))?;
    drop(snapshot);
    context.ui.print(format, &document)?;
    if !format.is_machine() {
        say_runtimes(context, &document);
    }
    Ok(Exit::Done)
}

fn selection(args: &Args) -> Result<Selection, CliError> {
    let globs = |patterns: &[String]| Globs::new(patterns).map_err(OpsError::from);
    Ok(Selection { queues: globs(&args.queue)?, kinds: globs(&args.kind)?, ..Selection::default() })
}

fn say(context: &Context, document: &Stats) {
    let summary = &document.summary;
    context.ui.note(&format!(
        "{}: {} in flight, {} stuck, {} unknown",
        count(summary.queues, "queue", "queues"),
        grouped(summary.in_flight),
        grouped(summary.stuck),
        grouped(summary.unknown),
    ));
    if summary.stuck > 0 {
        context.ui.hint(&format!("to list the stuck claims: {}", context.next_command("stale", &[])));
    }
}

fn say_runtimes(context: &Context, document: &StatsRuntimes) {
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
