//! Units of a host like this one: for systemd and cron.

use super::{Sweep, SweepArgs, accepted, require_printable};
use crate::cli::atomic_file::{AtomicFile, FileKind};
use crate::cli::next_command;
use crate::cli::{CliError, Context, Exit, OrEnd};
use crate::output::{FileMode, directory_of};
use crate::store::Address;
use anyhow::Context as _;
use nix::unistd::{User, geteuid};
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

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
        require_printable(&words)?;
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
  jobdoctor generate systemd --target shop --output-dir /etc/systemd/system
  jobdoctor generate systemd --target shop --restart --worker shop-worker.service")]
pub(super) struct SystemdArgs {
    /// Print a drop-in for the workers' unit that sweeps what they left behind on this host, before they start
    #[arg(long, conflicts_with_all = ["every", "user"])]
    restart: bool,
    /// Print the drop-in for this unit
    #[arg(long, value_name = "UNIT", default_value = "worker.service", requires = "restart", value_parser = parse_unit)]
    worker: String,
    /// Write the files into this directory, such as /etc/systemd/system, in place of printing them; other files of the
    /// same names stay, and are an error
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output_dir: Option<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

/// Files that jobdoctor wrote begin with their path.
static UNIT: FileKind = FileKind {
    flag: "--output-dir",
    name: "unit",
    holds: "units",
    mode: FileMode::UpTo(0o644),
    recognize: |text| text.starts_with("# /etc/systemd/system/"),
};

/// Prints the service and the timer, or the drop-in, each under a comment with its path; or writes them.
pub(super) fn systemd(args: &SystemdArgs, sweep: &Sweep, context: &Context) -> Result<(), CliError> {
    let units = units(args, sweep, context)?;
    let Some(directory) = &args.output_dir else {
        let texts: Vec<String> = units.into_iter().map(|(_, text)| text).collect();
        return context.ui.report(|out| out.write_all(texts.join("\n").as_bytes()));
    };
    let mut files = Vec::new();
    for (name, text) in units {
        let path = directory.join(name);
        if args.restart {
            // The unit's own; a mistyped directory is not made.
            let made = fs::create_dir(directory_of(&path));
            if made.as_ref().err().map(Error::kind) != Some(ErrorKind::AlreadyExists) {
                made.with_context(|| format!("create {}", directory_of(&path).display())).or_end(Exit::Config)?;
            }
        }
        files.push((AtomicFile::at(&path, &UNIT)?, path, text));
    }
    for (file, path, text) in files {
        file.write(|out| out.write_all(text.as_bytes()))?;
        context.ui.note(&format!("wrote {}", path.display()));
    }
    let start = if args.restart { String::new() } else { format!(" && systemctl enable --now {}.timer", sweep.name) };
    context.ui.note(&format!("then: systemctl daemon-reload{start}"));
    Ok(())
}

/// The names and texts of the files.
fn units(args: &SystemdArgs, sweep: &Sweep, context: &Context) -> Result<Vec<(String, String)>, CliError> {
    let address = sweep.database(context)?;
    let words = sweep.on_host(args.host.program()?)?;
    // A `$` begins a variable, but in no other setting.
    let command = words.iter().map(|word| quoted(&word.replace('$', "$$"))).collect::<Vec<_>>().join(" ");
    let name = &sweep.name;
    if args.restart {
        let text =
            format!(include_str!("templates/restart.conf"), worker = args.worker, name = name, command = command);
        return Ok(vec![(format!("{}.d/jobdoctor.conf", args.worker), text)]);
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
    Ok(vec![(format!("{name}.service"), service), (format!("{name}.timer"), timer)])
}

/// The line that makes the directory of a SQLite file writable, where its journal and its log are too.
fn database_directory(address: &Address) -> Result<String, CliError> {
    let Address::Sqlite { path, .. } = address else { return Ok(String::new()) };
    let directory = path.parent().unwrap_or(Path::new("/")).display().to_string();
    let line = format!("ReadWritePaths={}\n", quoted(&directory));
    require_printable(&[directory])?;
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
