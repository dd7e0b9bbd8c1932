//! Where histories take place: one queue in one store, made once and emptied between two histories, with a session for each
//! worker, a writer for each doctor, and triggers that write down every change.

mod postgres;
mod sqlite;

pub use postgres::postgres;
pub use sqlite::sqlite;

use super::deed::{Doctor, Worker};
use super::log::{Entry, Rows};
use super::queue::Queue;
use jobdoctor::preset::Jobs;
use jobdoctor::store::{Interrupt, Limits, Store, Writer};
use std::time::{Duration, Instant};

pub struct World {
    /// What to call it when a history goes wrong in it.
    pub name: &'static str,
    pub queue: Queue,
    /// The store under test, by the way that looks take.
    pub looks: Box<dyn Store>,
    /// The queue as the store knows it.
    pub spec: Jobs,
    /// A writer for each doctor; it goes through the same connection as long as the world stands.
    pub writers: Vec<Box<dyn Writer>>,
    /// Everybody else, and the truth.
    pub sessions: Box<dyn Sessions>,
    /// How the time columns count a second.
    pub second: i64,
}

pub trait Sessions {
    /// Empties the tables and the log, and makes these rows, which the log begins with. Transactions that are open are taken
    /// back.
    fn reset(&mut self, rows: &[String]);

    /// Begins a worker's transaction, if it has none and none is in the way.
    fn begin(&mut self, worker: Worker);

    /// Ends a worker's transaction, if it has one.
    fn end(&mut self, worker: Worker, well: bool);

    /// A worker's statement, in its transaction or in one of its own. What it would have to wait for, it does not do: then
    /// its transaction is gone, where the engine says so.
    fn work(&mut self, worker: Worker, sql: &str);

    /// A statement that is nobody's, under the same rules.
    fn happen(&mut self, sql: &str);

    fn is_open(&self) -> bool;

    fn mark(&mut self) -> i64;

    /// What doctors have changed since that mark. Where the database does not know one session from another, it is all that
    /// was changed; nobody else can write while a doctor does there.
    fn by_doctors(&mut self, since: i64) -> Vec<Entry>;

    fn log(&mut self) -> Vec<Entry>;

    /// All rows, as whoever looks now sees them.
    fn rows(&mut self) -> Rows;

    /// A store whose next commit is cut off on the way, before or after the server has got it; only a server has a way that
    /// can be cut.
    fn cut_off(&mut self, _after: bool, _comes_back: bool) -> Option<CutOff> {
        None
    }

    /// Waits until a doctor whose connection was cut off is gone from the server too.
    fn forget_doctor(&mut self, _doctor: Doctor) {}
}

pub struct CutOff {
    pub store: Box<dyn Store>,
    pub _proxy: crate::support::proxy::Proxy,
}

pub fn doctor_name(doctor: Doctor) -> String {
    format!("doctor {doctor}")
}

const LASTS: Duration = Duration::from_secs(6 * 3600);

/// A doctor's limits: it waits for nobody.
pub fn limits(doctor: &str) -> Limits {
    Limits {
        deadline: Instant::now() + LASTS,
        connect: Duration::from_secs(10),
        lock: Duration::ZERO,
        application_name: doctor.to_owned(),
        for_writing: false,
        inspects: false,
        interrupt: Interrupt::default(),
    }
}

fn spelled(sql: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(sql.to_owned(), |sql, (word, meaning)| sql.replace(word, meaning))
}

/// The world of a queue in a store whose tables are there.
fn world(
    name: &'static str,
    queue: Queue,
    looks: Box<dyn Store>,
    writes: &dyn Store,
    sessions: Box<dyn Sessions>,
    second: i64,
) -> World {
    let spec = crate::support::doctor::fit(writes, &queue.preset());
    let writers = (0..super::deed::DOCTORS)
        .map(|doctor| writes.writer(&limits(&doctor_name(doctor))).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    World { name, queue, looks, spec, writers, sessions, second }
}
