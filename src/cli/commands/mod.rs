//! One file a command: its arguments with their help, one call into `ops`, one document of `output`.

mod adopt;
mod check;
mod config;
mod demo;
mod env;
mod generate;
mod health;
mod history;
mod init;
mod owners;
mod pass;
mod presets;
mod printed;
mod reclaim;
mod recorded;
mod show;
mod stale;
mod stats;
mod status;
mod sweep;
mod undo;

use super::args::ToneArgs;
use super::help::{Form, dressed};
use super::leading_options::{deepest, with_shared_options};
use super::targets::Several;
use crate::cli::{CliError, Context, Exit};
use crate::output::format::Format;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
pub(super) use recorded::is_of;
use std::ffi::OsString;
use std::time::Duration;

/// Finds jobs that a database says are running although the worker behind them is dead, shows why, and puts them back
/// without hurting one that is alive.
///
/// Nothing is written without --apply. A claim with a running lease or a fresh heartbeat is never touched, unless the
/// operator of `sweep --restart` declares its worker dead.
#[derive(Debug, Parser)]
#[command(name = "jobdoctor", version, about, after_help = AFTER_HELP, max_term_width = 100)]
#[command(infer_subcommands = false, propagate_version = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[arg(skip)]
    pub tone: ToneArgs,
    #[arg(skip = Format::Table)]
    pub format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  jobdoctor demo                              make a small incident to practise on
  jobdoctor status --db queue.db              the situation, on one screen
  jobdoctor stale --db queue.db --older 5m    list stuck jobs, their owners and their silence
  jobdoctor show 42 --db queue.db             explain one job
  jobdoctor reclaim --db queue.db             print the plan: writes nothing
  jobdoctor reclaim --db queue.db --apply     apply it
  jobdoctor sweep --restart --host \"$(hostname)\" --apply

Exit codes:
  0 done                        66 no such file or job
  1 found (--exit-code)         69 database unreachable
  2 usage                       70 internal error
  3 some jobs as they were      75 busy, try again
  4 refused by a guard          77 no permission
  5 outcome unknown             78 configuration or schema
  130, 143 ended by SIGINT, SIGTERM";

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Draft the mapping of a home-made table from its rows
    ///
    /// Reads the catalog and bounded samples, and says of each key whether the data shows it, it is likely by name and
    /// type, or it had to be asked. Never guesses which rows are in flight, what shows life, a zone, or what a missing
    /// owner means: with such a question open it ends with 78 and prints the command line that settles it. Then shows
    /// what is stuck through the draft.
    Adopt(adopt::Args),
    /// Check whether jobdoctor can do its work here: preset, rights, indexes, encodings
    Check(check::Args),
    /// Print a shell's completion script
    Completions(printed::CompletionsArgs),
    /// Print where the config file is, or check it
    Config(config::Args),
    /// Create a demonstration database with stuck jobs and walk through it
    Demo(demo::Args),
    /// Show every setting in force and where it came from
    Env(env::Args),
    /// Print units that run a sweep: for systemd, cron or Kubernetes
    ///
    /// The units sweep a target of the config file, which holds every other setting.
    Generate(generate::Args),
    /// Monitoring plugin (Nagios, Icinga): thresholds, performance data, exit codes 0 to 3
    ///
    /// Prints one line with performance data, then details, and ends with 0 (ok), 1 (warning), 2 (critical) or 3
    /// (unknown). A usage error is 3, and so is --help. Claims that cannot be judged are a warning unless a range says
    /// otherwise. Counts every claim in flight and writes nothing.
    ///
    /// Not for liveness probes of workers: restarting live workers because a queue has orphans makes more of them.
    Health(health::Args),
    /// Print a topic, or the help of a command
    Help(printed::HelpArgs),
    /// List past runs, or show one
    History(history::Args),
    /// Create the reference schema or the ledger
    Init(init::Args),
    /// Print a manual page
    Man(printed::ManArgs),
    /// List owners with their claims, dead ones first
    Owners(owners::Args),
    /// List the known queues, or explain one
    Presets(presets::Args),
    /// Requeue or fail stuck jobs; plans only, unless --apply
    Reclaim(reclaim::Args),
    /// Print the JSON Schema of a document
    Schema(printed::SchemaArgs),
    /// Explain jobs: each rule, the value it read, and what reclaim would do
    Show(show::Args),
    /// List stuck claims, longest silent first
    Stale(stale::Args),
    /// Count jobs by queue and state, or show run times
    Stats(stats::Args),
    /// Show the situation on one screen: what is stuck, what is due, by cause
    ///
    /// The command that `jobdoctor` alone runs where --db, JOBDOCTOR_DB or a target names a database. Reads for 5s at
    /// most and writes nothing.
    Status(status::Args),
    /// Reclaim for automation: from cron, or with --restart before workers start
    Sweep(sweep::Args),
    /// Revert a run; plans only, unless --apply. Jobs changed since are skipped
    Undo(undo::Args),
}

