use super::selection::claims;
use crate::cli::args::{AlertArgs, ClaimArgs, OlderArgs, StoreArgs, TargetsArgs, text_or_json};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::monitor::plugin;
use crate::cli::settings::{READING, Settings};
use crate::cli::targets::Several;
use crate::ops;
use crate::output::Health;
use crate::output::format::Format;
use crate::policy::State;
use crate::store::Address;
use clap::ValueEnum;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// `jobdoctor health`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor health --db queue.db                                    any stuck claim is a warning
  jobdoctor health --db queue.db -w 5 -c 50                         more than 5, more than 50
  jobdoctor health --target shop -w stuck=5,silence=10m -c share=20
  jobdoctor health --target shop --queue mail -c '~:0' -o json
  jobdoctor health --all-targets                                    one line about all, then each")]
pub struct Args {
    #[command(flatten)]
    alerts: AlertArgs,
    /// The state if the database cannot be reached or does not answer in time
    #[arg(long, value_name = "STATE", value_enum, default_value = "critical", help_heading = "When to raise an alert")]
    unreachable: Unreachable,
    #[command(flatten)]
    older: OlderArgs,
    #[command(flatten)]
    claims: ClaimArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    targets: TargetsArgs,
    /// Format of the report
    #[arg(short, long, value_name = "FORMAT", default_value = "plugin", hide_default_value = true)]
    #[arg(value_parser = text_or_json("plugin", "A status line with performance data, then more lines"))]
    #[arg(help_heading = "Output")]
    output: Format,
    /// Short for --output json
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    json: bool,
}

/// The state of a database out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unreachable {
    /// No worker can claim a job while it is away
    Critical,
    /// Another check watches the database
    Unknown,
}

impl Args {
    pub(super) fn several(&mut self) -> Several<'_> {
        Several::of("health", &mut self.store, &mut self.targets)
    }

    /// The state of a queue that could not be read.
    fn state_of(&self, error: &CliError, context: &Context) -> State {
        match (error.exit, self.unreachable) {
            (Exit::NoInput, _) if self.names_something_else(context) => State::Unknown,
            (Exit::Unavailable | Exit::NoInput | Exit::TryAgain, Unreachable::Critical) => State::Critical,
            _ => State::Unknown,
        }
    }

    /// True if the database's name is that of a file that never was a database: then no database went away.
    fn names_something_else(&self, context: &Context) -> bool {
        let database = Settings::resolve(&self.store, &context.environment).and_then(|settings| settings.database());
        match database.ok().and_then(|database| database.address) {
            Some(Address::Sqlite { path, .. }) => path.exists() && !begins_like_a_database(&path),
            Some(Address::Postgres(_)) | None => false,
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let (state, document) = match snapshot(args, context) {
        Ok(found) => found,
        Err(error) => {
            let state = args.state_of(&error, context);
            (state, plugin::unreadable(state, &error))
        }
    };
    context.ui.report(|out| plugin::print(&document, state, context.ui.is_for_machines(), out))?;
    Ok(Exit::Health(state))
}

/// True for the beginning of a SQLite file, even of a damaged or empty one.
fn begins_like_a_database(path: &Path) -> bool {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut beginning = Vec::new();
    let is_read = path.is_file()
        && File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut beginning)).is_ok();
    is_read && MAGIC.starts_with(&beginning)
}

fn snapshot(args: &Args, context: &Context) -> Result<(State, Health), CliError> {
    let alerts = args.alerts.alerts().map_err(|why| CliError::new(Exit::Usage, why))?;
    let selection = claims(&args.claims)?;
    let settings = Settings::resolve(&args.store, &context.environment)?;
    // The status line must be the first line of both streams, so nothing is said about the setup.
    let store = settings.database()?.store()?;
    let limits = settings.limits("health", READING, &context.interrupt, false);
    let mut snapshot = settings.session(store.as_ref(), &limits).snapshot()?;
    Ok(ops::health(&mut snapshot, &selection, &settings.policy(args.older.older), &alerts)?)
}
