//! `jobdoctor generate`: prints the unit files that run a sweep with the settings in force here. It writes nothing.

mod cron;
mod kubernetes;
mod schedule;
mod sweep_command;
mod systemd;
mod template;

use crate::cli::args::{OlderArgs, StoreArgs, ToneArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use nix::unistd::{User, geteuid};
use schedule::Every;
use sweep_command::SweepCommand;

/// `jobdoctor generate`.
///
/// The sweep uses the database that the same options, environment and config file name here. A password is never
/// printed: the unit reads it from a file or a Secret, and its comments say how to make that.
#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate cron --target shop --user ops
  jobdoctor generate kubernetes --db postgres://ops@db/app --image registry.internal/jobdoctor:1")]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Kind {
    /// Print a service and its timer, or with --restart a drop-in for the workers' own unit
    Systemd(systemd::Args),
    /// Print a file for /etc/cron.d
    Cron(cron::Args),
    /// Print a CronJob, or with --restart an init container for the workers' pods
    Kubernetes(kubernetes::Args),
}

/// Options of the sweep that every kind of unit has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What to run")]
struct SweepArgs {
    /// Run this often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = schedule::parse)]
    every: Every,
    /// Give the unit this name [default: jobdoctor-sweep, followed by the target's name]
    #[arg(long, value_name = "NAME", value_parser = sweep_command::parse_name)]
    name: Option<String>,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    store: StoreArgs,
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

impl Args {
    /// The options that every kind has.
    fn sweep(&self) -> &SweepArgs {
        match &self.kind {
            Kind::Systemd(args) => &args.sweep,
            Kind::Cron(args) => &args.sweep,
            Kind::Kubernetes(args) => &args.sweep,
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let (program, in_pod) = match &args.kind {
        Kind::Systemd(args) => (args.host.program()?, false),
        Kind::Cron(args) => (args.host.program()?, false),
        Kind::Kubernetes(args) => (args.program.clone(), true),
    };
    let settings = Settings::resolve(&args.sweep().store, &context.environment)?;
    let sweep = SweepCommand::of(&settings, args.sweep(), program, in_pod)?;
    let text = match &args.kind {
        Kind::Systemd(args) => systemd::text(args, &sweep),
        Kind::Cron(args) => cron::text(args, &sweep),
        Kind::Kubernetes(args) => kubernetes::text(args, &sweep),
    }?;
    context.ui.report(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
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

fn parse_user(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(inner);
    is_name
        .then(|| text.to_owned())
        .ok_or_else(|| "a user name is letters, digits, `_`, `-` and `.`, and begins with a letter or `_`".to_owned())
}

fn parse_program(text: &str) -> Result<String, String> {
    let is_absolute = text.starts_with('/') && !text.ends_with('/');
    is_absolute
        .then(|| text.to_owned())
        .ok_or_else(|| "it must be an absolute path, such as /usr/bin/jobdoctor".to_owned())
}
