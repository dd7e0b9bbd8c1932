//! The port to a database, and what stands behind it.
//!
//! Readers and writers are different types on different connections. A reader is technically unable to write: a read-only
//! transaction on Postgres, an authorizer that denies writes on SQLite. Only `ops::apply` and the commands that create
//! things ever ask for a writer; [`Store::recover`] alone writes beside them, for who is about to.

mod acting;
mod address;
mod apart;
mod apply;
mod conninfo;
mod error;
mod open;
mod postgres;
mod reader;
mod session;
mod sql;
mod sqlite;

pub use address::Address;
pub use conninfo::{
    AddressError, Author, ChannelBinding, FRAMEWORK_WORDS, Origin, Password, PostgresAddress, Root, Server,
    ServerPlace, SslMode, Surroundings, TargetAttributes, Tcp, TlsFile, TlsSettings, TlsVersion, Variables, variables,
};
pub use error::{StoreError, StoreErrorKind};
pub use open::open;
pub use sql::{Dialect, Postgres as PostgresDialect, Sqlite as SqliteDialect, Statement, statements};
pub use sqlite::{CREATED_BY_DEMO, create_demo_file};

use crate::model::{Batch, BatchReport, Cell, Claim, Engine, Owner, Timestamp};
use crate::spec::{LiveSchema, QueueSpec};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A database that can be read and, by whoever asks for a writer, written.
pub trait Store {
    /// The engine behind it.
    fn engine(&self) -> Engine;

    /// What to call it in front of people and in JSON: never with a password.
    fn label(&self) -> &str;

    /// What an operator should know about where this database lies, if there is anything. Nothing is opened for it.
    fn caution(&self) -> Option<Caution> {
        None
    }

    /// Has the database take back what a writer left half done when it died, where it does not do so by itself before a
    /// reader comes. This writes, so it is only for who is about to.
    ///
    /// # Errors
    /// When that needs doing and cannot be done.
    fn recover(&self, _limits: &Limits) -> Result<(), StoreError> {
        Ok(())
    }

    /// A reader on a connection of its own, inside one consistent snapshot, with one `now`.
    ///
    /// # Errors
    /// When the database cannot be reached or opened for reading.
    fn reader(&self, limits: &Limits) -> Result<Box<dyn Reader>, StoreError>;

    /// A writer on a connection of its own.
    ///
    /// # Errors
    /// When the database cannot be reached or opened for writing.
    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError>;

    /// Runs statements that create things, all in one transaction. For `init` alone.
    ///
    /// # Errors
    /// When one of them fails; then none has had any effect.
    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError>;
}

/// Something about where a database lies that makes working with it unsafe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// A word for it, in the documents of `check`.
    pub id: &'static str,
    /// What it is, for people.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether writing is refused until the operator says that it is safe all the same.
    pub forbids_writing: bool,
}

impl Caution {
    /// Why nothing is written, in one sentence.
    pub fn refusal(&self) -> String {
        format!("{}; {}", self.message, self.hint)
    }
}

/// One look at a database: a snapshot that does not move, and the store's own clock read once.
pub trait Reader {
    /// The store's time of this look; on a standby, the time up to which it has followed its primary.
    fn now(&self) -> Timestamp;

    /// What to call the server that answered, where there were several to choose from.
    fn label(&self) -> Option<&str> {
        None
    }

    /// What there is to know if this is a standby, on which nothing can be applied.
    fn standby(&self) -> Option<Standby> {
        None
    }

    /// Since when the server has been up, on its own clock; `None` where there is no server.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }

    /// The tables of these names, in every schema the catalog shows, with what the role may do with them.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;

    /// Asks one boolean question in SQL; NULL and no row count as no.
    ///
    /// # Errors
    /// When the statement fails.
    fn ask(&mut self, sql: &str) -> Result<bool, StoreError>;

    /// The distinct values of the state column; empty where the state is a place.
    ///
    /// # Errors
    /// When the statement fails.
    fn states_in_use(&mut self, spec: &QueueSpec) -> Result<Vec<Cell>, StoreError>;

