//! The command line to type next, made from the one that was typed.

use super::args::StoreArgs;
use super::secret::may_hold_password;
use clap::{Arg, Args, Command};

/// Options about the output, or about this run alone, which the next command does not repeat.
const NOT_REPEATED: [&str; 19] = [
    "apply",
    "color",
    "columns",
    "dry-run",
    "exit-code",
    "expect",
    "json",
    "log-format",
    "no-header",
    "output",
    "quiet",
    "report-file",
    "sort",
    "splay",
    "summary",
    "time",
    "verbose",
    "wait",
    "watch",
];

/// A command line that goes on from these words: what the next command has too, but [`NOT_REPEATED`] and `dropped`.
pub(super) fn next_command(program: &Command, words: &[String], command: &str, dropped: &[&str]) -> String {
    let same = words.first().is_some_and(|this| this == command);
    let this = words.first().and_then(|this| program.find_subcommand(this));
    let next = program.find_subcommand(command);
    // A limit stays with the same command, so that it does exactly what was shown.
    let is_own = |name: &str| NOT_REPEATED.contains(&name) || dropped.contains(&name) || (!same && name == "limit");
    let kept = kept(words, this, same, &|name| !is_own(name) && arg(next, name).is_some());
    format!("jobdoctor {command}{kept}")
}

/// A command line of another command on the same queue: of these words only those that say where the queue is.
pub(super) fn same_queue(words: &[String], command: &[&str]) -> String {
    let queue = StoreArgs::augment_args(Command::new("queue"));
    let kept = kept(words, Some(&queue), false, &|name| name != "timeout" && arg(Some(&queue), name).is_some());
    format!("jobdoctor {}{kept}", command.join(" "))
}

/// Gives those of a command's words that the next command repeats, each after a space.
fn kept(words: &[String], this: Option<&Command>, keeps_arguments: bool, is_kept: &dyn Fn(&str) -> bool) -> String {
    let mut kept = String::new();
    let mut words = words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let Some(name) = name(word, this) else {
            kept.extend((keeps_arguments && !word.starts_with('-')).then(|| format!(" {}", shell_word(word))));
            continue;
        };
        let takes_value =
            arg(this, &name).is_some_and(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set());
        let has_value = takes_value && (word.len() == 2 || word == &format!("--{name}"));
        let is_optional = arg(this, &name).and_then(Arg::get_num_args).is_some_and(|values| values.min_values() == 0);
        let is_value = |next: &&String| !is_optional || !next.starts_with('-');
        let value = if has_value { words.next_if(is_value) } else { None };
        if is_kept(&name) {
            kept.extend([Some(word), value].into_iter().flatten().map(|word| format!(" {}", shell_word(word))));
        }
    }
    kept
}

/// The long name of the option that a word is or begins with.
fn name(word: &str, command: Option<&Command>) -> Option<String> {
    if let Some(long) = word.strip_prefix("--") {
        return Some(long.split('=').next().unwrap_or_default().to_owned());
    }
    let short = word.strip_prefix('-')?.chars().next()?;
    let known = command?.get_arguments().find(|arg| arg.get_short() == Some(short))?;
    known.get_long().map(str::to_owned)
}

fn arg<'c>(command: Option<&'c Command>, long: &str) -> Option<&'c Arg> {
    command?.get_arguments().find(|arg| arg.get_long() == Some(long))
}

/// A word quoted for a shell; `...` for a word that may hold a password.
pub(super) fn shell_word(word: &str) -> String {
    if may_hold_password(word.strip_prefix("--db=").unwrap_or(word)) {
        return if word.starts_with("--db=") { "--db=...".to_owned() } else { "...".to_owned() };
    }
    quoted(word)
}

/// A word quoted for a shell. It must hold no password.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_passwords_left_out() {
        assert_eq!(shell_word("demo.db"), "demo.db");
        assert_eq!(shell_word("mail*"), "'mail*'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word("postgres://u@h/d"), "postgres://u@h/d");
        assert_eq!(shell_word("postgres://u:secret@h/d"), "...");
        assert_eq!(shell_word("--db=host=h password=secret"), "--db=...");
    }

    fn next(line: &str, command: &str, dropped: &[&str]) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        next_command(&crate::cli::command(), &words, command, dropped) + " --apply"
    }

    #[test]
    fn options_of_the_next_command_are_repeated() {
        let cases = [
            ("stale --db q.db --older 5m", "reclaim --db q.db --older 5m --apply"),
            ("stale --db=q.db --exit-code --limit 3 -o json", "reclaim --db=q.db --apply"),
            ("stale -ojson --color never --db q.db -qv", "reclaim --db q.db --apply"),
            ("reclaim --db q.db --limit 3 --apply", "reclaim --db q.db --limit 3 --apply"),
            ("reclaim --expect 12345678 --apply --db q.db", "reclaim --db q.db --apply"),
            ("reclaim --dry-run=server -n --db q.db", "reclaim --db q.db --apply"),
        ];
        for (line, expected) in cases {
            assert_eq!(next(line, "reclaim", &[]), format!("jobdoctor {expected}"), "{line}");
        }
        assert_eq!(next("reclaim --db q.db --queue a", "reclaim", &["queue"]), "jobdoctor reclaim --db q.db --apply");
        assert_eq!(next("owners --db q.db", "show", &[]), "jobdoctor show --db q.db --apply");
    }
}
