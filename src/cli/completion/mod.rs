//! Completions that know the values: the shell's script asks the program, which reads config file, journals or queue.

mod values;

use super::args::ToneArgs;
use super::environment::Environment;
use super::ui::Ui;
use crate::cli::next_command::quoted;
use crate::cli::{CliError, Exit};
use crate::output::format::Format;
use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::complete;
use clap_complete::env::{CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use std::ffi::OsString;
use std::io::{Error, Write};
use std::path::Path;
use values::with_values;

/// The variable that names the shell. Not the usual `COMPLETE`: whatever holds that would end every run from cron.
const VARIABLE: &str = "JOBDOCTOR_COMPLETE";
const NAME: &str = "jobdoctor";

/// Answers a shell that asks what a word can be completed to, or for its script; `None` if this is an ordinary run.
pub(super) fn answer(command: fn() -> Command, arguments: &[OsString]) -> Option<Exit> {
    let environment = Environment::read();
    let shell = environment.get(VARIABLE).filter(|shell| *shell != "0")?.to_owned();
    // A defect must not draw over the line that is being typed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut words: Vec<OsString> = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    if Path::new(&shell).file_stem().is_some_and(|name| name == "bash") {
        words = bash_words(&words).unwrap_or_default();
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
            let error = CliError::usage(format!("{VARIABLE}: {}", why.trim_start_matches("error: ").trim()));
            Ui::new(&ToneArgs::default(), Format::Table, &environment).error(&error);
            Some(error.exit)
        }
    }
}

/// The completion script of a shell, for a program in the `PATH`. It asks the program for the values.
pub fn script(shell: Shell) -> Vec<u8> {
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

/// Gets the line up to the cursor and the word that bash will replace, and prints a word a line.
const SCRIPT: &str = r#"_jobdoctor() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(VAR=bash COMPLETER -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    case "${COMPREPLY-}" in
        *[=/:]) compopt -o nospace 2>/dev/null ;;
    esac
}
complete -o nosort -o bashdefault -F _jobdoctor BIN 2>/dev/null || complete -o bashdefault -F _jobdoctor BIN
"#;

/// The adapter for bash 3.2 and later.
struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> Result<(), Error> {
        let script = SCRIPT.replace("VAR", var).replace("COMPLETER", &quoted(completer)).replace("BIN", bin);
        buf.write_all(script.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        arguments: Vec<OsString>,
        directory: Option<&Path>,
        buf: &mut dyn Write,
    ) -> Result<(), Error> {
        let Some(words) = bash_words(&arguments) else { return Ok(()) };
        let typed = words.last().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let replaced = arguments.get(1).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let kept = typed.strip_suffix(&replaced).unwrap_or_default();
        let index = words.len().saturating_sub(1);
        for candidate in complete(command, words, index, directory)? {
            let value = candidate.get_value().to_string_lossy();
            let word = quoted(&value);
            match value.strip_prefix(kept) {
                Some(_) if kept.is_empty() => writeln!(buf, "{word}")?,
                // A quote cannot be opened in the middle of what is typed.
                Some(rest) if word == value => writeln!(buf, "{rest}")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The words of the line that the script hands over, the unfinished one last; `None` inside of a quote.
fn bash_words(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let line = arguments.first()?.to_str()?;
    let mut words = shlex::split(line)?;
    if line.ends_with(char::is_whitespace) {
        words.push(String::new());
    }
    Some(words.into_iter().map(OsString::from).collect())
}
