use super::show::missing;
use crate::cli::args::{
    EvidenceArgs, IdArgs, InterruptedArgs, ListArgs, OlderArgs, SelectArgs, TargetsArgs, TimeArg, named, parse_up_to_1d,
};
use crate::cli::evidence_files::EvidenceFiles;
use crate::cli::signal::sleep;
use crate::cli::targets::Several;
use crate::cli::watch::{self, Watch};
use crate::cli::{CliError, Context, Exit, READING, Settings};
use crate::model::parse_duration;
use crate::ops::{self, Selection};
use crate::output::format::{Format, count, grouped};
use crate::output::{Collector, Field, ROWS, Stale};
use std::time::{Duration, Instant};

/// The most rows of a table without `--limit`: it is laid out in memory.
const MOST_ROWS: usize = 10_000;
/// The pause between two snapshots of `--wait`.
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor stale --db queue.db --older 5m
  jobdoctor stale --db postgres://ops@db/app --queue 'mail*' --limit 10
  jobdoctor stale --db queue.db --by host
  jobdoctor stale --db queue.db --watch 2s
  jobdoctor stale --db queue.db -o json | jq '.jobs | length'")]
pub struct Args {
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    interrupted: InterruptedArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    ids: IdArgs,
    /// Print only the diagnoses and the counts, no list of jobs
    #[arg(long, conflicts_with = "id")]
    summary: bool,
    /// Count the jobs by this and list one row a group, most stuck jobs first; --limit is the number of groups
    #[arg(long, value_name = "FIELD", value_parser = named(Field::ALL.to_vec()), conflicts_with = "summary")]
    by: Option<Field>,
    /// Take a snapshot again and again, with this pause in between, and redraw the terminal, with + for new jobs and -
    /// for those that are gone. Arrows select a job, Enter shows it, q ends. Each snapshot has its own time limit,
    /// 10s [default without a value: 2s]
    #[arg(long, value_name = "INTERVAL", value_parser = parse_duration, num_args = 0..=1, default_missing_value = "2s")]
    #[arg(conflicts_with_all = ["exit_code", "alive_from", "snapshot_file", "limit", "interrupted"])]
    watch: Option<Duration>,
    /// Wait until no claim is stuck or unknown, at most this long, and print the last snapshot; end with 1 if some
    /// still are. Takes a snapshot every 2s, each with its own time limit
    #[arg(long, value_name = "DURATION", value_parser = parse_up_to_1d, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["watch", "alive_from", "snapshot_file", "interrupted"])]
    wait: Option<Duration>,
    /// End with 1 if stuck or unknown claims are found, or a filter matches nothing
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    time: TimeArg,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("stale", &mut self.list.store, &mut self.targets)
            .single_only("--watch", self.watch.is_some(), "it shows one queue")
            .single_only("--wait", self.wait.is_some(), "it waits for one queue")
            .file("--snapshot-file", self.evidence.snapshot_file.as_mut())
            .list("--alive-from", self.evidence.alive_from.as_deref())
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let selection = Selection { ids: args.ids.id.clone(), ..args.select.selection()? };
    let format = args.list.output.format();
    check_lists(args, format)?;
    args.list.check(&Stale::titles(args.by, format, args.time.times()))?;
    if args.watch.is_some() {
        watch::check_output(context, format, "jobdoctor stale -o jsonl")?;
    }
    let settings = Settings::resolve(&args.list.store, &context.environment)?;
    if let Some(interval) = args.watch {
        let policy = settings.policy(args.older.older);
        let (summary, by) = (args.summary, args.by);
        return Watch { context, settings: &settings, selection, policy, interval, summary, by, format }.run();
    }
    let document = match args.wait {
        Some(wait) => wait_for_none(wait, context, || snapshot(args, &settings, &selection, context))?,
        None => snapshot(args, &settings, &selection, context)?,
    };
    // What the library's own command does not heed must be known before it is run.
    let is_needed = !has_findings(&document) || document.summary.command.is_some();
    context.warn_of_caveats(&document.head.warnings, is_needed);
    let missing = missing(&document.head.target, &document.head.not_found);
    if let Some(error) = missing.as_ref().filter(|_| document.head.not_found.len() == selection.ids.len()) {
        return Err(error.clone());
    }
    let there = (selection.ids.len() - document.head.not_found.len()) as u64;
    if document.summary.stuck + document.summary.unknown < there {
        context.ui.note("the other named jobs are not listed: see `jobdoctor show`");
    }
    context.ui.print(format, &document)?;
    if !format.is_machine() {
        note_summary(context, &document, !args.summary && args.by.is_none());
        let Stale { head, summary, .. } = &document;
        context.hint_zone(&settings, "stale", &head.target.preset, summary.unknown_zone);
    }
    if let Some(error) = missing {
        return Ok(context.ui.error_after_report(&error));
    }
    let counts = args.exit_code || args.wait.is_some();
    let is_unmatched = args.exit_code && document.head.unmatched;
    Ok(if counts && has_findings(&document) || is_unmatched { Exit::Found } else { Exit::Done })
}

fn has_findings(document: &Stale) -> bool {
    document.summary.stuck + document.summary.unknown > 0
}

