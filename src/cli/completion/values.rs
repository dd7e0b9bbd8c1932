//! Where the values of options and arguments come from, and what of it is offered.

use crate::cli::args::StoreArgs;
use crate::cli::commands::is_of;
use crate::cli::environment::Environment;
use crate::cli::help::TOPICS;
use crate::cli::leading_options::{behind_command, deepest};
use crate::cli::{CliError, Settings};
use crate::ops::{self, Records, Selection, Snapshot, names_in_flight};
use crate::output::format::inert;
use crate::output::{Collector, Field};
use crate::store::{Interrupt, Limits};
use clap::{Command, FromArgMatches};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// How long a shell waits for values: what was found by then is offered.
const PATIENCE: Duration = Duration::from_millis(200);
/// The most values that are offered.
const MOST: usize = 1000;
/// The newest runs that are offered.
const RUNS: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Targets,
    /// The built-in presets and the config file's mappings.
    Presets,
    /// The commands and topics of the help.
    Pages,
    Claims(Field),
    /// The ids of stuck jobs.
    StuckJobs,
    /// The tables that look like a queue.
    Tables,
    /// The journals of this host and the ledger of the database.
    Runs,
}

impl Source {
    /// The source of an argument, by the name of its command and its id.
    fn of(command: &str, id: &str) -> Option<Source> {
        Some(match (command, id) {
            (_, "target") => Source::Targets,
            (_, "preset") | ("show", "name") => Source::Presets,
            ("help", "words") | ("man", "name") => Source::Pages,
            (_, "queue") => Source::Claims(Field::Queue),
            (_, "kind") => Source::Claims(Field::Kind),
            (_, "owner") => Source::Claims(Field::Owner),
            (_, "host") => Source::Claims(Field::Host),
            (_, "state") => Source::Claims(Field::State),
            ("show", "ids") | (_, "id") => Source::StuckJobs,
            (_, "adopted") => Source::Tables,
            (_, "run") => Source::Runs,
            _ => return None,
        })
    }
}

/// What the shell asks about: the words of the line.
struct Line {
    program: Command,
    words: Vec<OsString>,
    environment: Environment,
}

/// The command line, with the sources of its values.
pub(super) fn with_values(program: Command, words: &[OsString], environment: &Environment) -> Command {
    // An empty word is the one to be completed. No option takes it, and clap would read no further.
    let some = |word: &OsString| if word.is_empty() { OsString::from("_") } else { word.clone() };
    let words = behind_command(&program, words.iter().map(some).collect());
    let line = Line { program: program.clone(), words, environment: environment.clone() };
    attach(program, &Arc::new(line))
}

fn attach(command: Command, line: &Arc<Line>) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|below| attach(below, line));
    // Hidden options are offered where nothing else is.
    let command = match line.words.last().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-")) {
        true => command,
        false => command
            .disable_help_flag(true)
            .disable_version_flag(true)
            .mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) }),
    };
    command.mut_args(|arg| match Source::of(&name, arg.get_id().as_str()) {
        Some(source) => {
            let line = Arc::clone(line);
            arg.add(ArgValueCandidates::new(move || candidates(source, &line)))
        }
        None => arg,
    })
}

/// What the source has within [`PATIENCE`], read by a thread, so that nothing slow keeps the shell waiting.
fn candidates(source: Source, line: &Arc<Line>) -> Vec<CompletionCandidate> {
    let until = Instant::now() + PATIENCE;
    let (send, received) = channel();
    let line = Arc::clone(line);
    std::thread::spawn(move || line.send(source, until, &send));
    let mut names = BTreeSet::new();
    while let Ok(name) = received.recv_timeout(until.saturating_duration_since(Instant::now())) {
        if names.len() < MOST && is_offered(&name) {
            names.insert(name);
        }
    }
    let is_newest_first = source == Source::Runs;
    let sorted: Vec<String> =
        if is_newest_first { names.into_iter().rev().collect() } else { names.into_iter().collect() };
    let candidate = |(n, name): (usize, String)| CompletionCandidate::new(name).display_order(Some(n));
    sorted.into_iter().enumerate().map(candidate).collect()
}

/// False for text that would do something to a terminal, be read as an option, or match other names than itself.
fn is_offered(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && !name.contains(['*', '?', '[', '{', '\\']) && inert(name) == name
}

