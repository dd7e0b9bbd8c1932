//! The end of a command line that clap refuses, or answers with help: what is printed, with secrets hidden and text
//! made inert.

use super::args::ToneArgs;
use super::environment::Environment;
use super::monitor::plugin;
use super::next_command::shell_word;
use super::secret::may_be_misplaced_password;
use super::ui::Ui;
use super::{CliError, Exit};
use crate::model::Engine;
use crate::output::format::{Format, inert};
use crate::policy::State;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// Prints help and version to stdout, and a mistake to stderr: as a document if the words ask for one.
pub(super) fn report(arguments: &[OsString], is_plugin: bool, mut error: clap::Error) -> Exit {
    if !error.use_stderr() {
        // A closed pipe is no reason to fail.
        let _ = error.print();
        // A monitoring system must not read the help of `health` as a check that is ok.
        return if is_plugin { Exit::Health(State::Unknown) } else { Exit::Done };
    }
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let tip = put_right(&error, &words).or_else(|| instead_of(&error).map(str::to_owned));
    let tip = tip.map(|tip| harmless(tip, &words, is_plugin));
    if let Some(tip) = &tip {
        // In place of the words that clap finds similar.
        for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedCommand, ContextKind::SuggestedArg] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let text = harmless(error.render().to_string(), &words, is_plugin);
    let text = text.trim_start_matches("error: ");
    let first = text.lines().next().unwrap_or_default();
    let is_json = wants_json(&words);
    if is_plugin {
        return plugin::refuse(first, tip.as_deref(), is_json);
    }
    let (format, error) = match is_json {
        true => (Format::Json, CliError::usage(first).hint(tip.as_deref().unwrap_or("see --help"))),
        false => (Format::Table, CliError::usage(text)),
    };
    Ui::new(&ToneArgs::default(), format, &Environment::read()).error(&error);
    Exit::Usage
}

/// Names the command that shows the situation, below the help that was printed in its place.
pub(super) fn name_status(arguments: &[OsString]) {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if wants_json(&words) || words.iter().any(|word| word == "-q" || word == "--quiet") {
        return;
    }
    let ui = Ui::new(&ToneArgs::default(), Format::Table, &Environment::read());
    ui.note("the environment names a database: `jobdoctor status` shows its situation");
}

fn wants_json(words: &[String]) -> bool {
    let in_one = ["--output=json", "-ojson", "-o=json"];
    let in_two = |pair: &[String]| match pair {
        [flag, format] => ["-o", "--output"].contains(&flag.as_str()) && format.starts_with("json"),
        _ => false,
    };
    words.iter().any(|word| word == "--json" || in_one.iter().any(|flag| word.starts_with(flag)))
        || words.windows(2).any(in_two)
}

/// Clap's message without passwords and with the typed words inert: clap quotes them as they are, and a script's value
/// may hold control characters.
fn harmless(message: String, words: &[String], is_plugin: bool) -> String {
    let value = |word: &String| match word.split_once('=') {
        Some((_, value)) if word.starts_with("--") => value.to_owned(),
        _ => word.clone(),
    };
    let values: Vec<String> = words.iter().map(value).collect();
    // A misplaced word may be an address with a password.
    let is_secret = |value: &&String| may_be_misplaced_password(value) && !(is_plugin && plugin::is_range(value));
    let message = values.iter().filter(is_secret).fold(message, |text, value| text.replace(value, "..."));
    words.iter().chain(&values).fold(message, |text, word| match inert(word) {
        shown if shown == *word => text,
        shown => text.replace(word, &shown),
    })
}

