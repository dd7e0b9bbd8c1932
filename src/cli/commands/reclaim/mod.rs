mod end;
mod reclaiming;
mod said;

pub(super) use reclaiming::Reclaiming;

use super::selection::selection;
use crate::cli::args::{ActArgs, IdArgs, ListOutputArgs, OlderArgs, SelectArgs, StoreArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use crate::policy::Policy;

/// `jobdoctor reclaim`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor reclaim --db queue.db --older 5m              what would be done: writes nothing
  jobdoctor reclaim --db queue.db --older 5m --apply      do it
  jobdoctor reclaim --db queue.db --id 42 --to fail --apply")]
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
    store: StoreArgs,
    #[command(flatten)]
    pub(super) output: ListOutputArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    Reclaiming {
        name: "reclaim",
        schema: "jobdoctor.reclaim/v1",
        act: &args.act,
        selection: selection(&args.select, &args.ids)?,
        format: args.output.format(),
        settings,
        quiet_when_idle: false,
    }
    .run(context, |_, policy| Policy { older: args.older.older.or(policy.older), ..policy })
}
