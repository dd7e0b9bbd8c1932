//! `jobdoctor generate`: what runs a sweep, from the settings in force here. It prints, and writes nothing.

mod cron;
mod every;
mod host;
mod kubernetes;
mod line;
mod quote;
mod systemd;

use crate::cli::args::{OlderArgs, StoreArgs, ToneArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::settings::Settings;
use every::Every;
use line::Line;

/// `jobdoctor generate`.
///
/// The sweep goes to the database that the same options and environment name here, or to the target of the config file. A password
/// is never printed: where the address holds one, the unit reads it from a file or a secret, and the comments say how to
/// make it.
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
    /// A service and its timer, or with --restart a drop-in for the workers' own unit
    Systemd(systemd::Args),
    /// A file for /etc/cron.d
    Cron(cron::Args),
    /// A CronJob, or with --restart an init container for the workers' pods
    Kubernetes(kubernetes::Args),
}

/// What is run.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What to run")]
struct SweepArgs {
    /// How often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = every::parse)]
    every: Every,
    /// What it is called [default: jobdoctor-sweep, and the target's name behind it]
    #[arg(long, value_name = "NAME", value_parser = line::parse_name)]
    name: Option<String>,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    tone: ToneArgs,
}

impl Args {
    /// How loud.
    pub(super) fn tone(&self) -> &ToneArgs {
        match &self.kind {
            Kind::Systemd(args) => &args.sweep.tone,
            Kind::Cron(args) => &args.sweep.tone,
            Kind::Kubernetes(args) => &args.sweep.tone,
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let text = match &args.kind {
        Kind::Systemd(args) => systemd::text(args, &line(&args.sweep, &args.host.program, args.restart, context)?)?,
        Kind::Cron(args) => cron::text(args, &line(&args.sweep, &args.host.program, false, context)?)?,
        Kind::Kubernetes(args) => {
            let program = Some(args.program.clone());
            kubernetes::text(args, &line(&args.sweep, &program, args.restart, context)?)?
        }
    };
    context.ui.report(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

fn line(args: &SweepArgs, program: &Option<String>, restart: bool, context: &Context) -> Result<Line, CliError> {
    let settings = Settings::resolve(&args.store, &context.environment)?;
    Line::of(&settings, args, program.as_deref(), restart)
}
