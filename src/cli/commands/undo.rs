use super::reclaim::run_id;
use crate::cli::args::{OutputArgs, ReasonArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::{CliError, exit_of};
use crate::cli::exit::Exit;
use crate::cli::settings::{APPLYING, READING, Settings};
use crate::ops::{self, Guard, Records, UndoOrder, Undone};
use crate::output::format::{Format, count, grouped};
use crate::store::StoreErrorKind;
use clap::builder::NonEmptyStringValueParser;

/// `jobdoctor undo`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db            the plan: writes nothing
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db --apply    do it")]
pub struct Args {
    /// The run, or as much of the beginning of its id as no other run shares; `jobdoctor history` lists them
    #[arg(value_name = "RUN", value_parser = NonEmptyStringValueParser::new())]
    run: String,
    /// Do it: without this, nothing is written
    #[arg(long, help_heading = "What to do")]
    apply: bool,
    /// Refuse to give back more jobs than this
    #[arg(long, value_name = "N", help_heading = "What to do")]
    max_jobs: Option<u64>,
    #[command(flatten)]
    reason: ReasonArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    let database = settings.database()?;
    context.report_setup(&database);
    let store = database.store()?;
    let time = if args.apply { APPLYING } else { READING };
    let limits = settings.limits("undo", time, &context.interrupt, args.apply);
    if args.apply && !settings.target.read_only {
        store.recover(&limits)?;
    }
    let mut snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
    context.report_queue(&snapshot);
    let journals = context.environment.journals();
    let mut records = Records { journals: journals.as_ref(), snapshot: Some(&mut snapshot) };
    let plan = ops::undo_plan(&mut records, &args.run)?;
    let run_id = run_id(&snapshot);
    let is_standby = snapshot.target.standby.is_some();
    // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
    drop(snapshot);
    let read_only = settings.target_name.as_deref().filter(|_| settings.target.read_only);
    let order = UndoOrder {
        apply: args.apply,
        guard: Guard {
            max_jobs: args.max_jobs.or(settings.target.max_jobs),
            read_only,
            is_standby,
            ..Guard::default()
        },
        run_id,
        record: settings.record("undo", args.reason.reason.as_ref(), &context.environment),
    };
    let done = ops::undo(store.as_ref(), &limits, plan, &order)?;
    let format = args.output.format();
    context.ui.print(format, &done.document)?;
    say(context, format, &done);
    Ok(exit(args, &done))
}

fn say(context: &Context, format: Format, done: &Undone) {
    let (ui, document) = (&context.ui, &done.document);
    document.warnings.iter().for_each(|warning| ui.warn(warning));
    done.after.iter().for_each(|warning| ui.warn(warning));
    if document.summary.left > 0 && document.summary.planned > 0 {
        ui.warn(&format!("{} of that run cannot be given back at all", count(document.summary.left, "job", "jobs")));
    }
    if let Some(why) = &document.refused {
        ui.warn(&format!("refused: {why}; nothing was written"));
    }
    if let Some(stop) = &done.stop {
        ui.warn(&format!("stopped early: {stop}"));
    }
    let summary = &document.summary;
    let Some(outcomes) = &summary.outcomes else {
        if document.refused.is_some() || format.is_machine() {
            return;
        }
        ui.note(&format!(
            "{} to give back, {} touched since, {} gone; nothing was written",
            count(summary.untouched, "job", "jobs"),
            grouped(summary.changed),
            grouped(summary.gone)
        ));
        if summary.untouched > 0 {
            ui.hint(&format!("to do it: {}", context.next_command("undo", &["--apply"])));
        }
        return;
    };
    let others = [
        (outcomes.changed, "touched since"),
        (outcomes.gone, "gone"),
        (outcomes.locked, "locked by another session"),
        (outcomes.refused, "refused"),
        (outcomes.not_tried, "not tried"),
        (outcomes.unknown, "of unknown outcome"),
    ];
    let others: Vec<String> =
        others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {} {what}", grouped(*n))).collect();
    ui.note(&format!("gave back {}{}", count(outcomes.moved, "job", "jobs"), others.concat()));
    if outcomes.unknown > 0 {
        ui.warn("the answer to a commit was lost: look at the jobs of unknown outcome before doing anything else");
    }
}

/// The run was named, so every job of it that stays as it is counts.
fn exit(args: &Args, done: &Undone) -> Exit {
    let document = &done.document;
    let mut exit = if document.refused.is_some() && args.apply { Exit::Refused } else { Exit::Done };
    let Some(outcomes) = &document.summary.outcomes else { return exit };
    if outcomes.unknown > 0 {
        exit = exit.worse(Exit::Unknown);
    }
    let as_they_were = outcomes.changed + outcomes.gone + outcomes.locked + outcomes.refused + outcomes.not_tried;
    let not_given_back = document.summary.left + document.summary.unrecorded.unwrap_or(0);
    if as_they_were + not_given_back > 0 {
        exit = exit.worse(Exit::Partial);
    }
    match &done.stop {
        // Something was written before it stopped: 3 says what is the case.
        Some(stop) if matches!(exit_of(stop.kind), Exit::TryAgain) => exit.worse(Exit::Partial),
        Some(stop) if matches!(stop.kind, StoreErrorKind::RowData | StoreErrorKind::Refused) => {
            exit.worse(Exit::Partial)
        }
        Some(stop) => exit.worse(exit_of(stop.kind)),
        None => exit,
    }
}
