//! Bash: it breaks words at `:` and `=`, which owners hold, and inserts what it is given as it stands.

use crate::cli::next_command::quoted;
use clap_complete::engine::complete;
use clap_complete::env::EnvCompleter;
use std::ffi::OsString;
use std::io::{Error, Write};
use std::path::Path;

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
complete -o bashdefault -F _jobdoctor BIN
"#;

/// The adapter for bash 3.2 and later.
pub(super) struct Bash;

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
        let Some(words) = words(&arguments) else { return Ok(()) };
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
pub(super) fn words(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let line = arguments.first()?.to_str()?;
    let mut words = shlex::split(line)?;
    if line.ends_with(char::is_whitespace) {
        words.push(String::new());
    }
    Some(words.into_iter().map(OsString::from).collect())
}
