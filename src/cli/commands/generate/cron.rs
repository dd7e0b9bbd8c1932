use super::sweep_command::SweepCommand;
use super::template::{cron, fill};
use super::{HostArgs, SweepArgs};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::next_command::quoted;
use serde_json::json;

/// The longest command that every cron takes, in bytes.
const LONGEST: usize = 990;

/// `jobdoctor generate cron`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate cron --db postgres:///app --older 10m --every 15m > jobdoctor-sweep")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

pub(super) fn text(args: &Args, sweep: &SweepCommand) -> Result<String, CliError> {
    let file = format!("/etc/jobdoctor/{}.env", sweep.name);
    let secrets = sweep.secrets.join(" and ");
    let source = if secrets.is_empty() { String::new() } else { format!("set -a && . {file} && ") };
    let variables = sweep.variables.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let words: Vec<String> = variables.chain(sweep.words.iter().map(|word| quoted(word))).collect();
    let command = cron(&format!("{source}{} --apply", words.join(" ")));
    if command.len() > LONGEST {
        return Err(CliError::new(Exit::Usage, "the command is too long for cron")
            .hint("make a target in the config file, and name it with --target"));
    }
    let values = json!({
        "name": sweep.name, "about": sweep.about, "secrets": secrets, "file": file,
        "schedule": args.sweep.every.cron(), "user": args.host.user()?, "command": command,
    });
    Ok(fill(include_str!("templates/crontab"), &values))
}
