//! Units of a host like this one: for systemd and cron.

use super::{Sweep, SweepArgs, accepted, must_be_printable};
use crate::cli::next_command;
use crate::cli::{CliError, Context};
use crate::store::Address;
use nix::unistd::{User, geteuid};
use std::path::Path;

/// Options of a unit that runs on a host like this one.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What to run")]
struct HostArgs {
    /// Run as this user [default: the current user]
    #[arg(long, value_name = "NAME", value_parser = parse_user)]
    user: Option<String>,
    /// Run the program at this path [default: the path of this one]
    #[arg(long, value_name = "PATH", value_parser = parse_program)]
    program: Option<String>,
}

impl HostArgs {
    fn user(&self) -> Result<String, CliError> {
        let own = || User::from_uid(geteuid()).ok().flatten().map(|user| user.name);
        let unnamed = || CliError::usage("the current user has no name on this host").hint("say --user NAME");
        self.user.clone().or_else(own).ok_or_else(unnamed)
    }

    fn program(&self) -> Result<String, CliError> {
        let own = || std::env::current_exe().ok()?.into_os_string().into_string().ok();
        let unknown = || CliError::usage("the path of this program is unknown").hint("say --program PATH");
        self.program.clone().or_else(own).ok_or_else(unknown)
    }
}

impl Sweep {
    /// Completes the command for a unit of this host.
    fn on_host(&self, program: String) -> Result<Vec<String>, CliError> {
        let mut words = [vec![program], self.words.clone()].concat();
        if let Some((path, _)) = &self.settings.config
            && path != Path::new("/etc/jobdoctor/config.toml")
        {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            words.extend(["--config".to_owned(), absolute.display().to_string()]);
        }
        must_be_printable(&words)?;
        Ok(words)
    }

    /// Returns the target's database, which a unit of this host must find from any directory.
    fn database(&self, context: &Context) -> Result<Address, CliError> {
        let wrong = |what| CliError::usage(format!("target `{}` {what}", self.target));
        let Some(db) = &self.settings.target.db else {
            return Err(wrong("has no `db`, so the unit would have no database").hint("add db = \"...\" to it"));
        };
        let address = Address::parse(db, &context.environment.surroundings())?;
        match &address {
            Address::Sqlite { path, .. } if path.is_relative() => {
                Err(wrong("has a relative path as `db`, which a unit does not find").hint("write an absolute path"))
            }
            _ => Ok(address),
        }
    }
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate systemd --target shop --only timer > jobdoctor-sweep-shop.timer
  jobdoctor generate systemd --target shop --restart --worker shop-worker.service")]
pub(super) struct SystemdArgs {
    /// Print a drop-in for the workers' unit that sweeps what they left behind on this host, before they start
    #[arg(long, conflicts_with_all = ["every", "only", "user"])]
    restart: bool,
    /// Print the drop-in for this unit
    #[arg(long, value_name = "UNIT", default_value = "worker.service", requires = "restart", value_parser = parse_unit)]
    worker: String,
    /// Print one of the two files [default: both]
    #[arg(long, value_name = "FILE")]
    only: Option<File>,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum File {
    /// The command
    Service,
    /// The schedule
    Timer,
}

/// The service and the timer, each under a comment with its path, or the drop-in.
pub(super) fn systemd(args: &SystemdArgs, sweep: &Sweep, context: &Context) -> Result<String, CliError> {
    let address = sweep.database(context)?;
    let words = sweep.on_host(args.host.program()?)?;
    // A `$` begins a variable, but in no other setting.
    let command = words.iter().map(|word| quoted(&word.replace('$', "$$"))).collect::<Vec<_>>().join(" ");
    let name = &sweep.name;
    if args.restart {
        return Ok(format!(include_str!("templates/restart.conf"), worker = args.worker, command = command));
    }
    let service = format!(
        include_str!("templates/sweep.service"),
        name = name,
        user = args.host.user()?,
        command = command,
        database = database_directory(&address)?,
    );
    let every = args.sweep.every;
    let (calendar, spread) = (every.calendar(), every.spread_seconds());
    let timer = format!(include_str!("templates/sweep.timer"), name = name, calendar = calendar, spread = spread);
    Ok(match args.only {
        None => format!("{service}\n{timer}"),
        Some(File::Service) => service,
        Some(File::Timer) => timer,
    })
}

/// The line that makes the directory of a SQLite file writable, where its journal and its log are too.
fn database_directory(address: &Address) -> Result<String, CliError> {
    let Address::Sqlite { path, .. } = address else { return Ok(String::new()) };
    let directory = path.parent().unwrap_or(Path::new("/")).display().to_string();
    let line = format!("ReadWritePaths={}\n", quoted(&directory));
    must_be_printable(&[directory])?;
    Ok(line)
}

/// Quotes a word of a setting, where `%` begins something.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%$".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

fn parse_unit(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.@:\\".contains(c);
    let is_unit = text.len() > ".service".len() && text.ends_with(".service") && text.chars().all(inner);
    accepted(text, is_unit, "it must be the name of a service, such as worker.service")
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate cron --target shop --every 15m > jobdoctor-sweep-shop")]
pub(super) struct CronArgs {
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

pub(super) fn crontab(args: &CronArgs, sweep: &Sweep, context: &Context) -> Result<String, CliError> {
    sweep.database(context)?;
    let words: Vec<String> =
        sweep.on_host(args.host.program()?)?.iter().map(|word| next_command::quoted(word)).collect();
    Ok(format!(
        include_str!("templates/crontab"),
        name = sweep.name,
        schedule = args.sweep.every.cron(),
        user = args.host.user()?,
        // A `%` ends the command.
        command = words.join(" ").replace('%', "\\%"),
    ))
}

fn parse_user(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(inner);
    accepted(text, is_name, "a user name is letters, digits, `_`, `-` and `.`, and begins with a letter or `_`")
}

fn parse_program(text: &str) -> Result<String, String> {
    let is_absolute = text.starts_with('/') && !text.ends_with('/');
    accepted(text, is_absolute, "it must be an absolute path, such as /usr/bin/jobdoctor")
}
