use crate::cli::args::{ListArgs, OlderArgs, TargetsArgs, TimeArg};
use crate::cli::database::ConfiguredAddress;
use crate::cli::environment::Environment;
use crate::cli::settings::Settings;
use crate::cli::targets::Several;
use crate::cli::{CliError, Context, Exit, watch};
use crate::model::parse_duration;
use crate::ops;
use crate::output::Status;
use crate::policy::{Next, Policy};
use crate::store::Store;
use std::time::Duration;

/// How long it may take, unless the operator says.
const READING: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor status --db queue.db
  jobdoctor status --all-targets                the situation of each target
  jobdoctor status --target shop --watch 5s
  jobdoctor status --target shop --exit-code    end with 1 if there is a cause")]
pub struct Args {
    #[command(flatten)]
    older: OlderArgs,
    /// Read the situation again and again, with this pause in between, and redraw the terminal
    /// [default without a value: 2s]
    #[arg(long, value_name = "INTERVAL", value_parser = parse_duration, num_args = 0..=1, default_missing_value = "2s")]
    #[arg(conflicts_with = "exit_code")]
    watch: Option<Duration>,
    /// End with 1 if there is a cause, or a side of the queue could not be read
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    #[command(flatten)]
    time: TimeArg,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("status", &mut self.list.store, &mut self.targets).single_only(
            "--watch",
            self.watch.is_some(),
            "it shows one queue",
        )
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let format = args.list.output.format();
    args.list.check(&Status::titles())?;
    let settings = Settings::resolve(&args.list.store, &context.environment)?;
    let policy = settings.policy(args.older.older);
    let store = context.store(&settings)?;
    let read = || situation(&settings, &*store, &policy, context);
    if let Some(interval) = args.watch {
        return watch::pages(context, format, interval, &read);
    }
    let document = read()?;
    document.head.warnings.iter().for_each(|warning| context.ui.warn(warning));
    context.ui.print(format, &document)?;
    if let Some(next) = document.summary.next.as_ref().filter(|_| !format.is_machine()) {
        context.ui.hint(&format!("next: {next}"));
    }
    Ok(if args.exit_code && document.has_cause() { Exit::Found } else { Exit::Done })
}

fn situation(settings: &Settings, store: &dyn Store, policy: &Policy, context: &Context) -> Result<Status, CliError> {
    let limits = settings.limits("status", READING, &context.interrupt, false);
    let session = settings.session(store, &limits);
    let mut snapshot = session.snapshot()?;
    context.report_queue(&snapshot);
    let (mut status, next) = ops::status(&mut snapshot, policy, context.environment.journals().as_ref())?;
    let unknown_zone = status.summary.counts.unknown_zone;
    let zone = context.zone_command(settings, "status", &status.head.target.preset, unknown_zone);
    let next = next.map(|next| match next {
        Next::Reclaim => ("reclaim", &[][..]),
        Next::ReclaimInterrupted => ("reclaim", &["--interrupted"][..]),
        Next::ListInterrupted => ("stale", &["--interrupted"][..]),
        Next::List => ("stale", &[][..]),
        Next::Count => ("stats", &[][..]),
    });
    status.summary.next = zone.or(next.map(|(next, words)| context.next_command(next, words)));
    Ok(status)
}

/// Whether a database is named for jobdoctor, or only for other programs too; `None` if none is named. A config file that
/// cannot be read may name one.
pub(super) fn names_database(args: &Args) -> Option<bool> {
    match Settings::resolve(&args.list.store, &Environment::read()) {
        Ok(settings) => {
            let origin = settings.address.as_ref()?.origin;
            Some([ConfiguredAddress::BY_FLAG, ConfiguredAddress::BY_TARGET, "JOBDOCTOR_DB"].contains(&origin))
        }
        Err(_) => Some(true),
    }
}
