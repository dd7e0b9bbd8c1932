use super::{HostArgs, Sweep, SweepArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::next_command::quoted;

/// `jobdoctor generate cron`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate cron --target shop --every 15m > jobdoctor-sweep-shop")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

pub(super) fn text(args: &Args, sweep: &Sweep, context: &Context) -> Result<String, CliError> {
    sweep.database(context)?;
    let words: Vec<String> = sweep.on_host(args.host.program()?)?.iter().map(|word| quoted(word)).collect();
    Ok(format!(
        include_str!("templates/crontab"),
        name = sweep.name,
        schedule = args.sweep.every.cron(),
        user = args.host.user()?,
        // A `%` ends the command.
        command = words.join(" ").replace('%', "\\%"),
    ))
}