impl Line {
    /// Sends the values. An error ends them: a shell has no place for a message.
    fn send(&self, source: Source, until: Instant, send: &Sender<String>) -> Result<(), CliError> {
        let args = self.store_args();
        let offer = |name: &str| drop(send.send(name.to_owned()));
        match source {
            Source::Targets => {
                let (targets, _) = Settings::targets(&untargeted(&args), &self.environment)?;
                targets.iter().for_each(|target| offer(target));
            }
            Source::Presets => {
                let settings = Settings::resolve(&untargeted(&args), &self.environment)?;
                settings.catalog.names().for_each(offer);
            }
            Source::Pages => {
                TOPICS.iter().for_each(|topic| offer(topic.name));
                self.program.get_subcommands().for_each(|command| offer(command.get_name()));
            }
            Source::Claims(field) => {
                names_in_flight(&mut self.snapshot(&args, until)?, field, &mut |name| offer(name))?;
            }
            Source::StuckJobs => {
                let policy = Settings::resolve(&args, &self.environment)?.policy(None);
                let (mut snapshot, all) = (self.snapshot(&args, until)?, Selection::default());
                let found = ops::stale(&mut snapshot, &all, &policy, Collector::first(MOST), &mut |_, _| false)?;
                found.jobs.items().iter().for_each(|job| offer(&job.id));
            }
            Source::Tables => {
                let settings = Settings::resolve(&args, &self.environment)?;
                let found = ops::candidates(settings.database()?.store()?.as_ref(), &limits(&settings, until))?;
                found.tables.iter().for_each(|found| offer(&found.table));
            }
            Source::Runs => {
                let journals = self.environment.journals();
                let settings = Settings::resolve(&args, &self.environment);
                let label = settings.as_ref().ok().and_then(Settings::database_label);
                let runs = journals.as_ref().map(|journals| journals.runs()).transpose().unwrap_or_default();
                let mut recorded = Records { journals: journals.as_ref(), snapshot: None };
                let is_here = |run: &&String| match (&settings, recorded.recorded_head(run)) {
                    (Ok(settings), Some(head)) => is_of(&head.target, settings, label.as_deref()),
                    _ => true,
                };
                runs.iter().flatten().filter(is_here).take(RUNS).for_each(|run| offer(run));
                let mut snapshot = self.snapshot(&args, until)?;
                let mut ledger = Records { journals: None, snapshot: Some(&mut snapshot) };
                ops::history(&mut ledger, Some(RUNS), None, true)?.runs.iter().for_each(|run| offer(&run.head.run_id));
            }
        }
        Ok(())
    }

    /// A snapshot of the queue that the line names, by a reader, which cannot write.
    fn snapshot(&self, args: &StoreArgs, until: Instant) -> Result<Snapshot, CliError> {
        let settings = Settings::resolve(args, &self.environment)?;
        let store = settings.database()?.store()?;
        Ok(settings.session(store.as_ref(), &limits(&settings, until)).snapshot()?)
    }

    /// The options of the line that say where the queue is, as far as they can be read.
    fn store_args(&self) -> StoreArgs {
        let program = self.program.clone().ignore_errors(true);
        let Ok(matches) = program.try_get_matches_from(&self.words) else { return StoreArgs::default() };
        let deepest = deepest(&matches);
        // A command that opens no database has at most the config file, and asking clap for another option is a defect.
        match deepest.try_contains_id("db") {
            Ok(_) => StoreArgs::from_arg_matches(deepest).unwrap_or_default(),
            Err(_) => {
                let config = deepest.try_get_one::<PathBuf>("config").ok().flatten().cloned();
                StoreArgs { config, ..StoreArgs::default() }
            }
        }
    }
}

fn limits(settings: &Settings, until: Instant) -> Limits {
    let limits = settings.limits("completion", PATIENCE, &Interrupt::default(), false);
    Limits { deadline: until, connect: PATIENCE, lock: PATIENCE, ..limits }
}

/// The options without a target: the one that is being typed need not exist.
fn untargeted(args: &StoreArgs) -> StoreArgs {
    StoreArgs { target: Vec::new(), ..args.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_not_offered() {
        for name in ["", "--apply", "a\nb", "\u{1b}[2J", "a\u{202e}b", "mail*", "a\\b"] {
            assert!(!is_offered(name), "{name:?}");
        }
        for name in ["mail", "web2:911", "Billing::Invoice", "high priority", "$(reboot)", "it's"] {
            assert!(is_offered(name), "{name:?}: the shell quotes it");
        }
    }
}
