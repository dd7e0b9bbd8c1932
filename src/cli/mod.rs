//! The edge: arguments, config, environment, terminal, signals, exit codes. No other layer knows of them.

mod args;
mod atomic_file;
mod best_effort;
mod commands;
mod completion;
mod config;
mod context;
mod database;
mod environment;
mod error;
mod evidence_files;
mod exit;
mod generated;
mod help;
mod input;
mod keys;
mod leading_options;
mod monitor;
mod next_command;
mod progress;
mod secret;
mod setting;
mod settings;
mod signal;
mod streams;
mod targets;
mod tips;
mod ui;
mod usage_error;
mod watch;

pub use commands::{Cli, command};
pub use completion::script as completions;
pub use config::check as check_config;
pub use environment::VARIABLES;
pub use generated::{man_pages, preset_pages};
pub use input::parse_ids as parse_id_list;

use args::ToneArgs;
use commands::{Named, names_database, plain_command};
use context::Context;
use error::{CliError, OrEnd};
use exit::Exit;
use leading_options::{behind_command, has_options_alone};
use monitor::plugin;
use secret::masked;
use settings::{READING, Settings};
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

/// Runs the program with these arguments and returns its exit code.
///
/// A run that was ended by SIGINT or SIGTERM does not come back: after the batch in hand is finished or rolled back and
/// the report is printed, the process dies by that signal.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(exit) = completion::answer(command, &arguments) {
        return ExitCode::from(exit.code());
    }
    let mut program = plain_command();
    let mut arguments = behind_command(&program, arguments);
    let alone = has_options_alone(&arguments).then(|| names_database(&mut program, &arguments)).flatten();
    let is_named_elsewhere = matches!(alone, Some(Named::Elsewhere));
    if let Some(Named::Here(status)) = alone {
        arguments = status;
    }
    let is_plugin = plugin::is_requested(&program, &arguments);
    let report_defect = if is_plugin { plugin::report_defect } else { ui::Ui::report_defect };
    // A panic is a defect: the program must end with its exit code, print no half document, and show no secret.
    std::panic::set_hook(Box::new(move |info| report_defect(info.location().map(ToString::to_string).as_deref())));
    let exit =
        std::panic::catch_unwind(AssertUnwindSafe(|| run(program, &arguments, is_plugin))).unwrap_or(Exit::Internal);
    if is_named_elsewhere {
        usage_error::name_status(&arguments);
    }
    let exit = if is_plugin { plugin::end(exit) } else { exit };
    if let Exit::Signal(signal) = exit {
        signal::die_of(signal);
    }
    ExitCode::from(exit.code())
}

fn run(mut program: clap::Command, arguments: &[OsString], is_plugin: bool) -> Exit {
    let cli = match Cli::parsed(&mut program, arguments) {
        Ok(cli) => cli,
        Err(error) => return usage_error::report(arguments, is_plugin, error),
    };
    // The status line of a plugin must be the first line of both streams.
    let tone = ToneArgs { quiet: cli.tone.quiet || is_plugin, ..cli.tone };
    let context = Context::new(&tone, cli.format, program, arguments);
    let run = || match commands::run(&cli.command, &context) {
        Ok(exit) => exit,
        Err(error) => {
            let error = error.after(context.caught.signal());
            if is_plugin {
                return plugin::refuse(&error.message, None, context.ui.is_for_machines());
            }
            context.ui.error(&error);
            error.exit
        }
    };
    let exit = match cli.command.best_effort() {
        Some(longest) => best_effort::run(longest, &context, run),
        None => run(),
    };
    // The caught signal decides: the lower layers know only that the run was interrupted.
    match exit {
        Exit::Health(_) => exit,
        _ => context.caught.signal().map_or(exit, Exit::Signal),
    }
}
