use super::SweepArgs;
use super::host::HostArgs;
use super::line::{Line, Word};
use super::quote;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::next_command::quoted;

/// The longest command that every cron takes.
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

/// A file for /etc/cron.d.
pub(super) fn text(args: &Args, line: &Line) -> Result<String, CliError> {
    let user = args.host.user()?;
    let command = quote::cron(&command(line));
    if command.len() > LONGEST {
        return Err(CliError::new(Exit::Usage, "the command is too long for cron")
            .hint("make a target in the config file, and name it with --target"));
    }
    let mut text = format!(
        "# /etc/cron.d/{name}\n\
         # Give back the stuck jobs of {about}.\n\
         # It says nothing when there was nothing to do. What it says goes to the one who is named here:\n\
         # MAILTO=ops@example.com\n\
         SHELL=/bin/sh\n",
        name = line.name,
        about = line.about
    );
    if !line.secrets.is_empty() {
        text.push_str(&format!(
            "# {} not shown: it holds a password. Put NAME='value' into {}, which {user} alone may read.\n",
            line.secrets.join(" and "),
            file(line)
        ));
    }
    text.push_str(&format!("{} {user} {command}\n", args.sweep.every.cron()));
    Ok(text)
}

fn file(line: &Line) -> String {
    format!("/etc/jobdoctor/{}.env", line.name)
}

fn command(line: &Line) -> String {
    let variables = line.variables.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = line.words.iter().map(|word| match word {
        Word::Plain(word) => quoted(word),
        Word::Host => "\"$(hostname)\"".to_owned(),
    });
    let words: Vec<String> = variables.chain([quoted(&line.program)]).chain(words).collect();
    let before = if line.secrets.is_empty() { String::new() } else { format!("set -a && . {} && ", file(line)) };
    format!("{before}{}", words.join(" "))
}
