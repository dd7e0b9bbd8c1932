use crate::cli::args::{ListArgs, OlderArgs, TargetsArgs, TextfileArgs, globs, metrics_too};
use crate::cli::monitor::Metrics;
use crate::cli::targets::Several;
use crate::cli::{CliError, Context, Exit, Settings};
use crate::model::{age, parse_duration};
use crate::ops::{self, Selection, Snapshot};
use crate::output::format::{Format, count, grouped, inert};
use crate::output::{Stats, StatsRuntimes};
use crate::policy::Policy;
use clap::builder::NonEmptyStringValueParser;
use std::time::Duration;

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
    /// With --runtimes: only jobs that ended within this time
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = parse_duration)]
    #[arg(allow_hyphen_values = true, requires = "runtimes")]
    since: Duration,
    #[command(flatten)]
    older: OlderArgs,
    /// Only queues that match (repeatable)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which claims")]
    queue: Vec<String>,
    /// Only kinds that match (repeatable)
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which claims")]
    kind: Vec<String>,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    textfile: TextfileArgs,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("stats", &mut self.list.store, &mut self.targets)
            .file("--textfile", self.textfile.textfile.as_mut())
    }

    /// Takes the snapshot, with what is counted in it and judged by.
    fn snapshot(&self, settings: &Settings, context: &Context) -> Result<(Snapshot, Selection, Policy), CliError> {
        let selection = Selection { queues: globs(&self.queue)?, kinds: globs(&self.kind)?, ..Selection::default() };
        Ok((context.snapshot(settings, "stats")?, selection, settings.policy(self.older.older)))
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    args.list.check(&if args.runtimes { StatsRuntimes::titles() } else { Stats::titles() })?;
    let print = if args.runtimes { print_runtimes } else { print_counts };
    print(args, context).map(|()| Exit::Done)
}

/// Prints the counts, or with `-o prometheus` the metrics of the jobs in flight.
fn print_counts(args: &Args, context: &Context) -> Result<(), CliError> {
    let textfile = args.textfile.textfile.as_deref();
    let is_printed = context.format == Format::Prometheus;
    let mut metrics = Metrics::begin("stats", textfile, &args.list.store, context)?.printed(is_printed);
    let counted = counts(args, context, &mut metrics);
    let Some(document) = metrics.finish(context, counted)? else {
        return print_metrics(context, &metrics);
    };
    context.ui.print(context.format, &document)?;
    if context.format.is_machine() {
        return Ok(());
    }
    let (queues, counts) = (document.summary.queues, &document.summary.counts);
    context.ui.note(&format!(
        "{}: {} in flight, {} stuck, {} unknown",
        count(queues, "queue", "queues"),
        grouped(counts.in_flight),
        grouped(counts.stuck),
        grouped(counts.unknown),
    ));
    if counts.stuck > 0 {
        context.ui.hint(&format!("to list the stuck claims: {}", context.next_command("stale", &[])));
    }
    Ok(())
}

/// Counts and measures in one snapshot; for metrics it is enough to measure.
fn counts(args: &Args, context: &Context, metrics: &mut Metrics) -> Result<Option<Stats>, CliError> {
    let settings = Settings::resolve(&args.list.store, &context.environment)?;
    metrics.set_target(settings.target_name.as_deref());
    let (mut snapshot, selection, policy) = args.snapshot(&settings, context)?;
    metrics.measure(&mut snapshot, &selection, &policy)?;
    if context.format != Format::Prometheus {
        return Ok(Some(ops::stats(&mut snapshot, &selection, &policy)?));
    }
    let caveats = ops::caveats(&mut snapshot, None, false, metrics.in_flight())?;
    context.warn_of_caveats(&caveats, metrics.in_flight() == 0);
    Ok(None)
}

/// Prints the metrics. Names are exact for programs and inert on a terminal.
fn print_metrics(context: &Context, metrics: &Metrics) -> Result<(), CliError> {
    context.ui.report(|out| {
        let text = metrics.text()?;
        match context.ui.is_terminal() {
            true => text.lines().try_for_each(|line| writeln!(out, "{}", inert(line))),
            false => out.write_all(text.as_bytes()),
        }
    })
}

fn print_runtimes(args: &Args, context: &Context) -> Result<(), CliError> {
    if context.format == Format::Prometheus {
        return Err(CliError::usage("-o prometheus and --runtimes cannot be combined: metrics are about jobs in flight, run times about ended ones",
        )
        .hint("leave one of them out"));
    }
    let settings = Settings::resolve(&args.list.store, &context.environment)?;
    let (mut snapshot, selection, policy) = args.snapshot(&settings, context)?;
    let document = ops::runtimes(&mut snapshot, &selection, &policy, args.since)?;
    drop(snapshot);
    context.ui.print(context.format, &document)?;
    if !context.format.is_machine() {
        let summary = &document.summary;
        let since = age(Duration::try_from_secs_f64(document.head.since_seconds).unwrap_or_default());
        let groups = if document.head.by == "kind" { ("kind", "kinds") } else { ("queue", "queues") };
        let hit = summary.would_hit.map(|hit| format!("; the threshold would have hit {}", grouped(hit)));
        context.ui.note(&format!(
            "{} of {} ended well within the last {since}{}",
            count(summary.jobs, "job", "jobs"),
            count(summary.kinds, groups.0, groups.1),
            hit.unwrap_or_default(),
        ));
    }
    Ok(())
}
