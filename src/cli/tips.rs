//! Tips for a command line that clap refuses: the line that was probably meant, or the command for a word of another tool.

use super::next_command::shell_word;
use super::secret::may_be_misplaced_password;
use crate::model::Engine;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::path::Path;

/// What to type instead of a refused command line, in a sentence with a command between backquotes.
pub(super) fn tip_for(error: &clap::Error, words: &[String]) -> Option<String> {
    put_right(error, words).or_else(|| instead_of(error, words))
}

/// Words that are no commands, the words to type instead, and what these do.
const COMMANDS: [(&[&str], &[&str], &str); 19] = [
    (&["list", "ls", "jobs", "get", "stuck", "dead", "zombies", "orphans"], &["stale"], "lists stuck jobs"),
    (&["top", "watch", "tail"], &["stale", "--watch"], "redraws the list of stuck jobs"),
    (&["failed"], &["stale", "--interrupted"], "lists jobs that failed because their worker died"),
    (&["ps", "workers", "processes", "hosts"], &["owners"], "lists workers with their claims"),
    (&["describe", "explain", "inspect", "why", "job"], &["show"], "ID explains a job"),
    (
        &[
            "retry", "requeue", "rescue", "release", "fix", "recover", "unlock", "unstick", "reset", "reap", "clean",
            "cleanup", "clear", "prune", "run", "apply", "plan",
        ],
        &["reclaim"],
        "plans what to do to stuck jobs; --apply does it",
    ),
    (
        &["kill", "fail", "delete", "rm", "discard"],
        &["reclaim", "--to", "fail"],
        "plans to fail stuck jobs; --apply does it",
    ),
    (&["cancel"], &["reclaim", "--to", "cancel"], "plans to cancel stuck jobs; --apply does it"),
    (&["restart", "deploy", "boot"], &["sweep", "--restart"], "is for workers that were stopped: see its --help"),
    (&["metrics", "prometheus"], &["stats", "-o", "prometheus"], "prints metrics"),
    (&["monitor", "alert", "nagios"], &["health"], "is a monitoring plugin"),
    (&["report"], &["history", "last", "-o", "markdown"], "reports your latest run"),
    (&["doctor", "validate", "ping"], &["check"], "says whether jobdoctor can do its work here"),
    (&["situation", "summary", "info", "diagnose"], &["status"], "shows the situation on one screen"),
    (&["count", "queue", "queues"], &["stats"], "counts jobs by queue and state"),
    (&["log", "logs", "runs", "audit"], &["history"], "lists past runs"),
    (&["revert", "rollback"], &["undo", "last"], "plans to revert your latest run"),
    (&["pause", "stop", "start", "drain"], &["owners"], "lists workers; jobdoctor neither starts nor stops them"),
    (&["version"], &["--version"], "prints the version"),
];

/// Options that no command has, and what to type instead.
const OPTIONS: [(&[&str], &str); 6] = [
    (&["--yes", "-y", "--force", "--no-dry-run"], "--apply carries out a plan; nothing asks for confirmation"),
    (&["-f", "--format"], "-o json, -o csv and others name the format"),
    (&["--last"], "`jobdoctor undo last` plans to revert your latest run, `jobdoctor history last` shows it"),
    (
        &["--since", "--min-age", "--age"],
        "`jobdoctor stale --older 5m` selects by silence; `jobdoctor history` lists past runs",
    ),
    (
        &["-w", "--follow"],
        "`jobdoctor stale --watch` redraws the list, `jobdoctor stale --wait 10m` waits until it is empty",
    ),
    (&["-t", "--context", "--profile"], "--target NAME uses a target of the config file"),
];

/// The most words of a line that are put right.
const MOST: usize = 8;

/// The command line as it was probably meant, if clap accepts it; none where a word may belong to a password.
fn put_right(error: &clap::Error, words: &[String]) -> Option<String> {
    let is_delicate = |word: &String| may_be_misplaced_password(value(word)) || word.to_lowercase().contains("pass");
    if words.iter().skip(1).any(is_delicate) {
        return None;
    }
    let program = super::command();
    let mut line = better(&program, error, words)?;
    for _ in 0..MOST {
        match program.clone().try_get_matches_from(&line) {
            Err(error) => line = better(&program, &error, &line)?,
            Ok(_) => {
                let typed: Vec<String> = line.iter().skip(1).map(|word| shell_word(word)).collect();
                return Some(format!("did you mean `jobdoctor {}`?", typed.join(" ")));
            }
        }
    }
    None
}

