//! The end of a command line that clap refuses, or answers with help: what is printed, with secrets hidden and text
//! made inert.

use super::error::CliError;
use super::exit::Exit;
use super::monitor::plugin;
use super::secret::may_be_misplaced_password;
use super::ui::Ui;
use crate::output::format::inert;
use crate::policy::State;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;
use std::io::Write;

/// Prints help and version to stdout, and a mistake to stderr: as a document if the words ask for one.
pub(super) fn report(arguments: &[OsString], is_plugin: bool, error: clap::Error) -> Exit {
    if !error.use_stderr() {
        // A closed pipe is no reason to fail.
        let _ = error.print();
        // A monitoring system must not read the help of `health` as a check that is ok.
        return if is_plugin { Exit::Health(State::Unknown) } else { Exit::Done };
    }
    let tip = instead_of(&error);
    let error = match tip {
        Some(tip) => with_tip(error, tip),
        None => error,
    };
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // A misplaced word may be an address with a password.
    let value = |word: &String| {
        word.split_once('=').filter(|_| word.starts_with("--")).map_or(word.clone(), |word| word.1.to_owned())
    };
    let values: Vec<String> = words.iter().map(value).collect();
    let typed: Vec<String> = words.iter().chain(&values).cloned().collect();
    let is_secret = |value: &&String| may_be_misplaced_password(value) && !(is_plugin && plugin::is_range(value));
    let hide = |text: String| values.iter().filter(is_secret).fold(text, |text, value| text.replace(value, "..."));
    let message = || {
        let text = hide(error.render().to_string());
        text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    let json = wants_json(&words);
    if is_plugin {
        return plugin::refuse(&message(), json);
    }
    if json {
        Ui::for_machines().error(&CliError::new(Exit::Usage, message()).hint(tip.unwrap_or("see --help")));
    } else {
        let text = harmless(&hide(error.render().ansi().to_string()), &typed);
        let _ = write!(anstream::stderr(), "{text}");
    }
    Exit::Usage
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

/// Clap's message with its styles and lines, and the typed words made inert: clap quotes them as they are, and a
/// script's value may hold control characters.
fn harmless(message: &str, words: &[String]) -> String {
    // The typed words first: they may hold the sequences that are styles elsewhere.
    let message = words.iter().fold(message.to_owned(), |message, word| match inert(word) {
        shown if shown == *word => message,
        shown => message.replace(word, &shown),
    });
    let mut shown = String::with_capacity(message.len());
    let mut rest = message.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        let (style, after) = after.split_at(style(after).unwrap_or_default());
        shown.push_str(&lines(before));
        shown.push_str(style);
        if style.is_empty() {
            shown.push_str("\\x1b");
            rest = after.strip_prefix('\u{1b}').unwrap_or(after);
        } else {
            rest = after;
        }
    }
    shown + &lines(rest)
}

/// The length of the colour sequence with which the text begins, if it does.
fn style(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers.get(end..)?.starts_with('m').then_some(end + 3)
}

fn lines(text: &str) -> String {
    text.split('\n').map(inert).collect::<Vec<_>>().join("\n")
}

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

    #[test]
    fn styles_stay_and_typed_words_are_inert() {
        let typed = ["\u{1b}[2J".to_owned(), "a\nb\r".to_owned(), "\u{1b}[31mx".to_owned()];
        let cases = [
            ("\u{1b}[1;31merror:\u{1b}[0m no\nUsage: x\n", "\u{1b}[1;31merror:\u{1b}[0m no\nUsage: x\n"),
            ("'\u{1b}[33m\u{1b}[2J\u{1b}[0m'", "'\u{1b}[33m\\x1b[2J\u{1b}[0m'"),
            ("'a\nb\r'\n", "'a\\nb\\r'\n"),
            ("'\u{1b}[31mx'", "'\\x1b[31mx'"),
            ("-\u{9b}2J\u{202e}\r\u{1b}]0;x\u{7}\u{1b}", "-\\u{9b}2J\\u{202e}\\r\\x1b]0;x\\x07\\x1b"),
        ];
        for (message, shown) in cases {
            assert_eq!(harmless(message, &typed), shown);
        }
    }

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
