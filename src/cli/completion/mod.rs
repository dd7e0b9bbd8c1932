//! Completions that know the values: the shell's script calls the program, which reads the config file, the journals or
//! the queue.

mod bash;
mod values;

use super::args::ToneArgs;
use super::commands::command;
use super::environment::Environment;
use super::error::CliError;
use super::exit::Exit;
use super::ui::Ui;
use crate::output::format::Format;
use bash::Bash;
use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use std::ffi::OsString;
use std::path::Path;
use values::with_values;

/// The variable that names the shell. Not the usual `COMPLETE`: whatever holds that would end every run from cron.
const VARIABLE: &str = "JOBDOCTOR_COMPLETE";
const NAME: &str = "jobdoctor";

/// Answers a shell that asks what a word can be completed to, or for its script; `None` if this is an ordinary run.
pub(super) fn answer(arguments: &[OsString]) -> Option<Exit> {
    let environment = Environment::read();
    let shell = environment.get(VARIABLE).filter(|shell| *shell != "0")?.to_owned();
    // A defect must not draw over the line that is being typed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut words: Vec<OsString> = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    if Path::new(&shell).file_stem().is_some_and(|name| name == "bash") {
        words = bash::words(&words).unwrap_or_default();
    }
    let factory = || with_values(command(), &words, &environment);
    let shells: [&dyn EnvCompleter; 5] = [&Bash, &Elvish, &Fish, &Powershell, &Zsh];
    let completed = CompleteEnv::with_factory(factory)
        .var(VARIABLE)
        .shells(Shells(&shells))
        .bin(NAME)
        .try_complete(arguments.iter().cloned(), std::env::current_dir().ok().as_deref());
    match completed {
        Ok(_) => Some(Exit::Done),
        Err(error) => {
            let why = error.to_string();
            let error = CliError::new(Exit::Usage, format!("{VARIABLE}: {}", why.trim_start_matches("error: ").trim()));
            Ui::new(&ToneArgs::default(), Format::Table, &environment).error(&error);
            Some(error.exit)
        }
    }
}

/// The completion script of a shell, for a program in the `PATH`.
pub(super) fn script(shell: Shell) -> Vec<u8> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::PowerShell => &Powershell,
        _ => &Zsh,
    };
    let mut script = Vec::new();
    // Writing to memory does not fail.
    let _ = completer.write_registration(VARIABLE, NAME, NAME, NAME, &mut script);
    if shell == Shell::Zsh {
        // In a directory of `fpath` the file is the body of the function, which must complete at its first call too.
        script.extend_from_slice(
            b"\nif [[ \"${funcstack[1]-}\" == _jobdoctor ]]; then\n    _clap_dynamic_completer_jobdoctor \"$@\"\nfi\n",
        );
    }
    script
}
