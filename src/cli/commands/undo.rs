use super::pass::{Options, Pass};
use crate::cli::args::{ActArgs, EvidenceArgs, FastArgs, ListArgs, ReasonArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::recorded_database::settings_of_run;
use crate::ops::{OddList, PlanSource};
use crate::output::Reclaim;
use crate::output::format::Times;
use crate::policy::Policy;
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
    list: ListArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let act = ActArgs {
        apply: args.apply && !args.dry_run,
        max_jobs: args.max_jobs,
        fast: args.fast.clone(),
        reason: args.reason.clone(),
        ..ActArgs::default()
    };
    args.list.check(&Reclaim::titles(act.apply, true, Times::default()))?;
    let settings = settings_of_run(&args.list.store, &args.run, context)?;
    let source = PlanSource::Run(args.run.clone(), context.environment.journals(), 0);
    let evidence = EvidenceArgs::default();
    let pass = Pass::open(context, &settings, Options::of_undo(&act), (source, &evidence, &args.list.output))?;
    let snapshot = pass.snapshot()?;
    context.report_queue(&snapshot);
    let run_id = pass.run_id(&snapshot);
    let policy = Policy::default();
    let plan = pass.plan(snapshot, &policy, &OddList::default())?;
    let apply = pass.apply_options(&plan, run_id, None, None);
    let carried = pass.carry_out(plan, &policy, apply)?;
    pass.end(carried, (None, false), None, None)
}
