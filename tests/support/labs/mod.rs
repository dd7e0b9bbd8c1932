//! One kind of store under test. Every conformance test runs in every lab.

mod memory;
pub mod postgres;
pub mod sqlite;

pub use memory::MemoryLab;
pub use postgres::{PostgresLab, Route, store_at};
pub use sqlite::{Journal, SqliteLab};

use super::dice::one_in;
use super::edit::{self, Edit};
use super::tables::Table;
use jobdoctor::model::Engine;
use jobdoctor::store::Store;

pub trait Lab {
    fn name(&self) -> &'static str;

    fn store(&self) -> Box<dyn Store>;

    fn create(&self, tables: &[Table]);

    fn clear(&self);

    /// What another session does and commits, in one transaction.
    fn edit(&self, edits: &[Edit]);

    /// What another session does in a transaction that stays open.
    fn hold(&self, edits: &[Edit]) -> Box<dyn OpenTransaction>;

    /// Every value of every row, byte-exact and in a fixed order.
    fn image(&self, table: &str) -> String;

    /// One row of a table, column by column, in words that are the same in every lab. Of an instant it only says whether
    /// it lies within a minute of now.
    fn row(&self, table: &Table, id: i64) -> Vec<String>;

    /// Whether an open transaction holds rows, or the whole database.
    fn locks_rows(&self) -> bool;

    /// The same lab where it speaks SQL; the memory store does not.
    fn sql(&self) -> Option<&dyn SqlLab> {
        None
    }
}

pub trait SqlLab: Lab {
    fn engine(&self) -> Engine;

    /// Its address, as an operator would type it.
    fn address(&self) -> String;

    fn run(&self, sql: &str);

    /// Asks one yes-or-no question.
    fn ask(&self, sql: &str) -> bool;

    /// Runs hand-written statements in a transaction that stays open.
    fn hold_sql(&self, sql: &str) -> Box<dyn OpenTransaction>;

    /// An expression for the instant so many seconds ago, as [`super::tables::Kind::Time`] columns spell it.
    fn ago(&self, seconds: i64) -> String;

    fn script(&self, edits: &[Edit]) -> String {
        edits.iter().map(|edit| edit::sql(edit, |seconds| self.ago(seconds))).collect()
    }

    fn pick<'t>(&self, sqlite: &'t str, postgres: &'t str) -> &'t str {
        match self.engine() {
            Engine::Sqlite => sqlite,
            Engine::Postgres => postgres,
        }
    }
}

/// Another session's transaction. Dropped, it is rolled back.
pub trait OpenTransaction: Send {
    /// A table as that transaction sees it, in the form of [`Lab::image`].
    fn image(&mut self, table: &str) -> String;

    fn commit(self: Box<Self>);

    fn rollback(self: Box<Self>);
}

pub type Make = fn() -> Box<dyn Lab>;

/// The kinds that need no server. Adding a store is one line here or below.
const BY_ITSELF: [Make; 3] = [
    || Box::new(MemoryLab::new()),
    || Box::new(SqliteLab::new(Journal::Wal)),
    || Box::new(SqliteLab::new(Journal::Rollback)),
];
const ON_A_SERVER: Make = || Box::new(PostgresLab::new());
/// A third of the tests go through it in each run, others each time: it lends a session for one transaction, and that is all.
const POOLED: Make = || Box::new(PostgresLab::by(Route::Pooled));

/// True in `tests/run --quick`: what runs on each store then leaves those out that need a server.
#[expect(clippy::disallowed_methods, reason = "tests/run says it through the environment")]
pub fn without_server() -> bool {
    std::env::var_os("JOBDOCTOR_WITHOUT_SERVER").is_some()
}

/// True in `tests/postgres-versions`: only what needs a server differs there.
#[expect(clippy::disallowed_methods, reason = "the script says it through the environment")]
pub fn on_a_server_only() -> bool {
    std::env::var_os("JOBDOCTOR_ON_A_SERVER_ONLY").is_some()
}

/// Runs a test in a fresh lab of every kind.
pub fn for_each_store(test: impl Fn(&dyn Lab)) {
    let mut kinds = if on_a_server_only() { Vec::new() } else { BY_ITSELF.to_vec() };
    if !without_server() {
        kinds.push(ON_A_SERVER);
        kinds.extend(one_in(3, vec![POOLED]));
    }
    for make in kinds {
        let lab = make();
        let _named = Named(lab.name());
        test(&*lab);
    }
}

pub fn for_each_sql_store(test: impl Fn(&dyn SqlLab)) {
    for_each_store(|lab| {
        if let Some(lab) = lab.sql() {
            test(lab);
        }
    });
}

struct Named(&'static str);

#[allow(clippy::print_stderr, reason = "the test harness shows it beside the panic")]
impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- in the lab {} ---", self.0);
        }
    }
}

/// Runs a test in a fresh lab of every kind; all must say what the memory store says.
pub fn as_in_memory<T: PartialEq + std::fmt::Debug>(test: impl Fn(&dyn Lab) -> T) {
    let memory = MemoryLab::new();
    let said = test(&memory);
    for_each_store(|lab| {
        let here = test(lab);
        assert!(here == said, "{}\n{}", lab.name(), difference(&format!("{said:#?}"), &format!("{here:#?}")));
    });
}

/// The lines that only one of the two has.
fn difference(memory: &str, here: &str) -> String {
    let only = |these: &str, those: &str, sign: &str| {
        let those: Vec<&str> = those.lines().collect();
        these.lines().filter(|line| !those.contains(line)).map(|line| format!("{sign}{line}\n")).collect::<String>()
    };
    only(memory, here, "only in memory:") + &only(here, memory, "only here:")
}
