//! What to type instead of the words of other tools, such as `jobdoctor ls` or `--yes`.

use clap::error::{ContextKind, ContextValue};

/// Words that are no commands, and the command to type instead with what it does.
const COMMANDS: [(&[&str], &str); 10] = [
    (&["list", "ls", "jobs", "get", "stuck"], "`jobdoctor stale` lists stuck jobs"),
    (&["top", "watch"], "`jobdoctor stale --watch 2s` redraws the list of stuck jobs every 2 seconds"),
    (&["ps", "workers", "processes"], "`jobdoctor owners` lists workers with their claims"),
    (&["describe", "explain", "inspect", "why"], "`jobdoctor show ID` explains a job"),
    (
        &["retry", "requeue", "rescue", "release", "fix"],
        "`jobdoctor reclaim` plans what to do to stuck jobs; --apply does it",
    ),
    (&["doctor", "diagnose", "validate"], "`jobdoctor check` says whether jobdoctor can do its work here"),
    (&["status", "count", "queues"], "`jobdoctor stats` counts jobs by queue and state"),
    (&["log", "logs", "runs"], "`jobdoctor history` lists past runs"),
    (&["revert", "rollback"], "`jobdoctor undo RUN` reverts a run"),
    (&["version"], "`jobdoctor --version` prints the version"),
];

/// Options that no command has, and what to type instead.
const OPTIONS: [(&[&str], &str); 4] = [
    (&["--yes", "-y", "--force", "-f", "--no-dry-run"], "--apply carries out a plan; nothing asks for confirmation"),
    (
        &["--since", "--min-age", "--age"],
        "`jobdoctor stale --older 5m` selects by silence; `jobdoctor history` lists past runs",
    ),
    (
        &["-w", "--follow"],
        "`jobdoctor stale --watch 2s` redraws the list, `jobdoctor stale --wait 10m` waits until it is empty",
    ),
    (&["-t", "--context", "--profile"], "--target NAME uses a target of the config file"),
];

/// What to type instead of the word that clap refused, if it is one of another tool's.
pub(super) fn instead_of(error: &clap::Error) -> Option<&'static str> {
    let find = |kind, table: &[(&[&str], &'static str)]| match error.get(kind)? {
        ContextValue::String(word) => {
            table.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, tip)| *tip)
        }
        _ => None,
    };
    find(ContextKind::InvalidSubcommand, &COMMANDS).or_else(|| find(ContextKind::InvalidArg, &OPTIONS))
}

/// The error with that tip in place of the words that clap finds similar.
pub(super) fn with_tip(mut error: clap::Error, tip: &'static str) -> clap::Error {
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedCommand, ContextKind::SuggestedArg] {
        error.remove(kind);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mutant is an answer that names no command: each command between backquotes must be accepted.
    #[test]
    fn every_answer_is_a_command_line() {
        let program = crate::cli::command();
        for (words, tip) in COMMANDS.iter().chain(&OPTIONS) {
            assert!(words.iter().all(|word| program.find_subcommand(word).is_none()), "{words:?}");
            for line in tip.split('`').skip(1).step_by(2) {
                let parsed = program.clone().try_get_matches_from(line.split(' '));
                assert!(parsed.as_ref().err().is_none_or(|error| !error.use_stderr()), "{line}: {parsed:?}");
            }
        }
    }
}
