mod brief;
mod churn;
mod confirming;
mod emit;
mod end;
mod following;
mod gentle;
mod reclaiming;
mod said;
mod sweep_lock;
mod told;
mod unheard;
mod waiting;

pub(super) use reclaiming::{Reclaiming, Unattended, run_id};

use super::selection::selection;
use crate::cli::args::{
    ActArgs, BesideArgs, ConfirmArgs, IdArgs, ListOutputArgs, OlderArgs, PlanArgs, SelectArgs, StoreArgs,
};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::{READING, Settings};
use crate::cli::{id_list, plan_file};
use crate::ops::Asked;

/// `jobdoctor reclaim`.
#[derive(Debug, Clone, clap::Args)]
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
    beside: BesideArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: ListOutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let mut settings = Settings::resolve(&args.store, &context.environment)?;
    let mut selection = selection(&args.select, &args.ids)?;
    if let Some(list) = &args.plan.from_file {
        if list.as_os_str() == "-" && args.beside.alive_from.as_deref().is_some_and(|other| other.as_os_str() == "-") {
            return Err(CliError::new(Exit::Usage, "--from-file - and --alive-from - cannot both read standard input")
                .hint("write one of the lists to a file"));
        }
        let patience = settings.stated_timeout().unwrap_or(READING);
        selection.ids.extend(id_list::read(list, &context.interrupt, patience)?);
        selection.from_list = true;
    }
    let asked = match &args.plan.plan {
        Some(path) => {
            let saved = plan_file::read(path)?;
            // What a plan was made with is what it is carried out with.
            settings.preset.get_or_insert_with(|| saved.target.preset.clone());
            Asked::Saved(plan_file::name(path), Box::new(saved))
        }
        None => Asked::Selection(Box::new(selection)),
    };
    Reclaiming {
        name: "reclaim",
        schema: "jobdoctor.reclaim/v1",
        act: &args.act,
        asked,
        beside: &args.beside,
        confirm: &args.confirm,
        format: args.output.format(),
        settings,
        unattended: None,
        save_plan: args.plan.save_plan.as_deref(),
        metrics: None,
    }
    .run(context, |_, _, policy| policy.with_older(args.older.older))
}
