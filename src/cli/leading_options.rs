//! Shared options before the command name, as in `jobdoctor --target prod stale`: they are moved behind it.

use super::args::{OutputArgs, StoreArgs};
use clap::{Arg, ArgMatches, Args, Command};
use std::ffi::{OsStr, OsString};

/// Adds the options that may stand before the command name: where the queue is and how to report.
pub(super) fn with_shared_options(program: Command) -> Command {
    let shared = OutputArgs::augment_args(StoreArgs::augment_args(Command::new("shared")));
    program.args(shared.get_arguments())
}

/// The part of a parsed command line that is about the command itself, or the one below it.
pub(super) fn deepest(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, below)| deepest(below))
}

/// Moves leading shared options behind the name of the command, and of the command below it. Any other leading option
/// stays for clap to refuse: `--apply` belongs to one command.
pub(super) fn behind_command(program: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let shared = with_shared_options(Command::new("shared"));
    let options = options(&shared, &words);
    let (mut names, mut command) = (0, program);
    while let Some(below) = words.get(1 + options + names).and_then(|word| command.find_subcommand(word)) {
        (names, command) = (names + 1, below);
    }
    if let Some(moved) = words.get_mut(1..1 + options + names).filter(|_| names > 0) {
        moved.rotate_left(options);
    }
    words
}

/// True if a command line has shared options and no other word.
pub(super) fn has_options_alone(words: &[OsString]) -> bool {
    1 + options(&with_shared_options(Command::new("shared")), words) >= words.len()
}

/// How many words the shared options take up with which a command line begins.
fn options(shared: &Command, words: &[OsString]) -> usize {
    let mut options = 0;
    while let Some(length) = words.get(1 + options).and_then(|word| length(shared, word)) {
        options += length;
    }
    options
}

/// The number of words of the shared option that begins with this word, its value included; `None` for any other word.
fn length(shared: &Command, word: &OsStr) -> Option<usize> {
    let word = word.to_string_lossy();
    let find = |is: &dyn Fn(&Arg) -> bool| shared.get_arguments().find(|arg| is(arg));
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let option = find(&|arg| arg.get_long() == Some(name))?;
        return Some(1 + usize::from(takes_value(option) && value.is_none()));
    }
    let mut letters = word.strip_prefix('-').filter(|letters| !letters.is_empty())?.chars();
    while let Some(letter) = letters.next() {
        if takes_value(find(&|arg| arg.get_short() == Some(letter))?) {
            return Some(1 + usize::from(letters.as_str().is_empty()));
        }
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_options_go_behind_the_command() {
        let cases = [
            ("--target bg stale --older 5m", "stale --target bg --older 5m"),
            ("-qo json --db=q.db stale", "stale -qo json --db=q.db"),
            ("-ojson -v reclaim --apply", "reclaim -ojson -v --apply"),
            ("--no-config presets show river", "presets show --no-config river"),
            ("--target stale owners", "owners --target stale"),
            ("stale --db q.db", "stale --db q.db"),
            // What is no shared option stays, and so does what comes after it.
            ("--apply --db q.db reclaim", "--apply --db q.db reclaim"),
            ("--db q.db --older 5m stale", "--db q.db --older 5m stale"),
            ("--db", "--db"),
            ("--db q.db", "--db q.db"),
            ("-- stale", "-- stale"),
        ];
        for (line, moved) in cases {
            let words: Vec<OsString> = ["jobdoctor"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            let words = behind_command(&crate::cli::command(), words);
            assert_eq!(words.join(OsStr::new(" ")), OsString::from(format!("jobdoctor {moved}")), "{line}");
        }
    }
}