impl Cli {
    /// Reads a command line, the program's name first; help and version are errors. `program` is the whole command line.
    pub fn parsed(program: &mut clap::Command, words: &[OsString]) -> Result<Cli, clap::Error> {
        // Most command lines print no help.
        Cli::of(program, words).or_else(|_| {
            let form = if words.iter().any(|word| word == "-h") { Form::Short } else { Form::Long };
            // Commit and target are for `--version` alone: manual pages are the same from every build.
            Cli::of(&mut dressed(plain_command(), form).long_version(env!("JOBDOCTOR_VERSION")), words)
        })
    }

    fn of(program: &mut clap::Command, words: &[OsString]) -> Result<Cli, clap::Error> {
        let matches = program.try_get_matches_from_mut(words)?;
        let (tone, format) = ToneArgs::of(deepest(&matches));
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(program))?;
        Ok(Cli { tone, format, ..cli })
    }
}

/// The command line with the examples first in its help, as people and completions see it.
pub fn command() -> clap::Command {
    dressed(plain_command(), Form::Long)
}

/// The command line with the examples last in its help, for manual pages.
pub fn plain_command() -> clap::Command {
    with_shared_options(Cli::command())
}

/// What names the database of a command line without a command, if anything does.
pub fn names_database(program: &mut clap::Command, words: &[OsString]) -> Option<Named> {
    let status: Vec<OsString> = [&words[..1], &["status".into()], words.get(1..)?].concat();
    let Ok(Cli { command: Command::Status(args), .. }) = Cli::of(program, &status) else { return None };
    status::names_database(&args).map(|is_meant| if is_meant { Named::Here(status) } else { Named::Elsewhere })
}

/// What a command line without a command is about.
pub enum Named {
    /// A database that was named for jobdoctor: the command line of its situation.
    Here(Vec<OsString>),
    /// One that is named for other programs too.
    Elsewhere,
}

/// Runs a command, on each of its targets if it names several.
pub fn run(command: &Command, context: &Context) -> Result<Exit, CliError> {
    let mut probe = command.clone();
    let Some(several) = probe.several().filter(Several::are_requested) else { return command.run_alone(context) };
    several.run(context, &|target, context| {
        let mut command = command.clone();
        if let Some(several) = command.several() {
            context.words = several.narrow(target, &context.words);
        }
        command.run_alone(context)
    })
}

impl Command {
    /// Its options about targets; `None` for a command that takes only one target.
    pub fn several(&mut self) -> Option<Several<'_>> {
        match self {
            Command::Health(args) => Some(args.several()),
            Command::Owners(args) => Some(args.several()),
            Command::Stale(args) => Some(args.several()),
            Command::Stats(args) => Some(args.several()),
            Command::Status(args) => Some(args.several()),
            Command::Sweep(args) => Some(args.several()),
            _ => None,
        }
    }

    /// How long it takes at most, where it ends with 0 whatever becomes of it.
    pub fn best_effort(&self) -> Option<Duration> {
        match self {
            Command::Sweep(args) => args.best_effort(),
            _ => None,
        }
    }

    /// Runs it on the one target that it names.
    pub fn run_alone(&self, context: &Context) -> Result<Exit, CliError> {
        let ended = match self {
            Command::Adopt(args) => adopt::run(args, context),
            Command::Check(args) => check::run(args, context),
            Command::Completions(args) => printed::print_completions(args, context),
            Command::Config(args) => config::run(args, context),
            Command::Demo(args) => demo::run(args, context),
            Command::Env(args) => env::run(args, context),
            Command::Generate(args) => generate::run(args, context),
            Command::Health(args) => health::run(args, context),
            Command::Help(args) => printed::print_help(args, context),
            Command::History(args) => history::run(args, context),
            Command::Init(args) => init::run(args, context),
            Command::Man(args) => printed::print_man_page(args, context),
            Command::Owners(args) => owners::run(args, context),
            Command::Presets(args) => presets::run(args, context),
            Command::Reclaim(args) => reclaim::run(args, context),
            Command::Schema(args) => printed::print_schema(args, context),
            Command::Show(args) => show::run(args, context),
            Command::Stale(args) => stale::run(args, context),
            Command::Stats(args) => stats::run(args, context),
            Command::Status(args) => status::run(args, context),
            Command::Sweep(args) => sweep::run(args, context),
            Command::Undo(args) => undo::run(args, context),
        };
        ended.map_err(|error| error.on(context))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_sound() {
        super::command().debug_assert();
    }
}
