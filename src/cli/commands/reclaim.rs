use super::pass::{Options, PassCommand};
use crate::cli::args::{
    ActArgs, ConfirmArgs, EvidenceArgs, IdArgs, InterruptedArgs, ListArgs, OlderArgs, PlanArgs, SelectArgs, TimeArg,
    markdown_too,
};
use crate::cli::{CliError, Context, Exit, READING, Settings, evidence_files, input};
use crate::model::LONGEST_THRESHOLD;
use crate::ops::{Bound, Mode, PlanSource, Selection};
use crate::output::Reclaim;
use std::sync::Arc;

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("output", markdown_too))]
#[command(after_help = "\
Examples:
  jobdoctor reclaim --db queue.db --older 5m              what would be done: writes nothing
  jobdoctor reclaim --db queue.db --older 5m --apply      do it
  jobdoctor reclaim --db queue.db --id 42 --to fail --apply
  jobdoctor reclaim --db queue.db --interrupted           what the library failed because its worker died
  jobdoctor reclaim --db queue.db --from-file ids.txt     the jobs of a list; - is standard input
  jobdoctor reclaim --db queue.db --save-plan plan.json       and after a review:
  jobdoctor reclaim --db queue.db --plan plan.json --apply")]
pub struct Args {
    #[command(flatten)]
    act: ActArgs,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    interrupted: InterruptedArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    ids: IdArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    time: TimeArg,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let have_ended = args.act.mode() != Mode::Plan;
    args.list.check(&Reclaim::titles(have_ended, false, args.time.times()))?;
    let mut settings = Settings::resolve(&args.list.store, &context.environment)?;
    let mut selection = Selection { ids: args.ids.id.clone(), ..args.select.selection()? };
    if let Some(list) = &args.plan.from_file {
        if args.plan.is_piped() && args.evidence.alive_from.as_deref().is_some_and(|other| other.as_os_str() == "-") {
            return Err(CliError::usage("--from-file - and --alive-from - cannot both read standard input")
                .hint("write one of the lists to a file"));
        }
        let patience = settings.stated_timeout().unwrap_or(READING);
        selection.ids.extend(input::read_ids(list, &context.interrupt, patience)?);
        selection.from_list = true;
    }
    selection.with_due = !have_ended && !args.interrupted.interrupted;
    require_fit_for_interrupted(args)?;
    let mut interrupted = args.interrupted.within();
    let source = match &args.plan.plan {
        Some(path) => {
            let saved = evidence_files::read_plan(path)?;
            // A plan is applied with the preset that it was made with.
            settings.preset.get_or_insert_with(|| saved.target.preset.clone());
            // Its jobs were recent enough when it was made.
            interrupted = saved.policy.interrupted.then_some(LONGEST_THRESHOLD);
            PlanSource::Saved(evidence_files::plan_name(path), Arc::new(saved), Bound::default())
        }
        None => PlanSource::Selection(Box::new(selection)),
    };
    let options = Options::of("reclaim", &args.act, &args.evidence, &args.list.output);
    let mut options = options.resolve(&args.confirm, &settings)?;
    options.interrupted = interrupted;
    let pass = PassCommand::open(context, &settings, options, source)?;
    let mut snapshot = pass.snapshot()?;
    context.report_queue(&snapshot);
    let run_id = pass.run_id(&snapshot);
    let policy = pass.source.policy(pass.policy().with_older(args.older.older))?;
    let (policy, list) = pass.with_evidence(&mut snapshot, policy, !args.list.output.format().is_machine())?;
    let mut plan = pass.plan(snapshot, &policy, &list)?;
    if let Some(path) = &args.plan.save_plan {
        plan.alone();
        evidence_files::write_plan(path, &plan.to_save())?;
    }
    let apply = pass.apply_options(&plan, run_id, list.wrong, None);
    let carried = pass.carry_out(plan, &policy, apply)?;
    pass.end(carried, &args.plan, settings.warn_above(None).as_ref(), None)
}

/// Refuses options about claims where interrupted jobs are selected: these come back, or stay.
fn require_fit_for_interrupted(args: &Args) -> Result<(), CliError> {
    let Args { act, plan, .. } = args;
    let of_claims = [
        ("--to", act.to.is_some()),
        ("--rule", !act.rule.is_empty()),
        ("--if-refused", act.if_refused.is_some()),
        ("--verify", act.verify.is_some()),
        ("--plan", plan.plan.is_some()),
    ];
    let flag = of_claims.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    let Some(flag) = flag.filter(|_| args.interrupted.interrupted) else { return Ok(()) };
    let message = format!("{flag} is about claims, and --interrupted selects none");
    Err(CliError::usage(message).hint(format!("leave out {flag} or --interrupted")))
}
