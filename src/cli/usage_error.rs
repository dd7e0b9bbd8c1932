//! The end of a command line that clap refuses, or answers with help: what is printed, with secrets hidden and text
//! made inert.

use super::error::CliError;
use super::exit::Exit;
use super::monitor::plugin;
use super::secret::may_be_misplaced_password;
use super::suggestions::{instead_of, with_tip};
use super::ui::Ui;
use crate::output::format::inert;
use crate::policy::State;
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
}
