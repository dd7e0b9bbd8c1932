//! A plan as a SQL script for a change ticket: the statements that [`Writer`](super::Writer) would run, for psql, with
//! the same guard. Pure text; nothing runs here.
//!
//! The statements come from `store/sql`, through a dialect (`Inline`) whose parameters are literals, whose `now` is
//! SQL, and whose keys are in a temporary table. That table holds first all jobs of the batch, and at the end only
//! those that are still what was judged. So what is done to a job is written down in one place.
//!
//! Unlike the program, a script has no savepoint fallback: if a row is refused, its batch is rolled back and the script
//! ends.

mod inline;
mod postgres;

use super::{StoreError, StoreErrorKind};
use crate::model::{Batch, Remedy, Timestamp};
use crate::preset::{ActionSpec, QueueSpec};
use inline::Inline;

#[derive(Debug, Clone)]
pub struct Heading<'a> {
    /// The database, without secrets.
    pub database: &'a str,
    pub table: &'a str,
    /// The database's time of the plan's snapshot.
    pub store_time: Timestamp,
    pub digest: &'a str,
    pub reason: &'a str,
    /// The number of jobs for each action, in words.
    pub actions: &'a str,
    pub batches: u64,
    pub warnings: &'a [String],
}

/// A batch's number and the number of batches, both from 1.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub number: u64,
    pub of: u64,
}

/// The beginning of a script: settings of the shell, and comments.
pub fn heading(spec: &QueueSpec, heading: &Heading<'_>) -> String {
    let facts = [
        ("what", format!("{} of preset {}, table {}", heading.actions, spec.preset, heading.table)),
        ("database", heading.database.to_owned()),
        ("planned at", format!("{}, by the database's clock", heading.store_time)),
        ("digest", heading.digest.to_owned()),
        ("reason", heading.reason.to_owned()),
        ("run with", postgres::RUN.to_owned()),
        ("needs", postgres::NEEDS.to_owned()),
    ];
    let facts = facts.iter().map(|(name, text)| format!("-- {name}: {}\n", comment(text)));
    let about = ABOUT.lines().map(|line| format!("-- {line}\n"));
    let warnings = heading.warnings.iter().map(|warning| format!("-- warning: {}\n", comment(warning)));
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("-- jobdoctor {version}: {} to run by hand\n", batches(heading.batches));
    let lines = std::iter::once(title).chain(facts).chain(std::iter::once("--\n".to_owned())).chain(about);
    format!("{}{}", postgres::SETTINGS, lines.chain(warnings).collect::<String>())
}

/// The comment in every script.
const ABOUT: &str = "\
Each batch is one short transaction. It locks the jobs that are still exactly what was judged, without waiting for
locks, skips all others, moves the jobs, and prints how many. Running the script again moves no job twice.
An error ends the script: the current batch is rolled back, earlier ones stay. jobdoctor can then make a script of
the rest. Neither the journal nor the ledger records a script, so `jobdoctor undo` cannot revert it.";

fn batches(count: u64) -> String {
    if count == 1 { "1 batch".to_owned() } else { format!("{count} batches") }
}

pub fn batch(spec: &QueueSpec, batch: &Batch<'_>, place: Place) -> Result<String, StoreError> {
    let Some(moved) = spec.actions.get(&batch.action).filter(|moved| moved.refused.is_none()) else {
        return Err(cannot(format!("preset {} has no {}", spec.preset, batch.action)));
    };
    let title = format!(
        "\n-- batch {} of {}: {}, {} to {}\n",
        place.number,
        place.of,
        batch.action,
        if batch.steps.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", batch.steps.len()) },
        comment(&moved.to.name)
    );
    let text = postgres::batch(spec, moved, batch, place)?;
    match text.replace("\r\n", "\n").chars().find(|c| c.is_control() && !"\n\t".contains(*c)) {
        // Values are escaped, so a name in the catalog or the preset holds it.
        Some(c) => Err(cannot(format!("a name or a statement holds the control character U+{:04X}", u32::from(c)))),
        None => Ok(title + &text),
    }
}

/// The error for a batch that has no script.
fn cannot(why: impl std::fmt::Display) -> StoreError {
    let message = format!("no SQL script can do this: {why}");
    StoreError::new(StoreErrorKind::Unfit, message).remedy(Remedy::ApplyInstead)
}

/// Text for a comment: one line without control characters.
fn comment(text: &str) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
    text.chars().map(|c| if plain(c) { c } else { '?' }).collect()
}

/// The statement with its semicolon, on a line of its own if the statement may end with a comment.
fn ended(sql: &str) -> String {
    if sql.contains("--") { format!("{sql}\n;\n") } else { format!("{sql};\n") }
}

struct Work<'a> {
    spec: &'a QueueSpec,
    moved: &'a ActionSpec,
    batch: &'a Batch<'a>,
    inline: Inline,
}

impl<'a> Work<'a> {
    fn new(spec: &'a QueueSpec, moved: &'a ActionSpec, batch: &'a Batch<'a>) -> Work<'a> {
        Work { spec, moved, batch, inline: Inline::default() }
    }

    /// The text, unless a value in it has no literal.
    fn finish(self, text: String) -> Result<String, StoreError> {
        match self.inline.problem() {
            Some(why) => Err(cannot(why)),
            None => Ok(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_line_whatever_it_was_made_of() {
        assert_eq!(comment("a\n.shell b\r\u{1b}[2J\u{202e}é"), "a?.shell b??[2J?é");
    }

    #[test]
    fn no_comment_swallows_a_semicolon() {
        assert_eq!(ended("SELECT 1"), "SELECT 1;\n");
        assert_eq!(ended("SELECT 1 -- one"), "SELECT 1 -- one\n;\n");
    }
}
