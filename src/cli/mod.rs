//! The edge: arguments, config, environment, terminal, signals, exit codes. Nothing below knows of any of them.

mod args;
mod atomic_file;
mod boot_time;
mod clap_messages;
mod commands;
mod config;
mod context;
mod database;
mod environment;
mod error;
mod evidence_files;
mod exit;
mod generated;
mod help;
mod id_list;
mod input;
mod live_owner_list;
mod metrics;
mod next_command;
mod plan_file;
mod plugin;
mod previous_metrics;
mod progress;
mod report_file;
mod rules;
mod secret;
mod settings;
mod settings_view;
mod signal;
mod splay;
mod state_directory;
mod streams;
mod targets;
mod textfile;
mod thresholds;
mod ui;
mod watch;

pub use commands::{Cli, command};
pub use config::check as check_config;
pub use environment::VARIABLES;
pub use generated::{completions, man_pages, preset_pages};
pub use id_list::parse as parse_id_list;

use crate::policy::State;
use context::Context;
use error::CliError;
use exit::Exit;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Runs the program on these arguments and gives back its exit code.
///
/// A run that was ended by SIGINT or SIGTERM does not come back: after the batch in hand is finished or rolled back and
/// what was done is said, the process dies by that signal.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_plugin = plugin::is_asked(&arguments);
    let say_defect = if is_plugin { plugin::say_defect } else { ui::Ui::say_defect };
    // A panic is a defect; its report must still end in the code that says so, never in half a document, and show no secret.
    std::panic::set_hook(Box::new(move |info| say_defect(info.location().map(ToString::to_string).as_deref())));
    let exit = std::panic::catch_unwind(|| run(&arguments)).unwrap_or(Exit::Internal);
    let exit = if is_plugin { plugin::end(exit) } else { exit };
    if let Exit::Signal(signal) = exit {
        signal::die_of(signal);
    }
    ExitCode::from(exit.code())
}

fn run(arguments: &[OsString]) -> Exit {
    let cli = match Cli::parsed(arguments.iter().cloned()) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(arguments, &error),
    };
    let (tone, format) = cli.command.tone();
    let context = Context::new(&tone, format, command, arguments);
    let exit = match commands::run(&cli.command, &context) {
        Ok(exit) => exit,
        Err(error) => {
            let error = error.after(context.caught.signal());
            if plugin::is_asked(arguments) {
                return plugin::refuse(&error.message, context.ui.is_for_machines());
            }
            context.ui.error(&error);
            error.exit
        }
    };
    // The signal that was sent, whichever one the layers below took the interrupt for.
    match exit {
        Exit::Health(_) => exit,
        _ => context.caught.signal().map_or(exit, Exit::Signal),
    }
}

/// Help and version go to stdout; a mistake goes to stderr, as a document if a document was asked for.
fn not_parsed(arguments: &[OsString], error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // A closed pipe is no reason to fail.
        let _ = error.print();
        // To a monitoring system, no check is nothing that is known.
        return if plugin::is_asked(arguments) { Exit::Health(State::Unknown) } else { Exit::Done };
    }
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let asks = |window: &[String]| match window {
        [flag, format] => ["-o", "--output"].contains(&flag.as_str()) && format.starts_with("json"),
        _ => false,
    };
    let json = words.iter().any(|word| {
        word == "--json"
            || word.starts_with("--output=json")
            || word.starts_with("-ojson")
            || word.starts_with("-o=json")
    }) || words.windows(2).any(asks);
    // What was typed in the wrong place may be an address, and hold a password.
    let value = |word: &String| {
        word.split_once('=').filter(|_| word.starts_with("--")).map_or(word.clone(), |w| w.1.to_owned())
    };
    let is_plugin = plugin::is_asked(arguments);
    let hidden = |value: &String| secret::may_be_a_slip(value) && !(is_plugin && plugin::is_range(value));
    let values: Vec<String> = words.iter().map(value).collect();
    let typed: Vec<String> = words.iter().chain(&values).cloned().collect();
    let values: Vec<String> = values.into_iter().filter(hidden).collect();
    let hide = |text: String| values.iter().fold(text, |text, value| text.replace(value, "..."));
    let message = || {
        let text = hide(error.render().to_string());
        text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    if is_plugin {
        return plugin::refuse(&message(), json);
    }
    if json {
        ui::Ui::for_machines().error(&CliError::new(Exit::Usage, message()).hint("see --help"));
    } else {
        let _ =
            write!(anstream::stderr(), "{}", clap_messages::harmless(&hide(error.render().ansi().to_string()), &typed));
    }
    Exit::Usage
}
