use super::pass::{Options, PassCommand};
use super::recorded::{ByArgs, LAST, settings_of_run};
use crate::cli::args::{ActArgs, EvidenceArgs, FastArgs, ListArgs, PlanArgs, ReasonArgs, markdown_too, parse_digest};
use crate::cli::tips::no_database;
use crate::cli::{CliError, Context, Exit};
use crate::ops::{Bound, OddList, PlanSource};
use crate::output::Reclaim;
use crate::output::format::Times;
use crate::policy::Policy;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", markdown_too))]
#[command(after_help = "\
Examples:
  jobdoctor undo last                                           the plan for your latest run here: writes nothing
  jobdoctor undo 20261121181057-a1b2c3                          the same for that run, on its database
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db            the same, on a database that the journal cannot name
  jobdoctor undo 20261121181057-a1b2c3 --db queue.db --apply    do it")]
pub struct Args {
    /// The run, or as much of the beginning of its id as no other run shares; `jobdoctor history` lists them. `last` is
    /// the latest one that moved a job, and only plans
    #[arg(value_name = "RUN", value_parser = NonEmptyStringValueParser::new().try_map(no_database))]
    run: String,
    #[command(flatten)]
    by: ByArgs,
    /// Do it: without this, nothing is written
    #[arg(long, help_heading = "What to do")]
    apply: bool,
    /// Write nothing, the default; wins over --apply
    #[arg(short = 'n', long, help_heading = "What to do")]
    dry_run: bool,
    /// Refuse to revert more jobs than this
    #[arg(long, value_name = "N", help_heading = "What to do")]
    max_jobs: Option<u64>,
    /// Apply only if the plan is still the one with this digest
    #[arg(long, value_name = "DIGEST", help_heading = "What to do", requires = "apply", value_parser = parse_digest)]
    expect: Option<String>,
    #[command(flatten)]
    fast: FastArgs,
    #[command(flatten)]
    reason: ReasonArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    if args.run != LAST {
        return undo(args, &args.by.run_id(&args.run, &args.list.store, context)?, context);
    }
    // Another run may have become the latest since the plan was read.
    if args.apply && !args.dry_run {
        let plan = context.next_command("undo", &[]);
        let hint = format!("run {plan}, then the command that it prints");
        return Err(CliError::usage("`undo last` only plans").hint(hint));
    }
    let run = args.by.latest(&args.list.store, context)?;
    let run_id = &run.head.run_id;
    context.ui.note(&format!("the latest run is {run_id}: {}", run.sentence()));
    let mut named = context.clone();
    // A value of an option may be the same word.
    let is_value = |place: usize| place > 0 && context.words.get(place - 1).is_some_and(|word| word.starts_with("--"));
    let mut places =
        (0..context.words.len()).filter(|place| context.words.get(*place).is_some_and(|word| word == LAST));
    let place = places.clone().find(|place| !is_value(*place)).or_else(|| places.next());
    place.and_then(|place| named.words.get_mut(place)).into_iter().for_each(|word| word.clone_from(run_id));
    undo(args, run_id, &named)
}

fn undo(args: &Args, run_id: &str, context: &Context) -> Result<Exit, CliError> {
    let act = ActArgs {
        apply: args.apply && !args.dry_run,
        max_jobs: args.max_jobs,
        expect: args.expect.clone(),
        fast: args.fast.clone(),
        reason: args.reason.clone(),
        ..ActArgs::default()
    };
    args.list.check(&Reclaim::titles(act.apply, true, Times::default()))?;
    let settings = settings_of_run(&args.list.store, run_id, context)?;
    let source = PlanSource::Run(run_id.to_owned(), context.environment.journals(), Bound::default());
    let evidence = EvidenceArgs::default();
    let options = Options::of("undo", &act, &evidence, &args.list.output);
    let pass = PassCommand::open(context, &settings, options, source)?;
    let snapshot = pass.snapshot()?;
    context.report_queue(&snapshot);
    let run_id = pass.run_id(&snapshot);
    let policy = Policy::default();
    let plan = pass.plan(snapshot, &policy, &OddList::default())?;
    let apply = pass.apply_options(&plan, run_id, None, None);
    let carried = pass.carry_out(plan, &policy, apply)?;
    pass.end(carried, &PlanArgs::default(), None, None)
}
