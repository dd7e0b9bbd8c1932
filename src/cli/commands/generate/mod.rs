//! `jobdoctor generate`: prints the unit files that run a sweep of a target. It writes nothing.

mod kubernetes;
mod schedule;
mod systemd;

use crate::cli::args::{StoreArgs, ToneArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::secret::masked;
use crate::cli::settings::Settings;
use crate::store::Address;
use clap::builder::NonEmptyStringValueParser;
use nix::unistd::{User, geteuid};
use schedule::Every;
use std::path::{Path, PathBuf};

/// `jobdoctor generate`.
#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate kubernetes --target shop --image registry.internal/jobdoctor:1")]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Kind {
    /// Print a service and its timer, or with --restart a drop-in for the workers' own unit
    Systemd(systemd::Args),
    /// Print a file for /etc/cron.d
    Cron(schedule::CronArgs),
    /// Print a ConfigMap and a CronJob, or with --restart an init container for the workers' pods
    Kubernetes(kubernetes::Args),
}

/// Options of the sweep that every kind of unit has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What to run")]
struct SweepArgs {
    /// Sweep this target of the config file [env: JOBDOCTOR_TARGET] [default: default_target, or the only target]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,
    /// Run this often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = schedule::parse)]
    every: Every,
    /// Give the unit this name [default: jobdoctor-sweep, followed by the target's name]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
    /// Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then
    /// /etc/jobdoctor/config.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    tone: ToneArgs,
}

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

/// The sweep that a unit runs.
struct Sweep {
    /// The unit's name: lower-case letters, digits and dashes.
    name: String,
    target: String,
    /// `sweep` and the options that name the target, without `--config`.
    words: Vec<String>,
    settings: Settings,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let text = match &args.kind {
        Kind::Systemd(args) => systemd::text(args, &Sweep::resolve(&args.sweep, context)?, context)?,
        Kind::Cron(args) => schedule::crontab(args, &Sweep::resolve(&args.sweep, context)?, context)?,
        Kind::Kubernetes(args) => kubernetes::text(args, &Sweep::resolve(&args.sweep, context)?, context)?,
    };
    context.ui.report(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

impl Sweep {
    fn resolve(args: &SweepArgs, context: &Context) -> Result<Sweep, CliError> {
        let store = StoreArgs {
            target: args.target.iter().cloned().collect(),
            config: args.config.clone(),
            ..StoreArgs::default()
        };
        let settings = Settings::resolve(&store, &context.environment)?;
        let Some(target) = settings.target_name.clone() else {
            return Err(CliError::new(Exit::Usage, "no target is named, and units sweep a target of the config file")
                .hint("write [target.NAME] with db = \"...\" into the config file, and name it with --target NAME")
                .hint("`jobdoctor config path` prints where that file is"));
        };
        // Apart, a name that begins with a dash would be read as an option.
        let named = match target.starts_with('-') {
            true => vec![format!("--target={target}")],
            false => vec!["--target".to_owned(), target.clone()],
        };
        let words = [vec!["sweep".to_owned()], named].concat();
        Ok(Sweep { name: args.name.clone().unwrap_or_else(|| unit_name(&target)), target, words, settings })
    }

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
        let wrong = |what| CliError::new(Exit::Usage, format!("target `{}` {what}", self.target));
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

impl HostArgs {
    /// The user it runs as.
    fn user(&self) -> Result<String, CliError> {
        let own = || User::from_uid(geteuid()).ok().flatten().map(|user| user.name);
        let unnamed =
            || CliError::new(Exit::Usage, "the current user has no name on this host").hint("say --user NAME");
        self.user.clone().or_else(own).ok_or_else(unnamed)
    }

    fn program(&self) -> Result<String, CliError> {
        let own = || std::env::current_exe().ok()?.into_os_string().into_string().ok();
        let unknown = || CliError::new(Exit::Usage, "the path of this program is unknown").hint("say --program PATH");
        self.program.clone().or_else(own).ok_or_else(unknown)
    }
}

/// Refuses a character that ends a line, which not every format can quote, and what looks like a password.
fn must_be_printable(texts: &[String]) -> Result<(), CliError> {
    let ends_line = |c: char| c != '\t' && c.is_control() || "\u{2028}\u{2029}".contains(c);
    if let Some(text) = texts.iter().find(|text| text.contains(ends_line)) {
        let message = format!("a unit cannot hold a control character: \"{}\"", masked(text).escape_debug());
        return Err(CliError::new(Exit::Usage, message));
    }
    if texts.iter().any(|text| masked(text) != *text) {
        let error = CliError::new(Exit::Usage, "a unit must not hold what looks like a password");
        return Err(error.hint("keep it in `db` or password_file of the target, or in ~/.pgpass"));
    }
    Ok(())
}

/// Names a unit after its target.
fn unit_name(target: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let target: String = target.chars().map(plain).take(32).collect();
    format!("jobdoctor-sweep-{}", target.trim_matches('-')).trim_end_matches('-').to_owned()
}

/// Reads a name that systemd, cron and Kubernetes all accept.
fn parse_name(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = (1..=52).contains(&text.len()) && text.chars().all(inner) && text.trim_matches('-') == text;
    accepted(text, is_name, "a name is 1 to 52 lower-case letters, digits and dashes, with no dash at an end")
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

fn accepted(text: &str, is_valid: bool, error: &str) -> Result<String, String> {
    if is_valid { Ok(text.to_owned()) } else { Err(error.to_owned()) }
}
