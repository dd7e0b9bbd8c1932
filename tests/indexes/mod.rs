//! With an index that `check` finds good, no statement of jobdoctor reads the jobs' table from end to end: the plans of the database
//! itself say so, for every queue in `fixtures/schemas/` and for the tables of the built-in presets `lease` and `simple`.

mod fill;
mod nightly;
mod postgres;
mod sqlite;

use crate::queues::rights::words;
use crate::queues::tables::Tables;
use jobdoctor::model::{Key, Timestamp};
use jobdoctor::preset::{Jobs, Place};
use jobdoctor::store::{Cutoffs, Dialect, statements};

/// The table of the preset `simple`, which names no library.
const SIMPLE: &str = "CREATE TABLE jobs (id integer PRIMARY KEY, queue text, status text NOT NULL,
    attempts integer NOT NULL DEFAULT 0, max_attempts integer, last_error text)";

/// The version of tables that no library has.
const OWN: &str = "own";

/// Where the queue is, as its application would say.
fn place(tables: &Tables) -> Place {
    let said = if tables.version == OWN { Vec::new() } else { words(tables, &["option"]) };
    let option = |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Place { options: said.iter().filter_map(option).collect(), ..Place::default() }
}

/// A statement that reads a whole table, although an index leads to the claims in flight.
struct ReadsAll {
    /// The presets; all of them if there is none.
    queues: &'static [&'static str],
    statement: &'static str,
    why: &'static str,
}

impl ReadsAll {
    fn is(&self, queue: &str, statement: &str) -> bool {
        (self.queues.is_empty() || self.queues.contains(&queue)) && statement.starts_with(self.statement)
    }
}

/// What is wrong with statements that read whole tables, each with its queue: those that are not known to, and what is known and no
/// longer true.
fn differences(known: &[ReadsAll], reading: &[(String, String)]) -> Vec<String> {
    let unexcused = unknown(known, reading);
    let is_read = |(of, known): &(&str, &ReadsAll)| {
        reading.iter().any(|(queue, statement)| [queue.as_str(), ""].contains(of) && known.is(queue, statement))
    };
    let known = known.iter().flat_map(|known| match known.queues {
        [] => vec![("", known)],
        queues => queues.iter().map(|queue| (*queue, known)).collect(),
    });
    let untrue = known.filter(|known| !is_read(known)).map(|(queue, ReadsAll { statement, why, .. })| {
        format!("{queue}: no {statement:?} reads a whole table any more, which was excused: {why}")
    });
    unexcused.into_iter().chain(untrue).collect()
}

/// The statements that read whole tables and are not known to, each with its queue.
fn unknown(known: &[ReadsAll], reading: &[(String, String)]) -> Vec<String> {
    let is_known = |(queue, statement): &&(String, String)| known.iter().any(|known| known.is(queue, statement));
    let unknown = reading.iter().filter(|read| !is_known(read));
    unknown.map(|(queue, statement)| format!("{queue}: it reads a whole table: {statement}")).collect()
}

/// Every statement about the queue with its name, but for wake-ups, which read no table of jobs.
fn named(spec: &Jobs, dialect: &'static dyn Dialect, keys: &[Key], now: Timestamp) -> Vec<(String, String)> {
    let all = statements::statements(spec, dialect, &Cutoffs::at(now, None), keys, now);
    let texts = all.into_iter().map(|(name, statement)| (name, statement.sql));
    texts.filter(|(name, _)| !name.starts_with("wake-up")).collect()
}
