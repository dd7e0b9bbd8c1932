mod end;
mod reclaiming;
mod said;

pub(super) use reclaiming::Reclaiming;

use super::selection::selection;
use crate::cli::args::{ActArgs, IdArgs, ListOutputArgs, OlderArgs, PlanArgs, SelectArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::cli::{id_list, plan_file};
use crate::policy::Policy;

/// `jobdoctor reclaim`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor reclaim --db queue.db --older 5m              what would be done: writes nothing
  jobdoctor reclaim --db queue.db --older 5m --apply      do it
  jobdoctor reclaim --db queue.db --id 42 --to fail --apply
  jobdoctor reclaim --db queue.db --from-file ids.txt     those of a list; - is standard input
  jobdoctor reclaim --db queue.db --save-plan plan.json       and once it has been looked at:
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
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: ListOutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let mut settings = Settings::resolve(&args.store, &context.environment)?;
    let mut selection = selection(&args.select, &args.ids)?;
    if let Some(list) = &args.plan.from_file {
        selection.ids.extend(id_list::read(list)?);
        selection.from_list = true;
    }
    let saved = match &args.plan.plan {
        Some(path) => Some((plan_file::name(path), plan_file::read(path)?)),
        None => None,
    };
    if let Some((_, saved)) = &saved {
        // What a plan was made with is what it is carried out with.
        settings.preset.get_or_insert_with(|| saved.target.preset.clone());
    }
    Reclaiming {
        name: "reclaim",
        schema: "jobdoctor.reclaim/v1",
        act: &args.act,
        selection,
        format: args.output.format(),
        settings,
        quiet_when_idle: false,
        saved,
        save_plan: args.plan.save_plan.as_deref(),
    }
    .run(context, |_, policy| Policy { older: args.older.older.or(policy.older), ..policy })
}