    /// Hands over claims, each exactly once, in no promised order. For [`Wanted::Suspects`] it may hand over healthy ones
    /// too (the judge decides), but never leaves out one that the judge would call stuck or unknown.
    ///
    /// # Errors
    /// When a statement fails; claims handed over so far stay handed over.
    fn scan(&mut self, spec: &QueueSpec, wanted: &Wanted, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError>;

    /// Looks up jobs by id, in flight or not. Ids that name no row are left out.
    ///
    /// # Errors
    /// When a statement fails.
    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError>;

    /// How many claims are in flight.
    ///
    /// # Errors
    /// When the statement fails.
    fn in_flight(&mut self, spec: &QueueSpec) -> Result<u64, StoreError>;

    /// Hands over who holds claims and how many, in no promised order: `None` for those that name no owner, and for all of
    /// them where the table does not say who holds one. An owner may come in several parts, to be added up. All together
    /// they are [`Reader::in_flight`]. One aggregate over the claims in flight.
    ///
    /// # Errors
    /// When the statement fails.
    fn holders(&mut self, spec: &QueueSpec, each: &mut dyn FnMut(Option<Owner>, u64)) -> Result<(), StoreError>;

    /// The same added up by the owner's name, which is that of [`Claim::owner`], sorted. Memory grows with the number of
    /// owners.
    ///
    /// # Errors
    /// When the statement fails.
    fn in_flight_by_owner(&mut self, spec: &QueueSpec) -> Result<Vec<(Option<String>, u64)>, StoreError> {
        let mut sums: BTreeMap<Option<String>, u64> = BTreeMap::new();
        self.holders(spec, &mut |owner, claims| *sums.entry(owner.map(|owner| owner.name)).or_default() += claims)?;
        Ok(sums.into_iter().collect())
    }
}

/// A server that follows another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standby {
    /// How far it is behind; `None` if it cannot tell, because it has replayed no transaction since it was started.
    pub lag: Option<Duration>,
}

/// A job looked up by id.
#[derive(Debug, Clone)]
pub struct Found {
    /// The row, read as if it were a claim.
    pub claim: Claim,
    /// Whether it is one.
    pub in_flight: bool,
    /// The ids, of those asked for, that mean it: a number or a uuid may be spelled in several ways.
    pub names: Vec<String>,
}

/// The only thing that changes a queue.
pub trait Writer {
    /// Executes one batch in one short transaction: lock and verify, act, record, commit. Gives exactly one result a step,
    /// in order, whatever happens. Never reports success for a row whose fence did not match, never waits for a row lock.
    fn apply(&mut self, spec: &QueueSpec, batch: &Batch<'_>) -> BatchReport<StoreError>;
}

/// Which claims a scan is after.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// All that are in flight.
    All,
    /// Those that some rule may call stuck or unknown.
    Suspects(Cutoffs),
}

/// From which instants the pre-filter is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// The look's `now`.
    pub now: Timestamp,
    /// The operator's threshold; `None` leaves each source its own.
    pub older: Option<Duration>,
}

/// Bounds on what one command may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// When everything must have ended.
    pub deadline: Instant,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long to wait for another session's lock on the database or a table. Row locks are never waited for.
    pub lock: Duration,
    /// What the connection calls itself, where the engine shows it.
    pub application_name: String,
    /// True if what is looked at is going to be written: of several servers, one that takes writes is meant.
    pub for_writing: bool,
    /// Set by a signal: end soon.
    pub interrupt: Interrupt,
}

impl Limits {
    /// What is left of the time limit; zero once it has passed.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The same for so long from now and no longer, whatever the operator has said: for finding out what became of a commit,
    /// and for ending a statement.
    fn for_at_most(&self, time: Duration) -> Limits {
        Limits { deadline: Instant::now() + time, interrupt: Interrupt::default(), ..self.clone() }
    }
}

/// A flag that a signal raises. Readers give up at once when they see it; writers finish the batch in hand.
#[derive(Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    cancels: Arc<Mutex<Vec<Cancel>>>,
}

/// What ends a query that is under way.
type Cancel = Box<dyn Fn() + Send>;

impl Interrupt {
    /// Raises it, and ends the queries under way.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
        if let Ok(cancels) = self.cancels.lock() {
            cancels.iter().for_each(|cancel| cancel());
        }
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Registers what ends a query, for readers.
    fn on_raise(&self, cancel: Cancel) {
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.push(cancel);
        }
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("raised", &self.is_raised()).finish_non_exhaustive()
    }
}