/// The line with the word put right that clap refused.
fn better(program: &Command, error: &clap::Error, words: &[String]) -> Option<Vec<String>> {
    let command = words.iter().skip(1).find_map(|word| program.find_subcommand(word));
    let has =
        |option: &str| command.is_some_and(|known| known.get_arguments().any(|arg| arg.get_long() == Some(option)));
    let is_given = |option: &str| words.iter().any(|word| word == option || word.starts_with(&format!("{option}=")));
    let word = |kind| refused_word(error, kind).filter(|word| !word.starts_with('-'));
    // Behind `--`, options are words like others. A word behind an option is likely to be its value.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_value = |at: &usize| words.get(at - 1).is_some_and(|before| before.starts_with('-'));
    let place = |word: &str| {
        let mut places = (1..end).filter(|at| words.get(*at).is_some_and(|typed| typed == word));
        places.clone().find(|at| !is_value(at)).or_else(|| places.next())
    };
    let replaced = |word: &str, by: &[&str]| {
        let mut line = words.to_vec();
        let at = place(word)?;
        line.splice(at..=at, by.iter().map(|word| (*word).to_owned()));
        Some(line)
    };
    let may_name_database = !["--db", "--target", "--all-targets"].into_iter().any(is_given);
    let is_about_owners = is_given("owners") || is_given("--restart");
    let as_option = |word: &str| {
        let options = options_of(word, is_about_owners);
        let option =
            options.iter().filter(|option| may_name_database || **option != "db").find(|option| has(option))?;
        replaced(word, &[&format!("--{option}"), word])
    };
    match (error.kind(), command.map(Command::get_name)) {
        (ErrorKind::UnknownArgument, Some(_)) => as_option(word(ContextKind::InvalidArg)?),
        (ErrorKind::ValueValidation, Some(_)) => {
            as_option(word(ContextKind::InvalidValue).filter(|word| is_database(word))?)
        }
        (ErrorKind::InvalidSubcommand, None) => match word(ContextKind::InvalidSubcommand)? {
            word if is_database(word) && may_name_database => replaced(word, &["status", "--db", word]),
            word if is_id(word) => replaced(word, &["show", word]),
            // Without a job, the word is answered with what its command does.
            word if words.iter().any(|word| is_id(word)) => {
                meant_by(word).and_then(|(_, meant, _)| replaced(word, meant))
            }
            _ => None,
        },
        (ErrorKind::MissingRequiredArgument, Some("show")) => replaced("show", &["stale"]),
        (ErrorKind::MissingRequiredArgument, Some("undo")) => {
            let mut line = replaced("undo", &["undo", "last"])?;
            line.retain(|word| word != "--apply");
            Some(line)
        }
        (ErrorKind::MissingRequiredArgument, Some("stale")) if is_given("--since") => replaced("--since", &["--older"]),
        _ => None,
    }
}

/// The options whose value a word looks like, the likeliest first.
fn options_of(word: &str, is_about_owners: bool) -> &'static [&'static str] {
    match word {
        _ if is_database(word) => &["db"],
        _ if humantime::parse_duration(word).is_ok() => &["older", "since"],
        _ if is_id(word) => &["id", "queue"],
        _ if word.contains([':', '@']) => &["owner"],
        _ if is_about_owners => &["host"],
        _ => &["queue"],
    }
}

/// A value parser of arguments that are no database: refuses an address, and the name of a SQLite file that is there.
pub(super) fn no_database(word: String) -> Result<String, &'static str> {
    let is_one =
        may_be_misplaced_password(&word) || is_database(&word) && (word.contains("://") || Path::new(&word).is_file());
    if is_one { Err("that is a database: --db names it") } else { Ok(word) }
}

fn is_database(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let ending = ending.trim_end_matches('3');
    let is_file = ending == "db" || Engine::from_name(ending).is_some_and(Engine::is_file);
    word.contains("://") || word.contains("dbname=") || is_file
}

/// True for a number and a UUID.
fn is_id(word: &str) -> bool {
    !word.is_empty() && (word.bytes().all(|c| c.is_ascii_digit()) || word.matches('-').count() == 4)
}

/// The command for a word of another tool.
fn meant_by(word: &str) -> Option<&'static (&'static [&'static str], &'static [&'static str], &'static str)> {
    COMMANDS.iter().find(|(words, ..)| words.contains(&word))
}

/// What to type instead of the word that clap refused, if it is one of another tool's.
fn instead_of(error: &clap::Error, words: &[String]) -> Option<String> {
    if let Some(word) = refused_word(error, ContextKind::InvalidSubcommand) {
        // Below another command the word means something else.
        let program = super::command();
        if words.iter().skip(1).any(|word| program.find_subcommand(word).is_some()) {
            return None;
        }
        let known = meant_by(word).map(|(_, meant, does)| format!("`jobdoctor {}` {does}", meant.join(" ")));
        let is_like_one = error.get(ContextKind::SuggestedSubcommand).is_some();
        return known.or((!is_like_one).then(|| "`jobdoctor --help` lists the commands".to_owned()));
    }
    let option = refused_word(error, ContextKind::InvalidArg)?;
    OPTIONS.iter().find(|(options, _)| options.contains(&option)).map(|(_, tip)| (*tip).to_owned())
}

/// The word of that kind, of those that clap refuses.
pub(super) fn refused_word(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word),
        _ => None,
    }
}

/// The value of `--name=value`; any other word as it is.
pub(super) fn value(word: &str) -> &str {
    word.strip_prefix("--").and_then(|word| word.split_once('=')).map_or(word, |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mutant is an answer that names no command: each command between backquotes must be accepted.
    #[test]
    fn every_answer_is_a_command_line() {
        let program = crate::cli::command();
        let of_commands = COMMANDS.iter().map(|(words, meant, _)| {
            assert!(words.iter().all(|word| program.find_subcommand(word).is_none()), "{words:?}");
            // What is missing, an id or a host, is asked for.
            [&["jobdoctor"], *meant].concat().join(" ")
        });
        let quoted = OPTIONS.iter().flat_map(|(_, tip)| tip.split('`').skip(1).step_by(2).map(str::to_owned));
        for line in of_commands.chain(quoted) {
            let parsed = program.clone().try_get_matches_from(line.split(' '));
            let is_fit =
                |error: &clap::Error| !error.use_stderr() || error.kind() == ErrorKind::MissingRequiredArgument;
            assert!(parsed.as_ref().err().is_none_or(is_fit), "{line}: {parsed:?}");
        }
    }
}
