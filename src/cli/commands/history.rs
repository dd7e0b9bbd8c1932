use super::recorded::{ByArgs, as_in_run};
use crate::cli::args::{ListArgs, TimeArg, markdown_too};
use crate::cli::tips::no_database;
use crate::cli::ui::host_time;
use crate::cli::{CliError, Context, Exit, READING, Settings, masked};
use crate::model::parse_duration;
use crate::ops::{self, Records, Snapshot};
use crate::output::format::{Format, count, grouped};
use crate::output::{History, HistoryOne};
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use std::time::Duration;

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", markdown_too))]
#[command(after_help = "\
Examples:
  jobdoctor history                                   the runs of this host, newest first
  jobdoctor history last --db queue.db                your latest run: its steps, and what became of them
  jobdoctor history 20261121 -o markdown              one run, to paste into a ticket or a channel
  jobdoctor history --db postgres://ops@db/app        those on this database, in the ledger too")]
pub struct Args {
    /// The run, or as much of the beginning of its id as no other run shares. `last` is the latest one that moved a job
    #[arg(value_name = "RUN", value_parser = NonEmptyStringValueParser::new().try_map(no_database))]
    run: Option<String>,
    #[command(flatten)]
    by: ByArgs,
    /// The runs that began within this time
    #[arg(long, value_name = "DURATION", conflicts_with = "run", value_parser = parse_duration, allow_hyphen_values = true)]
    since: Option<Duration>,
    /// The N newest runs
    #[arg(long, value_name = "N", conflicts_with = "run", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// List the runs on every database, although --db or --target names one
    #[arg(long, conflicts_with = "run")]
    all: bool,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    time: TimeArg,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let format = args.list.output.format();
    args.list.check(&if args.run.is_some() { HistoryOne::titles() } else { History::titles(format) })?;
    if format == Format::Markdown && args.run.is_none() {
        return Err(CliError::usage("-o markdown tells one run").hint("name it: jobdoctor history last -o markdown"));
    }
    let journals = context.environment.journals();
    let named = args.run.as_ref().map(|run| args.by.run_id(run, &args.list.store, context)).transpose()?;
    let mut snapshot = snapshot(args, named.as_deref(), context)?;
    let mut records = Records { journals: journals.as_ref(), snapshot: snapshot.as_mut() };
    match &named {
        None => {
            let here_only = is_named(args) && !args.all;
            let now = records.snapshot.as_ref().map(|snapshot| snapshot.now()).or_else(host_time);
            let since = args.since.and_then(|since| Some(now?.minus(since)));
            let limit = args.limit.map(|limit| limit as usize);
            let mut document = ops::history(&mut records, limit, since, here_only)?;
            drop(snapshot);
            document.read_at = document.read_at.or_else(host_time);
            document.head.warnings.iter().for_each(|warning| context.ui.warn(warning));
            context.ui.print(format, &document)?;
            say_list(context, format, &document);
        }
        Some(run) => {
            let mut document = ops::history_run(&mut records, run, HistoryOne::collector(format))?;
            drop(snapshot);
            document.read_at = document.read_at.or_else(host_time);
            if format == Format::Markdown {
                let undo = context.on_same_queue(&["undo", &document.head.run.head.run_id], &[]);
                context.ui.report(|out| write!(out, "{}", masked(&document.markdown(&undo))))?;
                return Ok(Exit::Done);
            }
            context.ui.print(format, &document)?;
            say_one(context, format, &document);
        }
    }
    Ok(Exit::Done)
}

/// A snapshot of the database at hand, if any. The journal needs none: without a name, a failure is only a warning.
fn snapshot(args: &Args, run: Option<&str>, context: &Context) -> Result<Option<Snapshot>, CliError> {
    let mut settings = Settings::resolve(&args.list.store, &context.environment)?;
    if let Some(run) = run {
        settings = as_in_run(settings, &args.list.store, run, context)?;
    }
    let begun = settings.database().and_then(|database| {
        if database.address.is_none() {
            return Ok(None);
        }
        context.report_setup(&database);
        let store = database.store()?;
        let limits = settings.limits("history", READING, &context.interrupt, false);
        let snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
        context.report_queue(&snapshot);
        Ok(Some(snapshot))
    });
    match begun {
        Err(error) if !is_named(args) && !matches!(error.exit, Exit::Signal(_)) => {
            let (from, why) = (settings.address_origin(), error.message);
            context.ui.warn(&format!("the database of {from} is left out, so only the journal counts: {why}"));
            Ok(None)
        }
        other => other,
    }
}

/// True if the command line names a database.
fn is_named(args: &Args) -> bool {
    args.list.store.db.is_some() || args.list.store.target().is_some()
}

fn say_list(context: &Context, format: Format, document: &History) {
    if format.is_machine() {
        return;
    }
    let place = match (&document.head.journal, &document.head.ledger) {
        (Some(journal), Some(ledger)) => format!("in {journal} and the ledger {ledger}"),
        (Some(journal), None) => format!("in {journal}"),
        (None, Some(ledger)) => format!("in the ledger {ledger}"),
        (None, None) => "(HOME is not set, so there is no place for journals)".to_owned(),
    };
    let shown = document.runs.len().min(crate::output::ROWS) as u64;
    let more = match document.summary.runs.saturating_sub(shown) {
        0 => String::new(),
        more => format!("; {} older, --limit N shows more", grouped(more)),
    };
    context.ui.note(&format!("{} {place}{more}", count(document.summary.runs, "run", "runs")));
    if document.summary.other_databases > 0 {
        let left_out = count(document.summary.other_databases, "run", "runs");
        context.ui.note(&format!("{left_out} on other databases left out; --all lists them"));
    }
    if let Some(run) = document.runs.first() {
        context.ui.hint(&format!("to see one: {}", context.on_same_queue(&["history", &run.head.run_id], &[])));
    }
}

fn say_one(context: &Context, format: Format, document: &HistoryOne) {
    let unsure = &document.summary.unsure;
    let known = unsure.moved + unsure.not_moved + unsure.changed;
    if unsure.open > 0 {
        let open = count(unsure.open, "job", "jobs");
        context.ui.warn(&format!("{open} of unknown outcome: name the database (--db) to compare them"));
    }
    if known > 0 {
        context.ui.note(&format!(
            "{} of unknown outcome, compared with the database: {} moved, {} not moved, {} changed or gone since",
            count(known, "job", "jobs"),
            grouped(unsure.moved),
            grouped(unsure.not_moved),
            grouped(unsure.changed)
        ));
    }
    if document.head.run.undoable > 0 && document.head.run.undone_by.is_empty() && !format.is_machine() {
        let undo = context.next_command("undo", &[&document.head.run.head.run_id]);
        context.ui.hint(&format!("to see what can be reverted: {undo}"));
    }
}
