mod ending;
mod follow_up;
mod options;
mod run;

pub(super) use ending::{Next, end, exit, exit_after};
pub(super) use follow_up::FollowUp;
pub(super) use options::Options;
pub(super) use run::{Run, run_id};

use super::selection::selection;
use crate::cli::args::{
    ActArgs, ConfirmArgs, EvidenceArgs, IdArgs, OlderArgs, OutputArgs, PlanArgs, RowArgs, SelectArgs, StoreArgs,
    TimeArg,
};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::{READING, Settings};
use crate::cli::{input, plan_file};
use crate::ops::{self, Mode, PlanSource};
use crate::output::format::Format;
use crate::output::{Closing, ROWS, Reclaim, closing};
use std::time::Duration;

/// `jobdoctor reclaim`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor reclaim --db queue.db --older 5m              what would be done: writes nothing
  jobdoctor reclaim --db queue.db --older 5m --apply      do it
  jobdoctor reclaim --db queue.db --id 42 --to fail --apply
  jobdoctor reclaim --db queue.db --from-file ids.txt     the jobs of a list; - is standard input
  jobdoctor reclaim --db queue.db --save-plan plan.json       and after a review:
  jobdoctor reclaim --db queue.db --plan plan.json --apply")]
pub struct Args {
    #[command(flatten)]
    act: ActArgs,
    #[command(flatten)]
    older: OlderArgs,
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
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) rows: RowArgs,
    #[command(flatten)]
    pub(super) time: TimeArg,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let have_ended = args.act.mode() != Mode::Plan;
    args.rows.check(args.output.format(), &Reclaim::titles(have_ended, args.time.times()))?;
    let mut settings = Settings::resolve(&args.store, &context.environment)?;
    let mut selection = selection(&args.select, &args.ids)?;
    if let Some(list) = &args.plan.from_file {
        if args.plan.is_piped() && args.evidence.alive_from.as_deref().is_some_and(|other| other.as_os_str() == "-") {
            return Err(CliError::new(Exit::Usage, "--from-file - and --alive-from - cannot both read standard input")
                .hint("write one of the lists to a file"));
        }
        let patience = settings.stated_timeout().unwrap_or(READING);
        selection.ids.extend(input::read_ids(list, &context.interrupt, patience)?);
        selection.from_list = true;
    }
    let source = match &args.plan.plan {
        Some(path) => {
            let saved = plan_file::read(path)?;
            // A plan is applied with the preset that it was made with.
            settings.preset.get_or_insert_with(|| saved.target.preset.clone());
            PlanSource::Saved(plan_file::name(path), Box::new(saved))
        }
        None => PlanSource::Selection(Box::new(selection)),
    };
    let format = args.output.format();
    let name = ("reclaim", "jobdoctor.reclaim/v1");
    let options = Options::resolve(name, &args.act, &args.confirm, &settings, Duration::ZERO)?;
    let run = Run::open(context, &settings, options, &args.evidence)?;
    let mut snapshot = run.snapshot()?;
    context.report_queue(&snapshot);
    let run_id = run_id(&snapshot);
    context.ui.set_run(&run_id);
    let policy = source.policy(run.policy().with_older(args.older.older))?;
    let (policy, list) = run.with_evidence(&mut snapshot, policy, !format.is_machine())?;
    let mut plan = source.plan(&mut snapshot, &policy)?;
    run.add_caveats(&mut snapshot, (&source, &policy, &list), &mut plan, format)?;
    if args.act.mode() == Mode::ServerDryRun {
        snapshot.beyond_rollback().into_iter().for_each(|warning| plan.warn(warning));
    }
    // A reader's snapshot must not stay open while writing: on SQLite it could keep the writer out.
    drop(snapshot);
    let plan = run.confirmed(plan, &source, &policy)?;
    let save_plan = args.plan.save_plan.as_deref();
    if let Some(path) = save_plan {
        plan_file::write(path, &plan.to_save()?)?;
    }
    let apply = run.apply_options(&plan, run_id, list.wrong, None);
    if args.act.emit_sql {
        return run.emit(&plan, &apply);
    }
    let mut follow_up = FollowUp::of(&run, &plan, &policy)?;
    let mut done = ops::reclaim(run.store.as_ref(), &run.limits, plan, &apply)?;
    follow_up.run_before_report(format, &mut done);
    let printed = context.ui.print(format, &done.document);
    if printed.is_ok() {
        let warn_above = settings.warn_above(None);
        context.ui.messages(&closing(
            &done.document,
            &Closing {
                is_machine: format.is_machine(),
                rows: (format == Format::Table).then_some(ROWS),
                is_watched: context.ui.is_watched(),
                after: &done.after,
                stop: done.stop.as_ref().map(ToString::to_string),
                warn_above: warn_above.as_ref(),
                save_plan,
                next: &Next { context, name: "reclaim", source: &source, save_plan, is_piped: args.plan.is_piped() },
            },
        ));
    }
    follow_up.run(&mut done);
    let (document, exit) = (&done.document, exit(&done, &source).worse(follow_up.exit));
    let told = (document.run_id.as_ref(), done.is_recorded, document.summary.outcomes.as_ref());
    end(printed, exit, context, told)
}
