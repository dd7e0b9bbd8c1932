//! The end of a command line that clap refuses or answers with help; secrets are hidden and text is made inert.

use super::args::ToneArgs;
use super::environment::Environment;
use super::monitor::plugin;
use super::secret::{may_be_misplaced_password, may_hold_password};
use super::tips::{refused_word, tip_for, value};
use super::ui::Ui;
use super::{CliError, Exit};
use crate::output::format::{Format, inert};
use crate::policy::State;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Prints help and version to stdout, and a mistake to stderr: as a document if the words ask for one.
pub(super) fn report(arguments: &[OsString], is_plugin: bool, mut error: clap::Error) -> Exit {
    if !error.use_stderr() {
        // A closed pipe is no reason to fail.
        let _ = error.print();
        // A monitoring system must not read the help of `health` as a check that is ok.
        return if is_plugin { Exit::Health(State::Unknown) } else { Exit::Done };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Exit::Usage;
    }
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // A misplaced word may be an address with a password.
    let is_secret = |word: &str| may_be_misplaced_password(word) && !(is_plugin && plugin::is_range(word));
    let tip = tip_for(&error, &words).map(|tip| harmless(tip, &words, &is_secret));
    // The plugin's message about a range names what is wrong with it.
    error = without_secrets(error, &|word| may_hold_password(word) || !is_plugin && is_secret(word));
    if let Some(tip) = &tip {
        // In place of the words that clap finds similar.
        for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedCommand, ContextKind::SuggestedArg] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let text = harmless(error.render().to_string(), &words, &is_secret);
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

/// The error without what may be a password. A value parser may quote a value in any spelling, so its words go too.
fn without_secrets(mut error: clap::Error, is_secret: &dyn Fn(&str) -> bool) -> clap::Error {
    let hidden = || ContextValue::String("...".to_owned());
    let is_hidden = |error: &clap::Error, kind| refused_word(error, kind).is_some_and(is_secret);
    if is_hidden(&error, ContextKind::InvalidValue) {
        let argument = error.get(ContextKind::InvalidArg).cloned().unwrap_or_else(hidden);
        error = clap::Error::new(ErrorKind::ValueValidation).with_cmd(&super::command());
        error.insert(ContextKind::InvalidArg, argument);
        error.insert(ContextKind::InvalidValue, hidden());
    }
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        if is_hidden(&error, kind) {
            error.insert(kind, hidden());
        }
    }
    error
}

/// A text without passwords, and with the typed words inert: clap quotes them, control characters included.
fn harmless(text: String, words: &[String], is_secret: &dyn Fn(&str) -> bool) -> String {
    let mut words: Vec<&str> = words.iter().flat_map(|word| [word, value(word)]).collect();
    // One word may be part of another.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let text = words.iter().filter(|word| is_secret(word)).fold(text, |text, word| text.replace(word, "..."));
    words.into_iter().fold(text, |text, word| match inert(word) {
        shown if shown == *word => text,
        shown => text.replace(word, &shown),
    })
}
