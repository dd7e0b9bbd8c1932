use super::reclaim::{end, exit_after, run_id};
use crate::cli::args::{FastArgs, OutputArgs, ReasonArgs, RowArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::recorded_database::settings_of_run;
use crate::cli::settings::{APPLYING, READING};
use crate::ops::{self, Finished, Guard, Records, UndoOrder};
use crate::output::{Undo, undo_closing};
use clap::builder::NonEmptyStringValueParser;

/// `jobdoctor undo`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor undo 20261121181057-a1b2c3                          the plan, on the database of that run: writes nothing
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db            the same, on a database that the journal cannot name
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db --apply    do it")]
pub struct Args {
    /// The run, or as much of the beginning of its id as no other run shares; `jobdoctor history` lists them
    #[arg(value_name = "RUN", value_parser = NonEmptyStringValueParser::new())]
    run: String,
    /// Do it: without this, nothing is written
    #[arg(long, help_heading = "What to do")]
    apply: bool,
    /// Write nothing, the default; wins over --apply
    #[arg(short = 'n', long, help_heading = "What to do")]
    dry_run: bool,
    /// Refuse to revert more jobs than this
    #[arg(long, value_name = "N", help_heading = "What to do")]
    max_jobs: Option<u64>,
    #[command(flatten)]
    fast: FastArgs,
    #[command(flatten)]
    reason: ReasonArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) rows: RowArgs,
}

impl Args {
    fn applies(&self) -> bool {
        self.apply && !self.dry_run
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    args.rows.check(args.output.format(), &Undo::titles(args.applies()))?;
    let settings = settings_of_run(&args.store, &args.run, context)?;
    let database = settings.database()?;
    context.report_setup(&database);
    let store = database.store()?;
    let apply = args.applies();
    let time = if apply { APPLYING } else { READING };
    let limits = settings.limits("undo", time, &context.interrupt, apply);
    if apply && !settings.target.read_only {
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
        apply,
        fast: args.fast.fast,
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
    if let Err(error) = context.ui.print(format, &done.document) {
        let told = (done.document.run_id.as_ref(), done.is_recorded, done.document.summary.outcomes.as_ref());
        return end(Err(error), exit(args, &done), context, told);
    }
    let stop = done.stop.as_ref().map(ToString::to_string);
    let next = || context.next_command("undo", &["--apply"]);
    context.ui.messages(&undo_closing(&done.document, format.is_machine(), &done.after, stop, &next));
    Ok(exit(args, &done))
}

/// The run was named, so every job of it that stays as it is counts.
fn exit(args: &Args, done: &Finished<Undo>) -> Exit {
    let document = &done.document;
    let exit = if document.refused.is_some() && args.applies() { Exit::Refused } else { Exit::Done };
    let Some(outcomes) = &document.summary.outcomes else { return exit };
    let not_reverted = document.summary.left + document.summary.unrecorded.unwrap_or(0);
    exit.worse(exit_after(outcomes, outcomes.changed + outcomes.gone + not_reverted, done.stop.as_ref()))
}
