//! A plan as a script for a change ticket: the statements that [`Writer`](super::Writer) would run, in the words of psql
//! and sqlite3, with the same guard. Pure text; nothing is run here.
//!
//! The statements are the ones of `store/sql`, written down by a dialect of its own (`Inline`) whose parameters are
//! literals, whose `now` is SQL, and whose keys are those in a temporary table: first all jobs of the batch, then fewer and
//! fewer, until only those are left that are still what was judged. So there is one truth about what is done to a job.
//!
//! What a script cannot do, and the program can: try the rows of a batch apart when one of them is refused. The batch is
//! taken back then, and the script ends.

mod clock;
mod inline;
mod literal;
mod postgres;
mod sqlite;

use super::{StoreError, StoreErrorKind};
use crate::model::{Batch, Engine, Timestamp};
use crate::preset::{ActionSpec, QueueSpec};
use inline::Inline;

/// What stands above the statements, for whoever reads before running.
#[derive(Debug, Clone)]
pub struct Heading<'a> {
    /// The database, without secrets.
    pub database: &'a str,
    /// The table of the jobs.
    pub table: &'a str,
    /// The store's time of the snapshot that the plan rests on.
    pub store_time: Timestamp,
    /// The plan's fingerprint.
    pub digest: &'a str,
    /// What is written with each job.
    pub reason: &'a str,
    /// How many jobs go which way, in words.
    pub actions: &'a str,
    /// How many batches follow.
    pub batches: u64,
    /// Whether foreign keys of a SQLite file are enforced.
    pub foreign_keys: bool,
    /// What an operator should know before running it.
    pub warnings: &'a [String],
}

/// Which batch of how many; both from 1.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// This one.
    pub number: u64,
    /// All of them.
    pub of: u64,
}

/// What a script begins with: settings of the shell, and comments.
pub fn heading(spec: &QueueSpec, heading: &Heading<'_>) -> String {
    let (settings, run, needs) = match spec.engine {
        Engine::Postgres => (postgres::SETTINGS.to_owned(), postgres::RUN, postgres::NEEDS),
        Engine::Sqlite => (sqlite::settings(heading.foreign_keys), sqlite::RUN, sqlite::NEEDS),
    };
    let facts = [
        ("what", format!("{} of preset {}, table {}", heading.actions, spec.preset, heading.table)),
        ("database", heading.database.to_owned()),
        ("planned at", format!("{}, by the database's clock", heading.store_time)),
        ("digest", heading.digest.to_owned()),
        ("reason", heading.reason.to_owned()),
        ("run with", run.to_owned()),
        ("needs", needs.to_owned()),
    ];
    let facts = facts.iter().map(|(name, text)| format!("-- {name}: {}\n", comment(text)));
    let about = ABOUT.lines().map(|line| format!("-- {line}\n"));
    let warnings = heading.warnings.iter().map(|warning| format!("-- warning: {}\n", comment(warning)));
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("-- jobdoctor {version}: {} to be run by hand\n", batches(heading.batches));
    let lines = std::iter::once(title).chain(facts).chain(std::iter::once("--\n".to_owned())).chain(about);
    format!("{settings}{}", lines.chain(warnings).collect::<String>())
}

/// Said of every script.
const ABOUT: &str = "\
Each batch is one short transaction. It locks the jobs that are still exactly what was judged, without waiting for
any, leaves all others alone, moves them, and prints how many. Running it again moves nothing twice.
An error ends the script: the batch in hand is taken back whole, those before it stay. jobdoctor can then make a
script of what is left. No journal and no ledger hears of it, so that `jobdoctor undo` cannot take it back.";

fn batches(count: u64) -> String {
    if count == 1 { "1 batch".to_owned() } else { format!("{count} batches") }
}

/// One batch: one transaction.
///
/// # Errors
/// When it cannot be said in SQL alone, with the reason.
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
    let text = match spec.engine {
        Engine::Postgres => postgres::batch(spec, moved, batch, place)?,
        Engine::Sqlite => sqlite::batch(spec, moved, batch, place)?,
    };
    match text.replace("\r\n", "\n").chars().find(|c| c.is_control() && !"\n\t".contains(*c)) {
        // Values are written without any, so a name in the catalog or the preset has it.
        Some(c) => Err(cannot(format!("a name or a statement holds the control character U+{:04X}", u32::from(c)))),
        None => Ok(title + &text),
    }
}

/// Why there is no script.
fn cannot(why: impl std::fmt::Display) -> StoreError {
    let message = format!("this cannot be said in SQL to be run by hand: {why}");
    StoreError::new(StoreErrorKind::Unfit, message).hint("let jobdoctor do it: --apply instead of --emit-sql")
}

/// Text for a comment: one line, with nothing in it that moves a terminal's cursor.
fn comment(text: &str) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
    text.chars().map(|c| if plain(c) { c } else { '?' }).collect()
}

/// The statement with the semicolon where no comment at its end can swallow it.
fn ended(sql: &str) -> String {
    if sql.contains("--") { format!("{sql}\n;\n") } else { format!("{sql};\n") }
}

/// What the statements of a batch have in common.
struct Work<'a> {
    spec: &'a QueueSpec,
    moved: &'a ActionSpec,
    batch: &'a Batch<'a>,
    inline: Inline,
}

impl<'a> Work<'a> {
    fn new(spec: &'a QueueSpec, moved: &'a ActionSpec, batch: &'a Batch<'a>) -> Work<'a> {
        Work { spec, moved, batch, inline: Inline::new(spec.engine) }
    }

    /// The text, unless something in it had no words.
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