/// Words that are no commands, and the command to type instead with what it does.
const COMMANDS: [(&[&str], &str); 15] = [
    (&["list", "ls", "jobs", "get", "stuck", "dead", "zombies", "orphans"], "`jobdoctor stale` lists stuck jobs"),
    (&["top", "watch"], "`jobdoctor stale --watch 2s` redraws the list of stuck jobs every 2 seconds"),
    (&["ps", "workers", "processes", "hosts"], "`jobdoctor owners` lists workers with their claims"),
    (&["describe", "explain", "inspect", "why"], "`jobdoctor show ID` explains a job"),
    (
        &[
            "retry", "requeue", "rescue", "release", "fix", "recover", "unlock", "unstick", "reset", "reap", "clean",
            "cleanup", "prune", "run", "apply", "plan",
        ],
        "`jobdoctor reclaim` plans what to do to stuck jobs; --apply does it",
    ),
    (
        &["kill", "fail", "cancel", "delete", "rm", "discard"],
        "`jobdoctor reclaim --id ID --to fail` plans to fail a stuck job",
    ),
    (&["restart", "deploy", "boot"], "`jobdoctor sweep --restart --host HOST` is for workers that were stopped"),
    (&["metrics", "prometheus"], "`jobdoctor stats -o prometheus` prints metrics"),
    (&["report"], "`jobdoctor history last -o markdown` reports the latest run"),
    (&["doctor", "diagnose", "validate"], "`jobdoctor check` says whether jobdoctor can do its work here"),
    (&["situation", "summary", "info"], "`jobdoctor status` shows the situation on one screen"),
    (&["count", "queue", "queues"], "`jobdoctor stats` counts jobs by queue and state"),
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

/// The command line as it was probably meant: the first of several forms that clap accepts.
fn put_right(error: &clap::Error, words: &[String]) -> Option<String> {
    let program = super::command();
    let command = words.iter().skip(1).find_map(|word| Some(program.find_subcommand(word)?.get_name()));
    let replaced = |word: &str, by: &[&str]| {
        let at = words.iter().rposition(|typed| typed == word).filter(|at| *at > 0)?;
        let by = by.iter().map(|word| (*word).to_owned());
        let line: Vec<String> = words[..at].iter().cloned().chain(by).chain(words[at + 1..].iter().cloned()).collect();
        match program.clone().try_get_matches_from(&line) {
            Ok(_) => {
                let typed: Vec<String> = line.iter().skip(1).map(|word| shell_word(word)).collect();
                Some(format!("did you mean `jobdoctor {}`?", typed.join(" ")))
            }
            // Each word that was put right is an option's value, so this ends.
            Err(error) if words.len() < line.len() => put_right(&error, &line),
            Err(_) => None,
        }
    };
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) if !word.starts_with('-') => Some(word.as_str()),
        _ => None,
    };
    match (error.kind(), command) {
        (ErrorKind::UnknownArgument, Some(command)) => {
            let word = word(ContextKind::InvalidArg)?;
            options_for(word, command).iter().find_map(|option| replaced(word, &[option, word]))
        }
        (ErrorKind::ValueValidation, Some(_)) => word(ContextKind::InvalidValue)
            .filter(|word| is_database(word))
            .and_then(|word| replaced(word, &["--db", word])),
        (ErrorKind::InvalidSubcommand, None) => match word(ContextKind::InvalidSubcommand)? {
            word if is_database(word) => replaced(word, &["status", "--db", word]),
            word if is_id(word) => replaced(word, &["show", word]),
            _ => None,
        },
        (ErrorKind::MissingRequiredArgument, Some("show")) => replaced("show", &["stale"]),
        (ErrorKind::MissingRequiredArgument, Some("undo")) => replaced("undo", &["undo", "last"]),
        (ErrorKind::MissingRequiredArgument, Some(_)) => replaced("--since", &["--older"]),
        _ => None,
    }
}

/// The options that a word without one was probably meant for, the likeliest first.
fn options_for(word: &str, command: &str) -> &'static [&'static str] {
    match word {
        _ if is_database(word) => &["--db"],
        _ if humantime::parse_duration(word).is_ok() => &["--older", "--since"],
        _ if is_id(word) => &["--id", "--owner", "--queue"],
        _ if word.contains([':', '@']) => &["--owner"],
        _ if command == "owners" => &["--host"],
        _ => &["--queue"],
    }
}

/// A value parser of arguments that are no database: refuses an address and the name of a SQLite file that is there.
pub(super) fn no_database(word: String) -> Result<String, &'static str> {
    let is_one = is_database(&word) && (word.contains("://") || Path::new(&word).is_file());
    if is_one { Err("that is a database: --db names it") } else { Ok(word) }
}

fn is_database(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let ending = ending.trim_end_matches('3');
    let is_file = ending == "db" || Engine::from_name(ending).is_some_and(Engine::is_file);
    word.contains("://") || word.contains("dbname=") || word.contains("host=") || is_file
}

/// True for a number and a UUID.
fn is_id(word: &str) -> bool {
    word.bytes().all(|c| c.is_ascii_digit()) || word.matches('-').count() == 4
}

/// What to type instead of the word that clap refused, if it is one of another tool's.
fn instead_of(error: &clap::Error) -> Option<&'static str> {
    let find = |kind, table: &[(&[&str], &'static str)]| match error.get(kind)? {
        ContextValue::String(word) => {
            table.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, tip)| *tip)
        }
        _ => None,
    };
    let is_unlike_any =
        error.kind() == ErrorKind::InvalidSubcommand && error.get(ContextKind::SuggestedSubcommand).is_none();
    find(ContextKind::InvalidSubcommand, &COMMANDS)
        .or_else(|| find(ContextKind::InvalidArg, &OPTIONS))
        .or(is_unlike_any.then_some("`jobdoctor --help` lists the commands"))
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