/// Takes a snapshot and lists what is stuck in it.
fn snapshot(args: &Args, settings: &Settings, selection: &Selection, context: &Context) -> Result<Stale, CliError> {
    let format = args.list.output.format();
    let evidence = EvidenceFiles::read(&args.evidence, settings, context, READING)?;
    let mut snapshot = match args.interrupted.interrupted {
        true => context.snapshot_of_interrupted(settings, "stale")?,
        false => context.snapshot(settings, "stale")?,
    };
    let mut policy = settings.policy(args.older.older);
    if let Some(since) = args.interrupted.within() {
        policy = policy.on_interrupted(since);
    }
    let (policy, list) = evidence.add_to(&mut snapshot, policy, context, !format.is_machine())?;
    if let Some(why) = list.wrong {
        context.ui.warn(&why);
    }
    let jobs = match format {
        _ if args.summary || format == Format::None => Collector::first(0),
        // A terminal shows a few jobs of each cause, unless `--limit` or `--id` is given.
        Format::Table if context.ui.screen().by_cause && selection.limit.is_none() && !selection.is_by_name() => {
            Collector::examples()
        }
        Format::Table | Format::Wide => Collector::first(selection.limit.unwrap_or(MOST_ROWS)),
        _ => Stale::collector(format, selection.limit),
    };
    let mut document = match args.by {
        Some(by) => ops::stale_by(&mut snapshot, selection, &policy, by)?,
        None => ops::stale(&mut snapshot, selection, &policy, jobs, &mut |_, _| false)?,
    };
    document.head.warnings.extend(list.unmatched);
    Ok(document)
}

/// Takes snapshots until one finds nothing or time is up. Later failures are retried: a database may be away briefly.
fn wait_for_none(
    time: Duration,
    context: &Context,
    mut snapshot: impl FnMut() -> Result<Stale, CliError>,
) -> Result<Stale, CliError> {
    let until = Instant::now() + time;
    let mut last = Ok(snapshot()?);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let waits_for = match &last {
            Ok(document) if !has_findings(document) => return last,
            Ok(Stale { summary, .. }) => format!("{} stuck, {} unknown", summary.stuck, summary.unknown),
            // The message may quote the database.
            Err(_) => "the database cannot be read".to_owned(),
        };
        if left.is_zero() {
            return last;
        }
        context.ui.redraw(&format!("waiting: {waits_for}"));
        let slept = sleep(left.min(PAUSE), &context.interrupt);
        context.ui.redraw("");
        slept?;
        last = snapshot();
    }
}

/// Refuses `--summary` and `--by` with a format that lists nothing but jobs.
fn check_lists(args: &Args, format: Format) -> Result<(), CliError> {
    if args.by.is_some() && format == Format::Name {
        let message = "--by lists groups, but -o name lists jobs to act on";
        return Err(CliError::usage(message).hint("use -o csv, -o json or -o jsonl"));
    }
    if args.summary && matches!(format, Format::Csv | Format::Name) {
        let message = format!("--summary lists no jobs, but -o {} lists nothing else", format.name());
        return Err(CliError::usage(message).hint("use -o json or -o jsonl, or leave --summary out"));
    }
    Ok(())
}

fn note_summary(context: &Context, document: &Stale, lists: bool) {
    let summary = &document.summary;
    let listed = document.unknown.len() as u64;
    let is_by_cause = document.head.filter.limit.is_none() && context.ui.screen().by_cause;
    let unknown = match summary.unknown {
        0 => String::new(),
        n if lists && !is_by_cause && listed < n => {
            format!(", {} unknown (of which {} are shown)", grouped(n), grouped(listed))
        }
        n => format!(", {} unknown", grouped(n)),
    };
    let groups = document.groups.len();
    let more = match document.head.filter.limit {
        None if groups > ROWS => {
            format!("; the {ROWS} largest of {} groups are shown, --limit N shows more", grouped(groups as u64))
        }
        None if lists && !is_by_cause && summary.stuck > summary.returned => {
            format!("; the {} longest silent are shown, -o jsonl lists all", grouped(summary.returned))
        }
        Some(limit) if lists && limit < summary.stuck => format!("; the {} longest silent are shown", summary.returned),
        _ => String::new(),
    };
    let due = summary.waiting.as_ref().map_or_else(String::new, |waiting| format!("; {}", waiting.sentence()));
    let filter = &document.head.filter;
    let (stuck, examined) = (count(summary.stuck, "job", "jobs"), filter.examined(summary.in_flight));
    context.ui.note(&match filter.within() {
        Some(_) => format!("{stuck}{unknown}, of {examined}{more}"),
        None => format!("{stuck} stuck{unknown}, of {examined}{due}{more}"),
    });
    filter.older(summary.older).iter().for_each(|older| context.ui.note(older));
    if let Some(command) = &summary.command {
        let named = filter.limit.unwrap_or(u64::MAX).min(ops::NAMED as u64);
        let them = if summary.stuck > named { format!("{} of them", grouped(named)) } else { "them".to_owned() };
        context.ui.hint(&format!("the library's own way to bring {them} back:\n{command}"));
    } else if summary.stuck > 0 {
        context.ui.hint(&format!("to see what would be done: {}", context.next_command("reclaim", &[])));
    }
}
