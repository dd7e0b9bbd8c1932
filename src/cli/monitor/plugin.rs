//! `health` as a monitoring plugin: whatever happens, one status line first and an exit code of 0 to 3.

use crate::cli::secret::may_hold_password;
use crate::cli::{CliError, Exit, masked};
use crate::model::age;
use crate::output::format::{PerfData, Plugin, count, inert, json};
use crate::output::{Health, HealthCheck, HealthError, HealthQueue, HealthReason};
use crate::policy::{Measure, State};
use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

const NAME: &str = "health";
/// The most reasons, and the most queues, that are listed.
const MOST_LINES: usize = 10;
/// The most characters of a queue's name.
const LONGEST_NAME: usize = 60;
/// The most characters of a line: monitoring systems have small buffers.
const LONGEST_LINE: usize = 300;

/// True if the first word that names a command is the plugin's, which then reports even a mistake in that line.
pub fn is_requested(program: &clap::Command, arguments: &[OsString]) -> bool {
    let command = arguments.iter().skip(1).find_map(|word| program.find_subcommand(word));
    command.is_some_and(|command| command.get_name() == NAME)
}

/// True if a word is a range of a measure, and not an address that was typed in the wrong place.
pub fn is_range(word: &str) -> bool {
    let is_measure = |name: &str| Measure::ALL.into_iter().any(|measure| measure.name() == name.trim());
    let is_one = |part: &str| part.split_once('=').is_none_or(|(name, _)| is_measure(name));
    word.split(',').all(is_one) && !may_hold_password(word)
}

/// The exit of the plugin: unknown, unless it found a state.
pub fn end(exit: Exit) -> Exit {
    match exit {
        // Several targets, all of them ok.
        Exit::Health(_) | Exit::Done => exit,
        _ => Exit::Health(State::Unknown),
    }
}

/// Reports a panic on stdout: monitoring systems read stdout and stderr as one, and the status line must be the first.
pub fn report_defect(location: Option<&str>) {
    let location = location.unwrap_or("an unknown place");
    let _ = io::stdout().write_all(defect(location).as_bytes());
}

fn defect(location: &str) -> String {
    let text = format!("jobdoctor has a defect at {location}; please report it");
    Plugin { state: State::Unknown, text, ..Plugin::default() }.render()
}

/// Reports a command line that makes no sense.
pub fn refuse(message: &str, tip: Option<&str>, as_json: bool) -> Exit {
    let error = CliError::usage(message).hint(tip.unwrap_or("see jobdoctor health --help"));
    let (state, out) = (State::Unknown, &mut io::stdout().lock());
    let document = unreadable(state, &error);
    let _ = match as_json {
        true => json(&document, out),
        false => out.write_all(plugin(&document, state).render().as_bytes()),
    };
    Exit::Health(state)
}

/// The document of a check that could not read the queue.
pub fn unreadable(state: State, error: &CliError) -> Health {
    let hints = error.hints.iter().map(|hint| masked(hint)).collect();
    let document = HealthError { code: error.exit.code(), kind: error.exit.name().to_owned(), hints };
    Health::unreadable(state.name(), masked(&error.message), document)
}

pub fn plugin(document: &Health, state: State) -> Plugin {
    let queues = document.queues.iter().take(MOST_LINES).map(queue);
    let more_queues = document.queues.len().saturating_sub(MOST_LINES) as u64;
    let mut more: Vec<String> = document.reasons.iter().take(MOST_LINES).map(reason).chain(queues).collect();
    if more_queues > 0 {
        more.push(format!("and {} with findings", count(more_queues, "more queue", "more queues")));
    }
    more.extend(document.findings.iter().cloned());
    more.extend(document.error.iter().flat_map(|error| error.hints.iter().cloned()));
    let more = more.iter().map(|line| short(&inert(line), LONGEST_LINE)).collect();
    Plugin { state, text: short(&inert(&document.message), LONGEST_LINE), data: data(document), more }
}

fn data(document: &Health) -> Vec<PerfData> {
    let Some(summary) = &document.summary else { return Vec::new() };
    let checked = |check: &HealthCheck| {
        let (unit, max) = match check.name.as_str() {
            "silence" | "oldest_due" => ("s", None),
            "share" => ("%", Some(100)),
            _ => ("", None),
        };
        let (warning, critical) = (check.warning.clone(), check.critical.clone());
        PerfData { label: check.name.clone(), value: check.value, unit, warning, critical, max }
    };
    let in_flight =
        PerfData { label: "in_flight".to_owned(), value: Some(summary.in_flight as f64), ..PerfData::default() };
    document.checks.iter().map(checked).chain([in_flight]).collect()
}

fn reason(reason: &HealthReason) -> String {
    format!("{}: {}, which proves {}", reason.rule, count(reason.jobs, "job", "jobs"), reason.proves)
}

fn queue(queue: &HealthQueue) -> String {
    let name = match queue.queue.as_deref() {
        None => "no queue".to_owned(),
        Some(name) if name.trim().is_empty() => format!("queue \"{}\"", short(name, LONGEST_NAME)),
        Some(name) => format!("queue {}", short(name, LONGEST_NAME)),
    };
    let silent = queue.oldest_silence_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let silent = silent.map_or_else(String::new, |silent| format!(", longest silent {}", age(silent)));
    format!("{name}: {} stuck, {} unknown, of {} in flight{silent}", queue.stuck, queue.unknown, queue.in_flight)
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_is_one_of_four() {
        let ends = [Exit::Usage, Exit::Internal, Exit::Config, Exit::Unavailable, Exit::Signal(15), Exit::Partial];
        ends.into_iter().for_each(|exit| assert_eq!(end(exit), Exit::Health(State::Unknown), "{exit:?}"));
        assert_eq!(end(Exit::Health(State::Critical)), Exit::Health(State::Critical));
        assert_eq!(end(Exit::Done), Exit::Done, "several targets, all well");
        assert_eq!(
            [State::Ok, State::Warning, State::Critical, State::Unknown].map(|state| Exit::Health(state).code()),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn a_panic_is_one_line() {
        let said = "JOBDOCTOR UNKNOWN - jobdoctor has a defect at src/x.rs:1:2; please report it\n";
        assert_eq!(defect("src/x.rs:1:2"), said);
    }
}
